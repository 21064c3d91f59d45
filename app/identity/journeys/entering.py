"""The end of every sign-in on our pages: the session, or the second factor first. Whoever proved a first factor comes through here."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.hub import Next, Step
from app.identity.accounts.account import Account
from app.identity.authenticators.protocol import Wish
from app.identity.call import Call
from app.identity.journeys import expiry, linking, passkey_offers, views
from app.identity.journeys import next as journey
from app.identity.second_factors.service import Wanted
from app.identity.sign_in import attempts, risks, second_factor, sessions
from app.identity.sign_in import service as sign_in
from app.identity.sign_in.attempts import Attempt
from app.identity.sign_in.second_factor import Way

KEY = "second_factor"
"""The member of an attempt's request that names the ticket."""
STEP_UP = "step_up"
"""The member that names the session whose person proves a second factor alone."""


def enter(call: Call, attempt: Attempt | None, account: Account, way: Way) -> Next | None:
    """Sign in somebody who proved one factor that is no password; None where the account may not sign in by it."""
    try:
        wanted = None if second_factor.TWO in way.methods else risks.wanted(call, account, way.channel)
    except e.TwoFactorOn:
        return None
    may = sign_in.enter if wanted is None else sign_in.may_enter
    if not may(call, account, way.kind):
        return None
    return onward(call, attempt, account, way, wanted)


def onward(call: Call, attempt: Attempt | None, account: Account, way: Way, wanted: Wanted | None) -> Next:
    """Go on after a first factor: to the second one where it is `wanted`, else as somebody whose sign-in is recorded."""
    if wanted is None:
        return session(call, attempt, account, way)
    binding = None
    if attempt is None or attempt.is_done:
        attempt, binding = attempts.open(call, journey.RETURN, {})
    wish = Wish(attempt=attempt.attempt_id)
    found = second_factor.ask(call, second_factor.begin(call, wanted, way), wanted.kinds, wish)
    held = {KEY: found.ticket.ticket_hash, STEP_UP: None}
    attempts.note(call, attempt, lives_for=second_factor.LIFETIME, **held)
    return Next(step=Step.SECOND_FACTOR, attempt=attempt.attempt_id, binding=binding)


def session(call: Call, attempt: Attempt | None, account: Account, way: Way, *, step: Step | None = None) -> Next:
    """Begin the session, and go on with the attempt, by `step` first; all in one transaction.

    Whoever is signed in with this browser already, and proved it once more, goes on in the same session under another cookie.
    """
    if (too_old := expiry.step(call, account, attempt, way)) is not None:
        return too_old
    linking.settle(call, attempt, account)
    held = sessions.of_person(call, account.uid)
    renewed = sessions.renew(call, held, way.methods, way.remember) if held is not None else None
    if renewed is not None:
        call.ledger.record("step_up.passed", uid=account.uid, by="sign-in")
    begun, text = renewed or sessions.start(call, account.uid, way.methods, way.remember)
    cookie = {"session": views.cookie(call, begun, text)}
    is_new = held is None and attempt is not None and not attempt.is_done
    if step is None and is_new and passkey_offers.is_due(call, account, way):
        step = Step.PASSKEY_OFFER
    if step is not None and attempt is not None:
        return Next(step=step, attempt=attempt.attempt_id).model_copy(update=cookie)
    if attempt is None:
        return journey.to_return_address(call, begun, None).model_copy(update=cookie)
    return journey.advance(call, attempt, begun).model_copy(update=cookie)


def remembering(call: Call, wish: bool) -> bool:
    """Return whether a session outlives the browser: where it is wished and the tenant has it."""
    return wish and call.tenant.settings.remember_me


__all__ = ["KEY", "STEP_UP", "Way", "enter", "onward", "remembering", "session"]
