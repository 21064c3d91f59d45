"""Invitations to organizations: the tenant's servers send them, people accept them."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, ORGANIZATION_MANAGEMENT, WRITE
from app.contract.catalogue import operation
from app.contract.error_profiles import NESTED
from app.contract.organizations.member_operations import UserRole
from app.contract.organizations.models import Display, Id
from app.contract.paging import Paged
from app.kit.operations.operation import Accept
from app.kit.operations.wire import Also, From, Wire

Query = From.QUERY
InvitationUrl = Annotated[str | None, Query, Field(alias="invitation_url", max_length=2_000)]
RoleIds = Annotated[list[Id], Field(max_length=200)]
_MAX_TOKEN_LENGTH = 500

INVITATIONS = replace(NESTED, name="invitations", bad_parameter=errors.BadParameter)
"""Operations of invitations, which name every malformed or missing member with 908."""


class ListInvitations(Paged):
    """`orgid` is the organization; the oldest invitation comes first."""

    org_id: Annotated[str, Query] = ""


class CreateInvitation(Wire):
    """Without role ids the invited person gets the role of new members. `invitation_url` is the page that the email's link opens, by
    default the hosted one; it must be on the allow list, and gets the parameter `invitation_token`.
    """

    invitation_url: InvitationUrl = None
    email: Annotated[str, Field(alias="email", min_length=1, max_length=320)]
    role_ids: Annotated[RoleIds, Field(alias="roleIds")]
    org_id: Annotated[str, Field(alias="orgId", min_length=1, max_length=200)]
    inviter_uid: Annotated[str, Field(alias="inviterUid", min_length=1, max_length=200)]


class InvitedPerson(Wire):
    """A person to invite. Without role IDs, those of the request apply."""

    email: str | None = Field(default=None, alias="email")
    role_ids: list[str] | None = Field(default=None, alias="roleIds", max_length=200)


class CreateInvitations(Wire):
    """Up to 100 people. `roleIds` are the roles of those without own ones."""

    invitation_url: InvitationUrl = None
    invitations: Annotated[list[InvitedPerson], Field(alias="invitations", min_length=1, max_length=100)]
    role_ids: RoleIds = Field(default_factory=list, alias="roleIds")
    org_id: Annotated[str, Field(alias="orgId", min_length=1, max_length=200)]
    inviter_uid: Annotated[str, Field(alias="inviterUid", min_length=1, max_length=200)]


class InvitationPath(Wire):
    """An invitation, by the id in the path."""

    invitation_id: Annotated[str, From.PATH] = Field(alias="invitationid")


class UpdateInvitation(InvitationPath):
    """At least one of the members. `ResendEmail` sends a new link, which ends the earlier one."""

    invitation_url: InvitationUrl = None
    role_ids: Annotated[RoleIds | None, Field(alias="RolesIds"), Also("RoleIds")] = None
    resend_email: bool | None = None


class Invitation(Wire):
    """An invitation. `Status` changes once: from invited to accepted, expired or revoked."""

    id: str
    email_id: str
    status: Literal["invited", "accepted", "expired", "revoked"]
    role_ids: list[str]
    org_id: str
    inviter_uid: str
    created_date: str
    expiration_date: str
    modified_date: str


class InvitationRefusal(Wire):
    """The error that you'd get if you invited this person alone."""

    error_code: int
    message: str
    description: str
    is_provider_error: bool = False
    provider_error_response: str | None = None


class InvitationResult(Wire):
    """The invitation of one person, or why there is none."""

    email: str
    invitation: Invitation | None = None
    error: InvitationRefusal | None = None


class InvitationResults(Wire):
    """One result for each person, in the order of the request."""

    data: list[InvitationResult]
    invited_count: int


class Invitations(Wire):
    """Invitations to an organization. `TotalCount` counts those on all pages."""

    data: list[Invitation]
    total_count: int


class Resent(Wire):
    resent: bool = True


class InvitationToken(Wire):
    invitation_token: Annotated[str, Query] = Field(
        alias="invitation_token", min_length=1, max_length=_MAX_TOKEN_LENGTH
    )


class InvitingOrganization(Wire):
    """What sign-in pages show of the organization."""

    name: str
    display: Display


class OpenInvitation(Wire):
    """What a sign-in page shows of an open invitation. `IsExistingUser` says whether an account has verified the address."""

    id: str
    email_id: str
    status: str
    expiration_date: str
    org_id: str
    organization: InvitingOrganization
    is_existing_user: bool


class AcceptInvitation(Wire):
    invitation_token: str = Field(alias="invitation_token", min_length=1, max_length=_MAX_TOKEN_LENGTH)


