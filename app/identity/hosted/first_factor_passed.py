"""The end of every sign-in on our pages: the session, or the second factor first. Whoever proved a first factor comes through here."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.hub import Next, Step
from app.identity.authentication.recovery import sending
from app.identity.authentication.sign_in import eligibility, interactions, risks, second_factor, sessions
from app.identity.authentication.sign_in import service as sign_in
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.credentials.authenticators.protocol import ChallengeOptions
from app.identity.credentials.second_factors.service import RequiredFactor
from app.identity.directory.accounts.account import Account
from app.identity.hosted import identity_linking, next_step, passkey_offers, views
from app.identity.platform.context import Context

EXPIRED = "expired"
"""The reason of a token that replaces an expired password."""
KEY = "second_factor"
"""The member of an attempt's request that names the ticket."""
STEP_UP = "step_up"
"""The member that names the session whose person proves a second factor alone."""


def try_sign_in(
    context: Context, interaction: Interaction | None, account: Account, authentication: Authentication
) -> Next | None:
    """Sign in somebody who proved one factor that is no password; None where the account may not sign in by it."""
    try:
        wanted = (
            None
            if second_factor.MFA in authentication.methods
            else risks.required_factor(context, account, authentication.channel)
        )
    except e.TwoFactorOn:
        return None
    may = sign_in.try_complete_sign_in if wanted is None else eligibility.can_sign_in
    if not may(context, account, authentication.kind):
        return None
    return continue_sign_in(context, interaction, account, authentication, wanted)


def continue_sign_in(
    context: Context,
    interaction: Interaction | None,
    account: Account,
    authentication: Authentication,
    required: RequiredFactor | None,
) -> Next:
    """Go on after a first factor: to the second one where it is `wanted`, else as somebody whose sign-in is recorded."""
    if required is None:
        return begin_session(context, interaction, account, authentication)
    binding = None
    if interaction is None or interaction.is_done:
        interaction, binding = interactions.begin(context, next_step.RETURN, {})
    options = ChallengeOptions(interaction_id=interaction.interaction_id)
    found = second_factor.send_preferred(
        context, second_factor.begin(context, required, authentication), required.kinds, options
    )
    held = {KEY: found.token.ticket_hash, STEP_UP: None}
    interactions.add_facts(context, interaction, lifetime=second_factor.LIFETIME, **held)
    return Next(step=Step.SECOND_FACTOR, attempt=interaction.interaction_id, binding=binding)


def begin_session(
    context: Context,
    interaction: Interaction | None,
    account: Account,
    authentication: Authentication,
    *,
    step: Step | None = None,
) -> Next:
    """Begin the session, and go on with the attempt, by `step` first; all in one transaction.

    Whoever is signed in with this browser already, and proved it once more, goes on in the same session under another cookie.
    """
    if (too_old := _new_password_step(context, account, interaction, authentication)) is not None:
        return too_old
    identity_linking.link_pending(context, interaction, account)
    held = sessions.current_of(context, account.uid)
    renewed = (
        sessions.renew(context, held, authentication.methods, authentication.remember) if held is not None else None
    )
    if renewed is not None:
        context.audit.record("step_up.passed", uid=account.uid, by="sign-in")
    begun, text = renewed or sessions.start(context, account.uid, authentication.methods, authentication.remember)
    cookie = {"session": views.cookie(context, begun, text)}
    is_new = held is None and interaction is not None and not interaction.is_done
    if step is None and is_new and passkey_offers.is_due(context, account, authentication):
        step = Step.PASSKEY_OFFER
    if step is not None and interaction is not None:
        return Next(step=step, attempt=interaction.interaction_id).model_copy(update=cookie)
    if interaction is None:
        return next_step.to_return_address(context, begun, None).model_copy(update=cookie)
    return next_step.advance(context, interaction, begun).model_copy(update=cookie)


def _new_password_step(
    context: Context, account: Account, interaction: Interaction | None, authentication: Authentication
) -> Next | None:
    """Return the step that replaces an expired password; None if the password is not expired."""
    if account.password_expires_at is None or account.password_expires_at > context.now:
        return None
    token = sending.create_page_token(
        context, account, reason=EXPIRED, remember=authentication.remember, methods=list(authentication.methods)
    )
    context.audit.record("password.expired", uid=account.uid)
    return Next(step=Step.NEW_PASSWORD, attempt=interaction.interaction_id if interaction else None, address=token)


def can_remember(context: Context, wish: bool) -> bool:
    """Return whether a session outlives the browser: where it is wished and the tenant has it."""
    return wish and context.tenant.settings.remember_me


__all__ = [
    "EXPIRED",
    "KEY",
    "STEP_UP",
    "Authentication",
    "begin_session",
    "can_remember",
    "continue_sign_in",
    "try_sign_in",
]
