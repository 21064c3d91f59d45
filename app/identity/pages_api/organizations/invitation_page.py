"""The page of an invitation to an organization: read, join, decline."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.organizations.pages import invitation_pages
from app.contract.organizations.pages.invitation_pages import InvitationState, InvitationView
from app.contract.steps import LoginStep, RegisterStep, StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.session_ends import EndedSession
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import accounts
from app.identity.directory.organizations import branding
from app.identity.directory.organizations.invitations import invitations
from app.identity.directory.organizations.invitations.join_by_invitation import join_state
from app.identity.pages_api.interactions import accept_invitation, next_step
from app.identity.pages_api.oauth import session_end
from app.identity.pages_api.organizations import invitation_view
from app.identity.pages_api.registration import begin_verification
from app.identity.platform.context import Context
from app.kit import randomness

_BY_SESSION: Final = ("join", "switch", "verify")


@invitation_pages.read.implements
def read(context: Context, req: invitation_pages.InvitationReference) -> InvitationView:
    session = sessions.current(context)
    account = accounts.by_uid(context, session.uid) if session is not None else None
    return invitation_view.view(context, accept_invitation.by_token_hash(context, _token_hash(context, req)), account)


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
    interaction, binding = interactions.begin(context, InteractionKind.RETURN, state)
    step = _first_step(context, interaction, session, req.action)
    return step.model_copy(
        update={
            "binding": binding,
            "login_hint": invitation.addressee,
            "invitation": organization.display_name,
            "organization": branding.branding_of(organization),
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
    invitation, _ = invitations.require_open(context, req.token)
    invitations.decline(context, invitation)
    return InvitationView(state=InvitationState.DECLINED)


def _first_step(
    context: Context, interaction: Interaction, session: BrowserSession | None, action: str
) -> StepResponse:
    if session is None:
        form = RegisterStep() if action == "register" else LoginStep()
        return StepResponse(step=form, interaction_id=interaction.interaction_id)
    account = accounts.by_uid(context, session.uid) if action == "verify" else None
    if account is not None and account.email and not account.email_verified:
        return begin_verification.begin(context, interaction, account.email, account, is_sent=False)
    return next_step.advance(context, interaction, session)


def _token_hash(context: Context, req: invitation_pages.InvitationReference) -> str:
    """Return the hash of a link's token, else of the token that began this browser's interaction; empty if there is none."""
    if req.token:
        return randomness.digest(req.token)
    return accept_invitation.token_hash_of(
        interactions.find(context, req.interaction_id) if req.interaction_id else None
    )
