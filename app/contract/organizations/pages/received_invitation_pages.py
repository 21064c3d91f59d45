"""Operations of the hub for the invitations to a signed-in account's verified email addresses."""

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.page_models import NoParameters
from app.kit.operations.wire import Wire

MAX_INVITATIONS = 20
"""Invitations that are read for the page and its hint, newest first."""


class OwnInvitation(Wire):
    """An open invitation to one of the account's verified email addresses."""

    id: str
    organization: str  # its name
    organization_id: str
    logo: str | None = None
    inviter: str = ""
    email: str
    roles: list[str] = Field(default_factory=list)  # names
    expires_at: str


class OwnInvitations(AccountView):
    invitations: list[OwnInvitation] = Field(default_factory=list)


class OwnInvitationRequest(Wire):
    invitation: str = Field(max_length=64)


class AnsweredInvitation(Wire):
    organization: str  # its name


_OF_ONE = (errors.NotAuthenticated, errors.UnknownOrganizationInvitation, errors.ClosedInvitation)

read = hub_operation(
    "hub.read_own_invitations", "GET /hub/own/invitations", NoParameters, OwnInvitations, errors=(errors.NotAuthenticated,),
    summary="Read the open invitations to the account's verified email addresses.",
)  # fmt: skip
accept = hub_operation(
    "hub.accept_own_invitation", "POST /hub/own/invitations/accept", OwnInvitationRequest, AnsweredInvitation,
    errors=(*_OF_ONE, errors.OrganizationInactive, errors.UnknownOrganization, errors.WrongInvitationEmail, errors.NoSeatLeft),
    summary="Join an organization by an invitation to a verified email address of the account; the emailed link is not needed.",
)  # fmt: skip
decline = hub_operation(
    "hub.decline_own_invitation", "POST /hub/own/invitations/decline", OwnInvitationRequest, AnsweredInvitation, errors=_OF_ONE,
    summary="Decline an invitation to a verified email address of the account, which ends it.",
)  # fmt: skip
