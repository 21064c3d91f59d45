"""Links by which a customer's administrator sets up the organization's connection: the tenant's servers create and revoke them."""

from typing import Annotated, Final, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.error_profiles import ORGANIZATIONS
from app.contract.organizations.models import OrgPath
from app.contract.organizations.organization_operations import ACTIVE, FOUND
from app.contract.paging import PagedByDefault
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

PAGE: Final = "/setup"
"""The page that a link opens; the link's token is its parameter `link`."""
TOKEN: Final = "link"
MAX_DAYS: Final = 30
MAX_HOURS: Final = 24
MAX_OPENINGS: Final = 100
Status = Literal["active", "used_up", "expired", "revoked", "completed"]


class ListSetupLinks(OrgPath, PagedByDefault):
    pass


class CreateSetupLink(OrgPath):
    """A link for an administrator of the organization. It opens the guide `MaxOpenings` times within `DaysToOpen`, each time for
    `SessionHours`; what was entered stays until the link is completed."""

    days_to_open: int = Field(default=7, ge=1, le=MAX_DAYS)
    session_hours: int = Field(default=8, ge=1, le=MAX_HOURS)
    max_openings: int = Field(default=10, ge=1, le=MAX_OPENINGS)
    jit_provisioning: Annotated[bool, Field(alias="JITProvisioning")] = True


class SetupLinkPath(OrgPath):
    """A set-up link of an organization, by the ids in the path."""

    link_id: Annotated[str, From.PATH, Field(alias="linkId")]


class SetupLink(Wire):
    """A link to the set-up guide. `Openings` counts how often it was opened; `ConnectionId` is the connection that was set up with it."""

    id: str
    org_id: str
    status: Status
    openings: int
    max_openings: int
    session_hours: int
    jit_provisioning: Annotated[bool, Field(alias="JITProvisioning")]
    connection_id: str | None
    created_date: str
    expiration_date: str
    last_opened_date: str | None


class CreatedSetupLink(SetupLink):
    """A new set-up link with its address. No other operation returns it, because Gatehouse stores only a hash."""

    url: str


class SetupLinks(Wire):
    data: list[SetupLink]


_PATH = "/v2/manage/organizations/{orgId}/setup-links"
_ONE = f"{_PATH}/{{linkId}}"

list_all = operation(
    "organization_setup_links.list", f"GET {_PATH}", ListSetupLinks, SetupLinks, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=FOUND, takes_blank_segments=True,
    summary="List set-up links",
    description="Returns the links by which administrators of an organization set up its connection, oldest first, until 30 days after "
    "they expired.",
)  # fmt: skip
create = operation(
    "organization_setup_links.create", f"POST {_PATH}", CreateSetupLink, CreatedSetupLink, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*ACTIVE, errors.TooManySetupLinks),
    takes_blank_segments=True,
    summary="Create a set-up link",
    description="Creates a link to a guide on your tenant’s host, in which an administrator of the organization verifies a domain, sets "
    "up a connection to the identity provider, tries it and activates it, without an account. Only this response has its address: send "
    "it to one person you trust.",
)  # fmt: skip
read = operation(
    "organization_setup_links.read", f"GET {_ONE}", SetupLinkPath, SetupLink, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=(*FOUND, errors.UnknownSetupLink), takes_blank_segments=True,
    summary="Get a set-up link",
    description="Returns a set-up link with how often it was opened. Its address isn’t returned.",
)  # fmt: skip
revoke = operation(
    "organization_setup_links.revoke", f"DELETE {_ONE}", SetupLinkPath, SetupLink, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", error_profile=ORGANIZATIONS, errors=(*FOUND, errors.UnknownSetupLink, errors.ClosedSetupLink),
    takes_blank_segments=True,
    summary="Revoke a set-up link",
    description="Ends a set-up link and the sessions that it opened. A connection that was activated with it stays.",
)  # fmt: skip
