"""Links that invite several people to an organization, created and turned off by the tenant's servers (decision 0197)."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.organizations.invitation_operations import INVITATIONS, InvitationPath, InvitationUrl, RoleIds
from app.contract.paging import PagedByDefault
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

MAX_DAYS = 30
MAX_USES = 100_000
MAX_DOMAINS = 20
Domain = Annotated[str, Field(min_length=1, max_length=253)]


class CreateInvitationLink(Wire):
    """Without role ids people get the role of new members. `maxUses` is the most people who join; without it there is no limit.

    `domains` are those of the email addresses that may join, by default all. `invitation_url` is the page that the link opens, by
    default the hosted one; it must be on the allow list, and gets the parameter `invitation_token`.
    """

    invitation_url: InvitationUrl = None
    role_ids: Annotated[RoleIds, Field(alias="roleIds")]
    org_id: Annotated[str, Field(alias="orgId", min_length=1, max_length=200)]
    inviter_uid: Annotated[str, Field(alias="inviterUid", min_length=1, max_length=200)]
    max_uses: int | None = Field(default=None, alias="maxUses", ge=1, le=MAX_USES)
    expires_in_days: int = Field(default=7, alias="expiresInDays", ge=1, le=MAX_DAYS)
    domains: list[Domain] = Field(default_factory=list, alias="domains", max_length=MAX_DOMAINS)


class ListInvitationLinks(PagedByDefault):
    """`orgid` is the organization; the newest link comes first."""

    org_id: Annotated[str, From.QUERY] = ""


class InvitationLink(Wire):
    """An invitation link for several people. `Uses` counts who joined by it; `MaxUses` is null if there's no limit."""

    id: str
    status: Literal["active", "used_up", "expired", "revoked"]
    role_ids: list[str]
    org_id: str
    inviter_uid: str
    domains: list[str]
    uses: int
    max_uses: int | None
    created_date: str
    expiration_date: str
    modified_date: str


class CreatedInvitationLink(InvitationLink):
    """A new invitation link with its token and address. No other operation returns these, because Gatehouse stores only a hash."""

    token: str
    url: str


class InvitationLinks(Wire):
    """Invitation links of an organization. `TotalCount` counts those on all pages."""

    data: list[InvitationLink]
    total_count: int


_PATH = "/v2/manage/invitations/links"
_ONE = f"{_PATH}/{{invitationid}}"
_OF_ORGANIZATION = (
    errors.OrganizationsOff, errors.OrganizationIdMissing, errors.MalformedOrganizationId, errors.UnknownOrganization,
    errors.OrganizationInactive,
)  # fmt: skip
_OF_ONE = (
    errors.OrganizationsOff,
    errors.ClosedInvitation,
    errors.UnknownOrganizationInvitation,
    errors.OrganizationInactive,
)

list_all = operation(
    "organization_invitation_links.list_all", f"GET {_PATH}", ListInvitationLinks, InvitationLinks,
    auth=ORGANIZATION_MANAGEMENT, scope="invitation:read", error_profile=INVITATIONS, errors=_OF_ORGANIZATION,
    summary="List invitation links",
    description="Returns the invitation links of an organization, oldest first.",
)  # fmt: skip
create = operation(
    "organization_invitation_links.create", f"POST {_PATH}", CreateInvitationLink, CreatedInvitationLink, auth=ORGANIZATION_MANAGEMENT,
    scope="invitation:create", accepts=Accept.JSON, error_profile=INVITATIONS,
    errors=(
        *_OF_ORGANIZATION, errors.MalformedRoleId, errors.UnknownOrganizationRole, errors.WrongInviter, errors.InvitationUrlRefused,
        errors.TooManyInvitationLinks,
    ),
    summary="Create an invitation link",
    description="Creates a link by which several people can join an organization. Limit it with `maxUses`, `expiresInDays` and "
    "`domains`. Only this response has its token.",
)  # fmt: skip
read = operation(
    "organization_invitation_links.read", f"GET {_ONE}", InvitationPath, InvitationLink, auth=ORGANIZATION_MANAGEMENT,
    scope="invitation:read", error_profile=INVITATIONS, errors=_OF_ONE,
    summary="Get an invitation link",
    description="Returns an invitation link with how often it was used. The token isn’t returned.",
)  # fmt: skip
revoke = operation(
    "organization_invitation_links.revoke", f"DELETE {_ONE}", InvitationPath, InvitationLink,
    auth=ORGANIZATION_MANAGEMENT, scope="invitation:delete", error_profile=INVITATIONS, errors=_OF_ONE,
    summary="Turn off an invitation link",
    description="Turns off an active invitation link. Members who joined with it stay.",
)  # fmt: skip
