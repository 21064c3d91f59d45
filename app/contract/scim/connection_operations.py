"""The tenant's servers connect identity providers by SCIM, and see what these requested."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.error_profiles import ORGANIZATIONS
from app.contract.paging import PagedByDefault
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.partial_update import PartialUpdate
from app.kit.operations.wire import From, Wire

ScimScope = Literal["users:read", "users:write", "groups:read", "groups:write"]
MAX_DAYS: Final = 730


class ListScimConnections(PagedByDefault):
    """`orgid` selects the connections of an organization."""

    org_id: Annotated[str | None, From.QUERY, Field(max_length=200)] = None


class CreateScimConnection(Wire):
    """A connection of an organization, or without `OrgId` of the whole tenant."""

    name: str = Field(min_length=1, max_length=100)
    org_id: str | None = Field(default=None, max_length=200)
    dry_run: bool = False


class ScimConnectionPath(Wire):
    """A SCIM connection, by the id in the path."""

    connection_id: Annotated[str, From.PATH, Field(alias="connectionId", max_length=64)]


class UpdateScimConnection(ScimConnectionPath, PartialUpdate):
    """What to change; absent members stay."""

    never_cleared = ("name", "paused", "dry_run")
    name: str | None = Field(default=None, min_length=1, max_length=100)
    paused: bool | None = None
    dry_run: bool | None = None


class ScimConnection(Wire):
    """A SCIM connection. `BaseURL` is what the identity provider asks for."""

    id: str
    org_id: str | None
    name: str
    paused: bool
    dry_run: bool
    base_url: Annotated[str, Field(alias="BaseURL")]
    created_date: str
    modified_date: str


class ScimConnections(Wire):
    data: list[ScimConnection]


class CreateScimToken(ScimConnectionPath):
    """A token with these scopes; without `DaysToLive`, it never expires."""

    scopes: list[ScimScope] = Field(default=["users:write", "groups:write"], min_length=1, max_length=4)
    days_to_live: int | None = Field(default=365, ge=1, le=MAX_DAYS)


class ScimTokenPath(ScimConnectionPath):
    """A token of a SCIM connection, by the ids in the path."""

    token_id: Annotated[str, From.PATH, Field(alias="tokenId", max_length=64)]


class ScimToken(Wire):
    """A token of a SCIM connection, without its text."""

    id: str
    connection_id: str
    scopes: list[str]
    created_date: str
    last_used_date: str | None
    expiration_date: str | None


class CreatedScimToken(ScimToken):
    """A new token with its text. No other operation returns it, because Gatehouse stores only a hash."""

    token: str


class ScimTokens(Wire):
    data: list[ScimToken]


class ScimRequest(Wire):
    """A request of a SCIM connection, with the values that it changed. `Detail` is empty unless it was refused."""

    id: str
    date: str
    method: str
    path: str
    status: int
    detail: str
    dry_run: bool
    changes: list[dict[str, Any]]


class ScimRequests(Wire):
    data: list[ScimRequest]


_ALL = "/v2/manage/scim/connections"
_ONE = f"{_ALL}/{{connectionId}}"
_OF_ORGANIZATION = (errors.OrganizationsOff.at(403), errors.MalformedOrganizationId, errors.UnknownOrganization)
_FOUND = (errors.UnknownScimConnection,)

list_all = operation(
    "scim_connections.list", f"GET {_ALL}", ListScimConnections, ScimConnections, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS,
    summary="List SCIM connections",
    description="Returns the SCIM connections of the tenant and its organizations, oldest first.",
)  # fmt: skip
create = operation(
    "scim_connections.create", f"POST {_ALL}", CreateScimConnection, ScimConnection, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", accepts=Accept.JSON, error_profile=ORGANIZATIONS,
    errors=(*_OF_ORGANIZATION, errors.OrganizationInactive, errors.TooManyScimConnections),
    summary="Create a SCIM connection",
    description="Lets an identity provider create, change and deactivate the people of an organization, or all accounts of the tenant. "
    "Create a token for it next.",
)  # fmt: skip
read = operation(
    "scim_connections.read", f"GET {_ONE}", ScimConnectionPath, ScimConnection, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=_FOUND,
    summary="Get a SCIM connection",
    description="Returns a SCIM connection.",
)  # fmt: skip
update = operation(
    "scim_connections.update", f"PUT {_ONE}", UpdateScimConnection, ScimConnection, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=_FOUND,
    summary="Update a SCIM connection",
    description="Renames a SCIM connection, pauses it (its requests get 503 and are sent again later), or turns its dry run on: requests "
    "are answered and logged as if they were carried out, and change nothing.",
)  # fmt: skip
delete = operation(
    "scim_connections.delete", f"DELETE {_ONE}", ScimConnectionPath, Deleted, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", error_profile=ORGANIZATIONS, errors=_FOUND,
    summary="Delete a SCIM connection",
    description="Deletes a SCIM connection with its tokens. The people it provisioned stay as they are.",
)  # fmt: skip
list_requests = operation(
    "scim_connections.list_requests", f"GET {_ONE}/requests", ScimConnectionPath, ScimRequests, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=_FOUND,
    summary="List requests of a SCIM connection",
    description="Returns the last 100 requests of a SCIM connection with what each changed, newest first, for 30 days.",
)  # fmt: skip
list_tokens = operation(
    "scim_tokens.list", f"GET {_ONE}/tokens", ScimConnectionPath, ScimTokens, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=_FOUND,
    summary="List tokens of a SCIM connection",
    description="Returns the tokens of a SCIM connection with when they were last used, oldest first. Their texts aren’t returned.",
)  # fmt: skip
create_token = operation(
    "scim_tokens.create", f"POST {_ONE}/tokens", CreateScimToken, CreatedScimToken, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*_FOUND, errors.TooManyScimTokens),
    summary="Create a token of a SCIM connection",
    description="Creates a token that the identity provider sends as `Authorization: Bearer …`. Only this response has its text. "
    "To replace one, create another, enter it at the identity provider, then revoke the first.",
)  # fmt: skip
revoke_token = operation(
    "scim_tokens.revoke", f"DELETE {_ONE}/tokens/{{tokenId}}", ScimTokenPath, Deleted, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", error_profile=ORGANIZATIONS, errors=(*_FOUND, errors.UnknownScimToken),
    summary="Revoke a token of a SCIM connection",
    description="Deletes a token, which opens nothing from then on.",
)  # fmt: skip
