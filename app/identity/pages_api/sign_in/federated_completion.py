"""Completes a sign-in at a provider on our pages: the session, a second factor, or a question first, and its answer."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.page_models import InteractionDecision
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, StepResponse
from app.identity.authentication.sign_in import eligibility, interactions, password_sign_in, required_actions
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.interaction_state import PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials import account_locks
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.pages_api.interactions import interaction_handoff, next_step, page_sign_in, pending_identities
from app.identity.pages_api.registration import begin_verification
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import account_choice


def complete(context: Context, interaction: Interaction, account: Account, identity: ProviderIdentity) -> StepResponse:
    """Sign in, with a second factor if one is required, and ask first where the browser has the session of another account.

    Raises the error that says why the account cannot sign in; only its owner gets here.
    """
    session = sessions.current_of(context, account.uid)
    if session is not None and not identity.is_anew:  # a provider's silent sign-in does not reauthenticate the user
        session = pending_identities.with_upstream(context, session, identity)
        pending_identities.follow_provider(context, account, identity)
        response = next_step.advance(context, interaction, session)
        if not isinstance(response.step, LoginStep):
            return response
        silent = response.step.model_copy(update={"reason": LoginReason.NOT_REAUTHENTICATED})
        return response.model_copy(update={"step": silent})
    return _ask(context, interaction, account) or sign_in(context, interaction, account, identity)


def _ask(context: Context, interaction: Interaction, account: Account) -> StepResponse | None:
    """Return the question whether to switch to an account; None where no other account's session would end.

    Any site can send a browser through a sign-in at a provider, which may sign in whom it likes.
    """
    session = sessions.current(context)
    if session is None or session.uid == account.uid or account_choice.requests_another(interaction):
        return None
    state = replace(interaction.state, switches_to=account.uid, switches_from=session.session_id)
    asked = interactions.save(context, interaction, state)
    return next_step.switch_question(context, asked, session)


def sign_in(context: Context, interaction: Interaction, account: Account, identity: ProviderIdentity) -> StepResponse:
    """Sign in with a first factor of a provider; raises as `complete` does."""
    is_typed = ldap_directories.is_of_directory(identity.provider)
    method = password_sign_in.PASSWORD if is_typed else pending_identities.FEDERATED
    next_page = page_sign_in.try_after_first_factor(
        context,
        interaction,
        account,
        Authentication((method,), provider=identity.provider, remember=is_typed and interaction.state.remembers),
    )
    if next_page is not None:
        return next_page
    account_locks.refuse_locked(context, account)
    refusal = eligibility.refusal(context, account, "email")
    if isinstance(refusal, errors.EmailUnverified):
        awaited = PendingVerification(account.email or "", account.uid, methods=[pending_identities.FEDERATED])
        return begin_verification.begin(context, interaction, awaited, is_sent=False)
    raise refusal or errors.AccountBlocked


@connection_pages.decide_handoff.implements
def decide_handoff(context: Context, req: InteractionDecision) -> StepResponse:
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if session is not None and (requested := required_actions.find_first(context, session)) is not None:
        return StepResponse(step=requested, interaction_id=interaction.interaction_id)
    return interaction_handoff.decide_handoff(context, interaction, session, allow=req.allow)


@connection_pages.decide_switch.implements
def decide_switch(context: Context, req: InteractionDecision) -> StepResponse:
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.is_done:
        return next_step.after_end(session)
    uid, pending = interaction.state.switches_to, pending_identities.active_for(context, interaction)
    is_asked = session is not None and session.session_id == interaction.state.switches_from
    if uid is not None:
        interaction = interactions.save(context, interaction, replace(interaction.state, switches_to=None))
    account = account_store.lock(context, uid) if uid is not None and is_asked and req.allow else None
    if account is not None and pending is not None and pending_identities.still_opens(account, pending):
        return sign_in(context, interaction, account, pending.claimed)
    return next_step.advance(context, pending_identities.clear(context, interaction), session)
