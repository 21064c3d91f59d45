"""Proving once more who is signed in, on our pages: by the second factor where there is one, else by the password.

The session goes on under another cookie, and says by which methods its person is known (decisions/0094).
"""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_account as contract
from app.contract.hub import Next, Step
from app.contract.hub_account import SessionRenewal, WithPassword
from app.identity.authentication.sign_in import interactions, second_factor
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors.service import RequiredFactor
from app.identity.directory.accounts.service import Account
from app.identity.hosted import account_settings, first_factor_passed, next_step, reauthentication
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views


@contract.begin_reauthentication.implements
def begin(context: Context, req: contract.ReauthenticationRequest) -> contract.ReauthenticationStep:
    if req.attempt:
        return _within(context, req.attempt)
    session, account = account_settings.require_account(context)
    told = contract.ReauthenticationStep(
        person=views.person(account),
        is_needed=not reauthentication.is_fresh(context, session),
        has_password=account.password_hash is not None,
    )
    kinds = second_factors.kinds_of_account(context, account, second_factor.channel_for(session.methods))
    if not told.is_needed or not kinds:
        return told
    interaction, binding = interactions.begin(context, next_step.RETURN, {"landing": req.landing})
    step = _asked(context, session, account, interaction).model_copy(update={"binding": binding})
    return told.model_copy(update={"next": step})


def _within(context: Context, interaction_id: str) -> contract.ReauthenticationStep:
    """Ask for the second factor on the way to an application; whoever has none goes on."""
    interaction, (session, account) = (
        interactions.find(context, interaction_id),
        account_settings.require_session(context),
    )
    told = contract.ReauthenticationStep(person=views.person(account), next=next_step.START_AGAIN)
    if interaction is None:
        return told
    if interaction.is_done:
        return told.model_copy(update={"next": next_step.after_end(session)})
    step = next_step.advance(context, interaction, session)
    if step.step is Step.CONFIRM:
        step = _asked(context, session, account, interaction)
    return told.model_copy(update={"next": step})


def _asked(context: Context, session: BrowserSession, account: Account, interaction: Interaction) -> Next:
    """Keep that the person of the session is asked for a second factor. Nothing is sent before they say which."""
    channel = second_factor.channel_for(session.methods)
    required = RequiredFactor(
        second_factors.account_factors(context, account), second_factors.kinds_of_account(context, account, channel)
    )
    found = second_factor.begin(context, required, Authentication(session.methods, channel=channel))
    step_up = {first_factor_passed.KEY: found.token.ticket_hash, first_factor_passed.STEP_UP: session.session_id}
    interactions.add_facts(context, interaction, lifetime=second_factor.LIFETIME, **step_up)
    return Next(step=Step.SECOND_FACTOR, attempt=interaction.interaction_id)


@contract.reauthenticate.implements
def with_password(context: Context, req: WithPassword) -> SessionRenewal:
    known = account_settings.reauthenticate(context, req)
    if not known.is_new and not reauthentication.is_fresh(context, known.session):
        raise e.NotAuthenticated
    return account_settings.renew_session(context, known)
