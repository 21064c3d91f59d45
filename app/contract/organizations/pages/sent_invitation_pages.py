"""Operations of the hub for the members who manage an organization: its open invitations, by email and shared.

The pages call a shared invitation a link.
"""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.organizations.invitation_link_operations import MAX_DAYS, MAX_DOMAINS, MAX_USES
from app.contract.organizations.pages.account_organization_pages import Id, OwnOrganization
from app.contract.organizations.pages.member_pages import RoleView
from app.contract.organizations.pages.open_invitations import ActiveSharedInvitation, PendingInvitation
from app.kit.operations.wire import From, Wire

MAX_PEOPLE = 50
"""Maximum number of people in one form."""


class OrganizationInvitationsRequest(Wire):
    """`invitation`: the id of one to read."""

    organization: Annotated[str, From.PATH, Field(max_length=64)]
    invitation: Annotated[str, From.QUERY, Field(max_length=64)] = ""


class OrganizationInvitations(AccountView):
    """What new invitations can give, and the open invitation that was asked for."""

    organization: OwnOrganization
    invitation: PendingInvitation | None = None
    link: ActiveSharedInvitation | None = None
    roles: list[RoleView] = Field(default_factory=list)  # that this account can give
    link_roles: list[RoleView] = Field(default_factory=list)  # those without the rights of owners
    default_role: str = ""  # the id of the role of new members


class InvitePeopleRequest(Wire):
    organization: Id
    emails: list[Annotated[str, Field(max_length=320)]] = Field(min_length=1, max_length=MAX_PEOPLE)
    role: Id


class InvitedPersonView(Wire):
    """The result for one address; without a `problem` the email was sent."""

    email: str
    problem: Literal["", "malformed", "member", "invited", "repeated", "full", "limited"] = ""


class PeopleInvited(Wire):
    results: list[InvitedPersonView]


class ManagedInvitationRequest(Wire):
    organization: Id
    invitation: Id


class InvitationChanged(Wire):
    """The email of the changed invitation; empty for a shared one."""

    email: str = ""


class CreateSharedInvitationRequest(Wire):
    organization: Id
    role: Id
    days: int = Field(default=7, ge=1, le=MAX_DAYS)
    max_uses: int | None = Field(default=None, ge=1, le=MAX_USES)
    domains: list[Annotated[str, Field(max_length=253)]] = Field(default_factory=list, max_length=MAX_DOMAINS)


class SharedInvitationCreated(Wire):
    """The address of the new shared invitation, which cannot be read again."""

    organization: str  # its name
    address: str
    expires_at: str


_OWN = "/hub/own/organizations"
_MANAGED = (errors.UnknownOrganization,)
_GIVES_ACCESS = (
    *_MANAGED,
    errors.OwnersOnly,
    errors.MalformedRoleId,
    errors.RoleOfOtherOrganization,
    errors.TooManyRequests,
)
_OF_ONE = (
    errors.NotAuthenticated,
    *_MANAGED,
    errors.UnknownOrganizationInvitation,
    errors.ClosedInvitation,
    errors.OwnersOnly,
)

read = hub_operation(
    "hub.read_organization_invitations", f"GET {_OWN}/{{organization}}/invitations", OrganizationInvitationsRequest,
    OrganizationInvitations, errors=(errors.NotAuthenticated, *_MANAGED),
    summary="Read the roles that invitations to an organization that the account manages can give, and one open invitation.",
)  # fmt: skip
invite = hub_operation(
    "hub.invite_people", f"POST {_OWN}/invitations", InvitePeopleRequest, PeopleInvited, reauthentication=True,
    errors=_GIVES_ACCESS, summary="Invite people to an organization that the account manages; each address has its own result.",
)  # fmt: skip
resend = hub_operation(
    "hub.resend_organization_invitation", f"POST {_OWN}/invitations/resend", ManagedInvitationRequest, InvitationChanged,
    errors=(*_OF_ONE, errors.TooManyRequests, errors.MailLimitReached),
    summary="Email a new link of an open invitation, which ends the earlier one.",
)  # fmt: skip
revoke = hub_operation(
    "hub.revoke_organization_invitation", f"POST {_OWN}/invitations/revoke", ManagedInvitationRequest, InvitationChanged,
    errors=_OF_ONE, summary="Revoke an open invitation to an organization that the account manages.",
)  # fmt: skip
create_shared_invitation = hub_operation(
    "hub.create_organization_link", f"POST {_OWN}/links", CreateSharedInvitationRequest, SharedInvitationCreated,
    reauthentication=True,
    errors=(*_GIVES_ACCESS, errors.TooManyInvitationLinks, errors.BadParameter),
    summary="Create a shared invitation to an organization.",
)  # fmt: skip
revoke_shared_invitation = hub_operation(
    "hub.revoke_organization_link", f"POST {_OWN}/links/revoke", ManagedInvitationRequest, InvitationChanged, errors=_OF_ONE,
    summary="End a shared invitation to an organization that the account manages.",
)  # fmt: skip
