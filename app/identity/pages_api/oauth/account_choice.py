"""The page that chooses one of the accounts of the browser."""

from __future__ import annotations

from app.contract import errors
from app.contract.sessions.pages import account_choice_pages
from app.contract.sign_in.sign_in_pages import InteractionRequest
from app.contract.steps import ProfileStep, StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import browser_sessions, sessions
from app.identity.authentication.sign_in.sessions.browser_sessions import SessionAccount
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.pages_api import views
from app.identity.pages_api.interactions import next_step
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import account_choice, authorization_endpoint
from app.identity.protocols.oauth.logout import session_end


@account_choice_pages.accounts.implements
def read_accounts(context: Context, req: InteractionRequest) -> StepResponse:
    """Return the page, also to a person who went back from the sign-in page of another account; else the current step."""
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None or not account_choice.may_choose(interaction):
        return next_step.START_AGAIN if interaction is None else next_step.after_end(session)
    if account_choice.requests_another(interaction) and not account_choice.is_fresh(interaction, session, context.now):
        return authorization_endpoint.offer_accounts(context, interaction)
    return next_step.advance(context, interaction, session)


@account_choice_pages.choose.implements
def choose(context: Context, req: account_choice_pages.ChooseAccountRequest) -> StepResponse:
    """Continue with a chosen account, sign out of one, or continue to the sign-in page for another one.

    The id is only looked up among the sessions whose cookies came with this request.
    """
    interaction = interactions.find_open(context, req.interaction_id)
    if interaction is None:
        return next_step.after_end(sessions.current(context))
    if not account_choice.may_choose(interaction):
        return next_step.START_AGAIN
    sessions_by_uid = browser_sessions.all_sessions(context)
    if req.sign_out:
        return _sign_out(
            context,
            interaction,
            next((session for session in sessions_by_uid if session.session.session_id == req.sign_out), None),
        )
    chosen = next((session for session in sessions_by_uid if session.session.session_id == req.account), None)
    if req.account and chosen is None:
        return next_step.advance(context, interaction, sessions.current(context))
    if chosen is None and len(sessions_by_uid) >= browser_sessions.MAX_SESSIONS:
        return authorization_endpoint.offer_accounts(context, interaction)
    if chosen is None:
        interaction = interactions.save(context, interaction, account_choice.with_another(context, interaction.state))
        return next_step.advance(context, interaction, sessions.current(context))
    state = account_choice.with_choice(interaction.state, chosen.session.session_id)
    step = next_step.advance(context, interactions.save(context, interaction, state), chosen.session)
    cookies = {
        "session": chosen.to_cookie(context),
        "other_sessions": browser_sessions.others(context, chosen.session.uid),
    }
    context.audit.record("session.chosen", uid=chosen.session.uid, session=chosen.session.session_id)
    return step.model_copy(update=cookies)


def _sign_out(context: Context, interaction: Interaction, ended: SessionAccount | None) -> StepResponse:
    current = sessions.current(context)
    is_current = ended is not None and current is not None and ended.session.session_id == current.session_id
    gone = session_end.end(context, ended.session) if ended is not None else []
    step = next_step.advance(context, interaction, None if is_current else current)
    uid = current.uid if current is not None and not is_current else ""
    update = {"ends_session": is_current, "other_sessions": browser_sessions.others(context, uid)}
    return step.model_copy(update={**update, "frames": session_end.frames(context, gone)})


@account_choice_pages.compare.implements
def compare(context: Context, req: account_choice_pages.FormAccount) -> account_choice_pages.AccountsCompared:
    session = sessions.current(context)
    account = account_store.by_uid(context, session.uid) if session is not None else None
    if account is None:
        raise errors.NotAuthenticated
    former = None if account.uid == req.uid else _held(context, req.uid)
    label = views.person(context, former[1]).label if former is not None else ""
    return account_choice_pages.AccountsCompared(current=views.person(context, account), former=label)


@account_choice_pages.switch_back.implements
def switch_back(context: Context, req: account_choice_pages.FormAccount) -> StepResponse:
    """Make this account the current one; only the cookies of the request say which accounts the browser has."""
    found = _held(context, req.uid)
    if found is None:
        raise errors.NotAuthenticated
    stored = found[0]
    context.audit.record("session.chosen", uid=req.uid, session=stored.session.session_id, by="form")
    others = browser_sessions.others(context, req.uid)
    return StepResponse(step=ProfileStep(), session=stored.to_cookie(context), other_sessions=others)


def _held(context: Context, uid: str) -> tuple[SessionAccount, Account] | None:
    eligible = account_choice.eligible(context)
    return next((item for item in eligible if item[1].uid == uid), None)
