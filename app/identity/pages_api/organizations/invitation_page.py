"""The page of an invitation to an organization: read, begin to join, decline."""

from __future__ import annotations

from typing import Any, Final

from app.contract import errors
from app.contract.organizations.pages import invitation_pages
from app.contract.organizations.pages.invitation_pages import InvitationRole, InvitationState, InvitationView
from app.contract.steps import LoginStep, RegisterStep, StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import InteractionState, PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.session_ends import EndedSession
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import first_page
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.organizations import branding
from app.identity.directory.organizations.invitations import email_invitations, granted_roles
from app.identity.directory.organizations.invitations.invitation import AnyInvitation, EmailInvitation
from app.identity.directory.organizations.invitations.join_by_invitation import Found, JoinState, join_state
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.messaging.message import safe_name
from app.identity.pages_api.interactions import accept_invitation, next_step
from app.identity.pages_api.registration import begin_verification
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.logout import session_end
from app.kit import randomness
from app.kit.clock import iso

_DETAILED = (InvitationState.OPEN, InvitationState.READY, InvitationState.OTHER, InvitationState.UNVERIFIED)
_BY_SESSION: Final = ("join", "switch", "verify")


@invitation_pages.read.implements
def read(context: Context, req: invitation_pages.InvitationReference) -> InvitationView:
    session = sessions.current(context)
    account = account_store.by_uid(context, session.uid) if session is not None else None
    return _view(context, accept_invitation.by_token_hash(context, _token_hash(context, req)), account)


@invitation_pages.continue_invitation.implements
def continue_invitation(context: Context, req: invitation_pages.ContinueInvitation) -> StepResponse:
    """Begin an interaction for the invitation and take its first step; with a session that joins, it is also the last one.

    Raises:
        ClosedInvitation: nobody can join by it.
        AnotherAccount: the page was shown to another account than the signed-in one.
    """
    token_hash, session = _token_hash(context, req), sessions.current(context)
    found = accept_invitation.by_token_hash(context, token_hash)
    if found is None or join_state(context, *found, account=None).refusal is not None:
        raise errors.ClosedInvitation
    invitation, organization = found
    if session is not None and req.action in _BY_SESSION and session.uid != req.account:
        raise errors.AnotherAccount
    is_left = req.action == "switch" and session is not None
    ended: list[EndedSession] = []
    if session is not None and is_left:
        ended = session_end.end(context, session)
        session = None
    earlier = interactions.find_open(context, req.interaction_id)
    return_url = req.return_url or (earlier.state.return_url if earlier is not None else None)
    state = InteractionState(
        return_url=return_url or None,
        action=req.action,
        invitation=invitation.invitation_id,
        invitation_token_hash=token_hash,
    )
    interaction, binding = interactions.start(context, InteractionKind.RETURN, state)
    step = _first_step(context, interaction, session, req.action)
    return step.model_copy(
        update={
            "binding": binding,
            "login_hint": invitation.addressee,
            "invitation": organization.display_name,
            "organization": branding.branding_of(organization),
            "workflow": first_page.display_of(context, interaction),
            "relying_party": step.relying_party or next_step.return_target(context, return_url),
            "ends_session": is_left,
            "frames": session_end.frames(context, ended),
        }
    )


@invitation_pages.decline.implements
def decline(context: Context, req: invitation_pages.InvitationReference) -> InvitationView:
    """Decline for the owner of the mailbox, whom the token authenticates; the interaction of a browser is not enough."""
    if not context.tenant.settings.organizations.enabled:
        raise errors.ClosedInvitation
    invitation, _ = email_invitations.require_open(context, req.token)
    email_invitations.decline(context, invitation)
    return InvitationView(state=InvitationState.DECLINED)


def _first_step(
    context: Context, interaction: Interaction, session: BrowserSession | None, action: str
) -> StepResponse:
    if session is None:
        form = RegisterStep() if action == "register" else LoginStep()
        return StepResponse(step=form, interaction_id=interaction.interaction_id)
    account = account_store.by_uid(context, session.uid) if action == "verify" else None
    if account is not None and account.email and not account.email_verified:
        awaited = PendingVerification(account.email, account.uid)
        return begin_verification.begin(context, interaction, awaited, is_sent=False)
    return next_step.advance(context, interaction, session)


def _token_hash(context: Context, req: invitation_pages.InvitationReference) -> str:
    """Return the hash of a link's token, else of the token that began this browser's interaction; empty if there is none."""
    if req.token:
        return randomness.digest(req.token)
    return accept_invitation.token_hash_of(
        interactions.find(context, req.interaction_id) if req.interaction_id else None
    )


def _view(context: Context, found: Found | None, account: Account | None) -> InvitationView:
    """Return the view for the signed-in account, or for a visitor who is not signed in."""
    if found is None:
        return InvitationView(state=InvitationState.UNKNOWN)
    invitation, organization = found
    state = _state(join_state(context, invitation, organization, account), account)
    label, uid = (oauth_views.person(account).label, account.uid) if account is not None else ("", "")
    shown = InvitationView(state=state, is_link=invitation.is_shared)
    if state is InvitationState.DOMAIN:
        return shown.model_copy(update={"domains": list(invitation.domains), "person": label, "person_uid": uid})
    if state is not InvitationState.MEMBER and state not in _DETAILED:
        return shown
    known: dict[str, Any] = {
        "organization": organization.display_name,
        "organization_id": organization.org_id,
        "logo": organization.logo_url,
        "color": organization.color,
        "person": label,
        "person_uid": uid,
    }
    more = _details(context, invitation, organization, account) if state in _DETAILED else {}
    return shown.model_copy(update={**known, **more})


def _state(joining: JoinState, account: Account | None) -> InvitationState:
    if joining.is_member and joining.refusal is not InvitationState.INACTIVE:
        return InvitationState.MEMBER
    return joining.refusal or (InvitationState.READY if account is not None else InvitationState.OPEN)


def role_views(context: Context, invitation: AnyInvitation, organization: OrganizationRecord) -> list[InvitationRole]:
    """Return the roles that an invitation gives."""
    role_ids = invitation.role_ids or memberships.default_role_ids(context, organization)
    roles = [role for role in organization_role_store.by_ids(context, role_ids) if role.fits(organization.org_id)]
    return [InvitationRole(name=role.name, description=role.description) for role in roles]


def inviter_name(context: Context, invitation: AnyInvitation) -> str:
    """Return the name of the member who invites; empty if there is none."""
    inviter = granted_roles.inviter(context, invitation.inviter_uid)
    return safe_name(full_name(inviter)) if inviter is not None else ""


def _details(
    context: Context,
    invitation: AnyInvitation,
    organization: OrganizationRecord,
    account: Account | None,
) -> dict[str, Any]:
    details: dict[str, Any] = {
        "inviter": inviter_name(context, invitation),
        "roles": role_views(context, invitation, organization),
        "expires_at": iso(invitation.ends_at) or "",
    }
    if isinstance(invitation, EmailInvitation):
        is_existing = email_invitations.holder(context, invitation) is not None
        return {**details, "email": invitation.email, "is_existing": is_existing}
    return {**details, "domains": list(invitation.domains), "email": (account.email or "") if account else ""}
