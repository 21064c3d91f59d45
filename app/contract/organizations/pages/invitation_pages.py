"""Operations for the hub's page of an invitation to an organization."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import hub_operation
from app.contract.oauth.pages.authorization_pages import MAX_RETURN_URL
from app.contract.page_models import Token
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire


class InvitationState(StrEnum):
    """The state of an invitation for this visitor."""

    OPEN = "open"  # the visitor has no session
    READY = "ready"  # signed in with the invited address
    OTHER = "other"  # signed in with another address
    FULL = "full"  # the organization has no seat left
    MEMBER = "member"  # the signed-in account belongs to the organization
    ACCEPTED = "accepted"
    DECLINED = "declined"
    REVOKED = "revoked"
    USED_UP = "used_up"  # a shared one that as many people used as may
    DOMAIN = "domain"  # a shared one that admits none of the verified addresses of the signed-in account
    UNVERIFIED = "unverified"  # a shared one, and the signed-in account has no verified address
    EXPIRED = "expired"
    INACTIVE = "inactive"  # the organization
    UNKNOWN = "unknown"


class InvitationReference(Wire):
    """An invitation by the token of its link, or by the interaction of this browser that it began."""

    token: Token = ""
    interaction_id: str = ""


class InvitationRole(Wire):
    name: str
    description: str = ""


class InvitationView(Wire):
    """What the page shows. Only an open invitation names the inviter, the address and the roles; an ended one names nothing.

    A shared invitation has no `email`, except that of the signed-in account where it is not verified.
    """

    state: InvitationState
    is_link: bool = False  # a shared invitation
    domains: list[str] = Field(default_factory=list)  # of the addresses that a shared invitation admits; empty: all
    organization: str = ""
    organization_id: str = ""
    logo: str | None = None
    color: str | None = None
    inviter: str = ""
    email: str = ""
    roles: list[InvitationRole] = Field(default_factory=list)
    expires_at: str = ""
    is_existing: bool = False  # an account has verified the address
    person: str = ""  # the label of the signed-in account
    person_uid: str = ""


class ContinueInvitation(InvitationReference):
    """`action`: join by the session, or sign in or register first; `switch` ends the session before, `verify` emails a code to the
    address of the signed-in account first. `account`: the account that the page showed, for `join`, `switch` and `verify`.
    `return_url`: the end."""

    action: Literal["join", "login", "register", "switch", "verify"]
    account: str = Field(default="", max_length=64)
    return_url: str | None = Field(default=None, max_length=MAX_RETURN_URL)


read = hub_operation(
    "hub.read_invitation", "POST /hub/invitation/look", InvitationReference, InvitationView,
    summary="Read an invitation without using it.",
)  # fmt: skip
continue_invitation = hub_operation(
    "hub.continue_invitation", "POST /hub/invitation/continue", ContinueInvitation, StepResponse, errors=(errors.ClosedInvitation,),
    summary="Join the organization with the session, or begin the sign-in or registration that joins at its end.",
)  # fmt: skip
decline = hub_operation(
    "hub.decline_invitation", "POST /hub/invitation/decline", InvitationReference, InvitationView, errors=(errors.ClosedInvitation,),
    summary="Decline an open invitation, which ends it.",
)  # fmt: skip
