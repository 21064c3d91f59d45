"""Change the address or number of a pending registration, in the browser that registered."""

from __future__ import annotations

from dataclasses import replace

from app.contract.steps import LoginStep, StepResponse
from app.contract.verification import verification_pages
from app.identity.authentication.registration import account_registration, change_identifier
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.pages_api.interactions import next_step, pending_verification
from app.identity.pages_api.interactions.pending_verification import SMS
from app.identity.pages_api.registration import begin_verification, verify_identifier
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError

_CHANGES = Rate(5, 3600)  # per interaction, so that a registration cannot mail to many addresses


@verification_pages.change_address.implements
def change_address(context: Context, req: verification_pages.ChangeAddressRequest) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    state, session = pending_verification.pending_for(context, interaction), sessions.current(context)
    if state is None or session is not None:
        return next_step.advance(context, interaction, session)
    if not state.held:
        return begin_verification.step(context, interaction, state)
    try:
        return _changed(context, interaction, state, req.to)
    except pending_accounts.AccountInUse:
        context.work.rollback()
        if state.by == SMS:
            return StepResponse(step=LoginStep(), interaction_id=interaction.interaction_id)
    except ApiError as refusal:
        raise pending_verification.with_page(context, interaction, refusal, state) from None
    return verify_identifier.enter_code(
        context, verification_pages.OptionalCodeRequest(interaction_id=req.interaction_id)
    )


def _changed(context: Context, interaction: Interaction, state: PendingVerification, typed: str) -> StepResponse:
    """Change the destination in one transaction; a second submit or another tab gets the page with the new one."""
    destination = change_identifier.parse(context, PHONE if state.by == SMS else EMAIL, typed)
    if destination.normalized == state.subject:
        return begin_verification.step(context, interaction, state)
    account_registration.count_attempt(context)
    context.count_against("address_changed", _CHANGES, randomness.digest(interaction.interaction_id))
    account_store.lock(context, str(state.held["uid"]))
    # locks account, tokens, interaction in this order, as a concurrent verification does
    one_time_tokens.close(context, str(state.held["uid"]))
    latest = interactions.lock(context, interaction)
    current = pending_verification.pending_for(context, latest)
    if current is None or latest.is_done or current.subject != state.subject:
        context.work.rollback()
        return begin_verification.step(context, latest, current or state)
    account = change_identifier.change(
        context, state.held, destination, VerificationOptions(interaction_id=interaction.interaction_id)
    )
    changed = replace(
        state,
        email=pending_verification.display(destination.shown, state.by),
        uid=account.uid if account is not None else NO_ACCOUNT,
        sent_at=int(context.now.timestamp()),
    )
    return begin_verification.step(context, pending_verification.store_pending(context, latest, changed), changed)
