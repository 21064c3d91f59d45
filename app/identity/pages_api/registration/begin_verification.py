"""Begins the verification of an address or number in an interaction: stores it, sends the message, and returns the step."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.pages_api.interactions import pending_verification
from app.identity.pages_api.interactions.pending_verification import SMS
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.limits.rate_limits import Rate

TRIES = Rate(20, 600)  # per interaction


def begin(
    context: Context, interaction: Interaction | None, state: PendingVerification, *, is_sent: bool
) -> StepResponse:
    """Store that the interaction awaits the verification of an address or number, and return the step that asks for it.

    Args:
        is_sent: whether the message was sent already; otherwise it is sent, unless one was just sent.
    """
    binding = None
    if interaction is None:
        interaction, binding = interactions.start(context, InteractionKind.RETURN)
    state = replace(state, email=pending_verification.display(state.email, state.by))
    previous = pending_verification.pending_for(context, interaction)
    if previous is not None and previous.subject == state.subject:
        state = replace(state, sent_at=previous.sent_at)
        if previous.uid == state.uid:
            credential = state if state.methods else previous
            state = replace(
                state, held=state.held or previous.held, passkey=credential.passkey, methods=credential.methods
            )
    if is_sent or not pending_verification.seconds_left(context, state):
        state = pending_verification.send_if_due(context, interaction, state, is_sent=is_sent)
    return step(context, pending_verification.store_pending(context, interaction, state), state).model_copy(
        update={"binding": binding}
    )


def by_passkey(context: Context, interaction: Interaction | None, raw_id: str) -> StepResponse | None:
    """Return the verification step for the passkey that was just registered in this browser; else None.

    The step is the same whether the account exists, is pending, or is another person's.
    """
    state = pending_verification.pending_for(context, interaction) if interaction is not None else None
    if interaction is None or interaction.is_done or state is None or not state.passkey or state.passkey != raw_id:
        return None
    return step(context, interaction, state)


def after_password(
    context: Context, interaction: Interaction | None, account: Account | None, remember: bool
) -> StepResponse:
    """Return the verification step after a right password for an unverified address; raises EmailUnverified without an address."""
    if account is None or not account.email:
        raise errors.EmailUnverified
    password_hash = account.password_hash or ""
    awaited = PendingVerification(account.email, account.uid, password_hash=password_hash, remember=remember)
    return begin(context, interaction, awaited, is_sent=False)


def repeat_sign_in(
    context: Context, interaction: Interaction, identifier: TypedIdentifier, password: str
) -> StepResponse | None:
    """Return the verification step for a sign-in with the password just typed at registration in this browser; else None.

    The step is the same whether the account exists, is pending, or is another person's. Costs one hash if the interaction
    awaits this address.
    """
    state = pending_verification.pending_for(context, interaction)
    if state is None or identifier.kind != EMAIL or not state.password_hash:
        return None
    if identifiers.normalize(EMAIL, identifier.value) != state.subject:
        return None
    account = account_store.by_uid(context, state.uid)
    if account is not None and is_verified(account, state.email):
        return None
    context.count_against("verification_try", TRIES, randomness.digest(interaction.interaction_id))
    context.work.release_connection()
    return step(context, interaction, state) if context.hashing.is_match(state.password_hash, password) else None


def after_password_by_phone(
    context: Context, interaction: Interaction | None, account: Account | None, remember: bool
) -> StepResponse:
    """Return the verification step after a right password for an unverified number; raises PhoneUnverified without a number."""
    if account is None or not account.phone:
        raise errors.PhoneUnverified
    password_hash = account.password_hash or ""
    awaited = PendingVerification(account.phone, account.uid, password_hash=password_hash, remember=remember, by=SMS)
    return begin(context, interaction, awaited, is_sent=False)


def step(context: Context, interaction: Interaction, state: PendingVerification) -> StepResponse:
    """Return the step of a pending verification."""
    shown = pending_verification.waiting_step(context, interaction, state)
    return StepResponse(step=shown, interaction_id=interaction.interaction_id)
