"""Proving once more who is signed in, on our pages: by the second factor where there is one, else by the password.

The session goes on under another cookie, and says by which methods its person is known (decisions/0094).
"""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_confirm as contract
from app.contract.hub import Next, Step
from app.contract.hub_self_service import Done, Proved
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.journeys import entering, freshness, own_account
from app.identity.journeys import next as journey
from app.identity.oauth import views
from app.identity.second_factors import service as factors
from app.identity.second_factors.service import Wanted
from app.identity.sign_in import attempts, second_factor
from app.identity.sign_in.attempts import Attempt
from app.identity.sign_in.second_factor import Way
from app.identity.sign_in.sessions import BrowserSession
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin)(begin)
    server.implements(contract.with_password)(with_password)


def begin(call: Call, req: contract.ConfirmBegun) -> contract.ConfirmStep:
    if req.attempt:
        return _within(call, req.attempt)
    session, account = own_account.owner(call)
    told = contract.ConfirmStep(
        person=views.person(account),
        is_needed=not freshness.is_fresh(call, session),
        has_password=account.password_hash is not None,
    )
    kinds = factors.held(call, account, second_factor.channel_of(session.methods))
    if not told.is_needed or not kinds:
        return told
    attempt, binding = attempts.open(call, journey.RETURN, {"landing": req.landing})
    step = _asked(call, session, account, attempt).model_copy(update={"binding": binding})
    return told.model_copy(update={"next": step})


def _within(call: Call, attempt_id: str) -> contract.ConfirmStep:
    """Ask for the second factor on the way to an application; whoever has none goes on."""
    attempt, (session, account) = attempts.find(call, attempt_id), own_account.signed_in(call)
    told = contract.ConfirmStep(person=views.person(account), next=journey.START_AGAIN)
    if attempt is None:
        return told
    if attempt.is_done:
        return told.model_copy(update={"next": journey.after_the_end(session)})
    step = journey.advance(call, attempt, session)
    if step.step is Step.CONFIRM:
        step = _asked(call, session, account, attempt)
    return told.model_copy(update={"next": step})


def _asked(call: Call, session: BrowserSession, account: Account, attempt: Attempt) -> Next:
    """Keep that the person of the session is asked for a second factor. Nothing is sent before they say which."""
    channel = second_factor.channel_of(session.methods)
    wanted = Wanted(factors.person(call, account), factors.held(call, account, channel))
    found = second_factor.begin(call, wanted, Way(session.methods, channel=channel))
    step_up = {entering.KEY: found.ticket.ticket_hash, entering.STEP_UP: session.session_id}
    attempts.note(call, attempt, lives_for=second_factor.LIFETIME, **step_up)
    return Next(step=Step.SECOND_FACTOR, attempt=attempt.attempt_id)


def with_password(call: Call, req: Proved) -> Done:
    known = own_account.proved(call, req)
    if not known.is_new and not freshness.is_fresh(call, known.session):
        raise e.NotAuthenticated
    return own_account.done(call, known)