class AcceptedInvitation(Invitation):
    """The invitation, and the account's roles in the organization."""

    data: list[UserRole]


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
_ROLES = (errors.MalformedRoleId, errors.UnknownOrganizationRole)
_ONE = "/v2/manage/invitations/{invitationid}"
_OPEN = (errors.OrganizationsOff, errors.ClosedInvitation, errors.OrganizationInactive)

list_all = operation(
    "organization_invitations.list_all", "GET /v2/manage/invitations", ListInvitations, Invitations,
    auth=ORGANIZATION_MANAGEMENT, scope="invitation:read", error_profile=INVITATIONS, errors=_OF_ORGANIZATION,
    summary="List invitations",
    description="Returns the invitations to an organization, oldest first.",
)  # fmt: skip
create = operation(
    "organization_invitations.create", "POST /v2/manage/invitations", CreateInvitation, Invitation,
    auth=ORGANIZATION_MANAGEMENT, scope="invitation:create", accepts=Accept.JSON, error_profile=INVITATIONS,
    errors=(
        *_OF_ORGANIZATION, *_ROLES, errors.WrongInvitationEmail, errors.WrongInviter, errors.InvitationExists, errors.AlreadyMember,
        errors.NoSeatLeft,
        errors.InvitationUrlRefused, errors.MailLimitReached,
    ),
    summary="Invite someone",
    description="Emails someone an invitation to join an organization with the given roles. The link works once, for 7 days.",
)  # fmt: skip
create_many = operation(
    "organization_invitations.create_many", "POST /v2/manage/invitations/bulk", CreateInvitations, InvitationResults,
    auth=ORGANIZATION_MANAGEMENT,
    scope="invitation:create", accepts=Accept.JSON, error_profile=INVITATIONS, errors=(*_OF_ORGANIZATION, errors.InvitationUrlRefused),
    summary="Invite several people",
    description="Invites up to 100 people to an organization by email. Each gets a result of its own; one that is refused doesn’t "
    "stop the others.",
)  # fmt: skip
read = operation(
    "organization_invitations.read", f"GET {_ONE}", InvitationPath, Invitation, auth=ORGANIZATION_MANAGEMENT, scope="invitation:read",
    error_profile=INVITATIONS, errors=_OF_ONE,
    summary="Get an invitation",
    description="Returns an invitation with its state.",
)  # fmt: skip
update = operation(
    "organization_invitations.update", f"PUT {_ONE}", UpdateInvitation, Invitation, auth=ORGANIZATION_MANAGEMENT, scope="invitation:update",
    accepts=Accept.JSON, error_profile=INVITATIONS,
    errors=(*_OF_ONE, *_ROLES, errors.WrongInviter, errors.InvitationUrlRefused, errors.MailLimitReached),
    summary="Update an invitation",
    description="Changes the roles of an open invitation. With `ResendEmail` it also emails a new link.",
)  # fmt: skip
revoke = operation(
    "organization_invitations.revoke", f"DELETE {_ONE}", InvitationPath, Invitation, auth=ORGANIZATION_MANAGEMENT,
    scope="invitation:delete", error_profile=INVITATIONS, errors=_OF_ONE,
    summary="Revoke an invitation",
    description="Revokes an open invitation. Its link stops working.",
)  # fmt: skip
resend = operation(
    "organization_invitations.resend", f"POST {_ONE}/resend", InvitationPath, Resent, auth=ORGANIZATION_MANAGEMENT,
    scope="invitation:update", error_profile=INVITATIONS, errors=(*_OF_ONE, errors.MailLimitReached),
    summary="Resend an invitation",
    description="Emails a new link, which works for 7 days and replaces the earlier one. Wait a minute between two emails.",
)  # fmt: skip
look_up = operation(
    "organization_invitations.look_up", "GET /identity/v2/auth/invitation", InvitationToken, OpenInvitation, auth=API_KEY, errors=_OPEN,
    summary="Get an invitation by its token",
    description="Returns the open invitation of a link without using it, for example to show who invited whom on your sign-up page.",
)  # fmt: skip
accept = operation(
    "organization_invitations.accept", "PUT /identity/v2/auth/invitation/accept", AcceptInvitation, AcceptedInvitation,
    auth=API_KEY & ACCESS_TOKEN, access=WRITE, errors=(*_OPEN, errors.WrongInvitationEmail, errors.NoSeatLeft),
    summary="Accept an invitation",
    description="Makes the signed-in account a member of the organization that invited it. The account must have verified the invited "
    "email address.",
)  # fmt: skip
