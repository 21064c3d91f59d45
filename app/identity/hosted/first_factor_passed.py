"""The end of every sign-in on our pages: the session, or the second factor first. Whoever proved a first factor comes through here."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.hub import Next, Step
from app.identity.authentication.sign_in import interactions, risks, second_factor, sessions
from app.identity.authentication.sign_in import service as sign_in
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.credentials.authenticators.protocol import ChallengeOptions
from app.identity.credentials.second_factors.service import RequiredFactor
from app.identity.directory.accounts.account import Account
from app.identity.hosted import identity_linking, next_step, passkey_offers, password_expiry, views
from app.identity.platform.context import Context

KEY = "second_factor"
"""The member of an attempt's request that names the ticket."""
STEP_UP = "step_up"
"""The member that names the session whose person proves a second factor alone."""


def enter(context: Context, attempt: Interaction | None, account: Account, way: Authentication) -> Next | None:
    """Sign in somebody who proved one factor that is no password; None where the account may not sign in by it."""
    try:
        wanted = None if second_factor.MFA in way.methods else risks.required_factor(context, account, way.channel)
    except e.TwoFactorOn:
        return None
    may = sign_in.try_complete_sign_in if wanted is None else sign_in.can_sign_in
    if not may(context, account, way.kind):
        return None
    return onward(context, attempt, account, way, wanted)


def onward(
    context: Context, attempt: Interaction | None, account: Account, way: Authentication, wanted: RequiredFactor | None
) -> Next:
    """Go on after a first factor: to the second one where it is `wanted`, else as somebody whose sign-in is recorded."""
    if wanted is None:
        return session(context, attempt, account, way)
    binding = None
    if attempt is None or attempt.is_done:
        attempt, binding = interactions.begin(context, next_step.RETURN, {})
    wish = ChallengeOptions(attempt=attempt.attempt_id)
    found = second_factor.send_preferred(context, second_factor.begin(context, wanted, way), wanted.kinds, wish)
    held = {KEY: found.ticket.ticket_hash, STEP_UP: None}
    interactions.add_facts(context, attempt, lifetime=second_factor.LIFETIME, **held)
    return Next(step=Step.SECOND_FACTOR, attempt=attempt.attempt_id, binding=binding)


def session(
    context: Context, attempt: Interaction | None, account: Account, way: Authentication, *, step: Step | None = None
) -> Next:
    """Begin the session, and go on with the attempt, by `step` first; all in one transaction.

    Whoever is signed in with this browser already, and proved it once more, goes on in the same session under another cookie.
    """
    if (too_old := password_expiry.step(context, account, attempt, way)) is not None:
        return too_old
    identity_linking.settle(context, attempt, account)
    held = sessions.current_of(context, account.uid)
    renewed = sessions.renew(context, held, way.methods, way.remember) if held is not None else None
    if renewed is not None:
        context.audit.record("step_up.passed", uid=account.uid, by="sign-in")
    begun, text = renewed or sessions.start(context, account.uid, way.methods, way.remember)
    cookie = {"session": views.cookie(context, begun, text)}
    is_new = held is None and attempt is not None and not attempt.is_done
    if step is None and is_new and passkey_offers.is_due(context, account, way):
        step = Step.PASSKEY_OFFER
    if step is not None and attempt is not None:
        return Next(step=step, attempt=attempt.attempt_id).model_copy(update=cookie)
    if attempt is None:
        return next_step.to_return_address(context, begun, None).model_copy(update=cookie)
    return next_step.advance(context, attempt, begun).model_copy(update=cookie)


def remembering(context: Context, wish: bool) -> bool:
    """Return whether a session outlives the browser: where it is wished and the tenant has it."""
    return wish and context.tenant.settings.remember_me


__all__ = ["KEY", "STEP_UP", "Authentication", "enter", "onward", "remembering", "session"]
