"""Reauthentication on the account pages: by the second factor if the account has one, else by the password.

The session gets a new cookie, and the methods of the reauthentication as its `amr` (decision 0094).
"""

from __future__ import annotations

from dataclasses import replace

from app.contract.accounts.pages import reauthentication_pages
from app.contract.accounts.pages.reauthentication_pages import RequiredReauthentication
from app.contract.page_models import NoParameters
from app.contract.shared_responses import Posted
from app.contract.steps import ReauthenticationStep, SecondFactorStep, StepResponse
from app.identity.authentication.sign_in import interactions, pending_sign_in, reauthentication_rules
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.accounts.account import Account
from app.identity.pages_api import signed_in_account, views
from app.identity.pages_api.interactions import next_step
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views


@reauthentication_pages.begin_reauthentication.implements
def begin(
    context: Context, req: reauthentication_pages.ReauthenticationRequest
) -> reauthentication_pages.ReauthenticationView:
    if req.interaction_id:
        return _within(context, req.interaction_id)
    session, account = signed_in_account.require_account(context)
    response = reauthentication_pages.ReauthenticationView(
        person=views.person(context, account),
        reauthentication=reauthentication_rules.required_reauthentication(context, session, account),
    )
    kinds = second_factors.kinds_of_account(context, account, pending_sign_in.channel_for(session.methods))
    if response.reauthentication is RequiredReauthentication.NONE or not kinds:
        return response
    interaction, binding = interactions.start(context, InteractionKind.RETURN, InteractionState(landing=req.landing))
    step = _require_second_factor(context, session, account, interaction).model_copy(update={"binding": binding})
    return response.model_copy(update={"next": step})


def _within(context: Context, interaction_id: str) -> reauthentication_pages.ReauthenticationView:
    """Require the second factor before an application gets its response; an account without one continues."""
    interaction, (session, account) = (
        interactions.find(context, interaction_id),
        signed_in_account.require_session(context),
    )
    response = reauthentication_pages.ReauthenticationView(
        person=oauth_views.person(account), next=next_step.START_AGAIN
    )
    if interaction is None:
        return response
    if interaction.is_done:
        return response.model_copy(update={"next": next_step.after_end(session)})
    following = next_step.advance(context, interaction, session)
    if isinstance(following.step, ReauthenticationStep):
        following = _require_second_factor(context, session, account, interaction)
    return response.model_copy(update={"next": following})


def _require_second_factor(
    context: Context, session: BrowserSession, account: Account, interaction: Interaction
) -> StepResponse:
    """Store that the session requires a second factor; nothing is sent before the user chooses one."""
    channel = pending_sign_in.channel_for(session.methods)
    required = RequiredFactor(
        second_factors.of_account(context, account), second_factors.kinds_of_account(context, account, channel)
    )
    pending = pending_sign_in.begin(context, required, Authentication(session.methods, channel=channel))
    state = replace(
        interaction.state,
        second_factor_token_hash=pending.token.token_hash,
        reauthenticated_session_id=session.session_id,
    )
    interactions.save(context, interaction, state)
    return StepResponse(step=SecondFactorStep(), interaction_id=interaction.interaction_id)


@reauthentication_pages.reauthenticate.implements
def with_password(context: Context, req: NoParameters) -> Posted:
    """Do nothing more: the operation requires a recent authentication."""
    return Posted()
