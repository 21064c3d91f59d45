"""Passwordless sign-in on our pages: send a link, a code or a device request, and sign in by it.

Step, cost and refusals are the same for identifiers with and without an account.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract import errors
from app.contract.messages.models import Carries
from app.contract.page_models import CodeRequest, InteractionOnly, SentTo
from app.contract.passwordless.pages import link_and_code_pages
from app.contract.second_factors.challenge import FactorKind
from app.contract.step_reasons import Channel, LoginReason, WaitingState
from app.contract.steps import LoginStep, SignInSentStep, StepResponse
from app.identity.authentication.passwordless import lookup, methods, passwordless_sending, redemption, smart_login
from app.identity.authentication.passwordless.methods import DEVICE, MAIL, SMS
from app.identity.authentication.passwordless.passwordless_sending import SIGN_IN, SMART_LOGIN, SendOptions
from app.identity.authentication.passwordless.smart_login import State
from app.identity.authentication.sign_in import eligibility, interactions
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.interaction_state import NEW, PendingPasswordless
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials import account_locks, reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens, resend_delay
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE, SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.pages_api.interactions import link_handoff, next_step, page_sign_in, pending_verification
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError

_TRIES: Final = Rate(20, 600)  # per interaction
_SHOWN: Final = {
    State.PENDING: WaitingState.WAITS, State.APPROVED: WaitingState.APPROVED, State.DENIED: WaitingState.DENIED,
    State.USED: WaitingState.OVER,
}  # fmt: skip


@link_and_code_pages.begin.implements
def begin(context: Context, req: link_and_code_pages.PasswordlessRequest) -> StepResponse:
    passwordless_sending.count_request(context)
    return send_message(
        context, interactions.find_open(context, req.interaction_id), req.identifier, req.by, remember=req.remember
    )


@link_and_code_pages.read_state.implements
def read_state(context: Context, req: InteractionOnly) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    session = sessions.current(context)
    state = _of(interaction, session)
    return _step(context, interaction, state) if state is not None else next_step.advance(context, interaction, session)


@link_and_code_pages.resend.implements
def resend(context: Context, req: InteractionOnly) -> StepResponse:
    interaction, state = _pending(context, req.interaction_id)
    if interaction is None or state is None:
        return read_state(context, req)
    passwordless_sending.count_request(context)
    if seconds := resend_delay.seconds_left(context, state.sent_at):
        raise _with_page(context, interaction, errors.TooManyRequests(retry_after_seconds=seconds), state)
    return send_message(context, interaction, state.name, state.by, remember=state.remember)


@link_and_code_pages.verify_code.implements
def verify_code(context: Context, req: CodeRequest) -> StepResponse:
    interaction, state = _pending(context, req.interaction_id)
    if interaction is None or state is None or state.by == DEVICE:
        return read_state(context, InteractionOnly(interaction_id=req.interaction_id))
    errors = SMS_CODE if state.by == SMS else MAIL_CODE
    name = TypedIdentifier(state.kind, state.value)
    try:
        context.count_against("sign_in_code", _TRIES, randomness.digest(interaction.interaction_id))
        one_time_token = one_time_tokens.spend_code(
            context, Purpose.SIGN_IN, state.uid, req.code, subject=state.subject, errors=errors, identifier=name
        )
        account = redemption.redeem(context, one_time_token, errors.closed)
        return complete_sign_in(context, interaction, account, state.by, remember=state.remember)
    except ApiError as refusal:
        raise _with_page(context, interaction, refusal, state) from None


@link_and_code_pages.continue_approved.implements
def continue_approved(context: Context, req: InteractionOnly) -> StepResponse:
    """Continue on an approved device, or where the number was typed in another browser; one of concurrent calls begins the session."""
    interaction, state = _pending(context, req.interaction_id)
    if interaction is None or state is None:
        return read_state(context, req)
    account, interaction = link_handoff.take(context, interaction, Purpose.SIGN_IN)
    if account is not None:
        return complete_sign_in(context, interaction, account, MAIL, remember=state.remember)
    device = continuation_tokens.by_hash(context, ContinuationPurpose.SMART_LOGIN, state.device_token_hash)
    if device is None or device.is_expired(context.now) or device.state != State.APPROVED:
        return _step(context, interaction, state)
    return complete_sign_in(context, interaction, smart_login.redeem(context, device), MAIL, remember=state.remember)


def send_message(
    context: Context, interaction: Interaction | None, name: str, by: str, *, remember: bool = False
) -> StepResponse:
    """Send the message, unless it was just sent for this identifier; a reached limit is silent.

    Raises PasswordlessOff.
    """
    if by not in methods.enabled_methods(context):
        raise errors.PasswordlessOff
    identifier, account, registers = lookup.resolve(context, name, by)
    uid, subject = (account.uid, by) if account else (NO_ACCOUNT, reset_messages.unknown_subject(identifier.value))
    state = PendingPasswordless(name, by, uid, subject, identifier.kind, identifier.value, remember=remember)
    previous = _of(interaction) if interaction is not None else None
    if previous is not None and previous.is_same(state):
        state = replace(
            state, sent_at=previous.sent_at, device_token_hash=previous.device_token_hash, number=previous.number
        )
    ids = interaction or interactions.new_ids()
    if not resend_delay.seconds_left(context, state.sent_at):
        try:
            state = _send(context, ids.interaction_id, state, account, registers)
        except (*passwordless_sending.SEND_ERRORS, errors.UnknownAccount) as reason:
            context.work.rollback()
            state = _simulate_send(context, state)
            context.audit.record("passwordless.not_sent", reason=type(reason).__name__)
    changed = replace(interaction.state if interaction is not None else NEW, passwordless=state)
    if by == MAIL:
        changed = replace(changed, waiting_page=link_handoff.page_for(context, interaction, Purpose.SIGN_IN, uid))
    current, binding = interactions.save_or_start(context, ids, InteractionKind.RETURN, changed)
    return _step(context, current, state).model_copy(update={"binding": binding})


def complete_sign_in(
    context: Context, interaction: Interaction | None, account: Account, by: str, *, remember: bool = False
) -> StepResponse:
    """Sign in after the verification of a mailbox or number; raises the reason why not, which only the owner sees."""
    authentication = (
        Authentication(("sms",), "phone", FactorKind.SMS)
        if by == SMS
        else Authentication(("otp",), "email", FactorKind.EMAIL)
    )
    next_page = page_sign_in.try_after_first_factor(
        context,
        interaction,
        account,
        replace(authentication, remember=page_sign_in.can_remember(context, remember)),
    )
    if next_page is not None:
        return next_page
    account_locks.refuse_locked(context, account)
    if (refusal := eligibility.refusal(context, account, authentication.kind)) is not None:
        raise refusal
    login_hint = account.email or account.username or account.phone
    return StepResponse(
        step=LoginStep(reason=LoginReason.PASSWORD),
        interaction_id=interaction.interaction_id if interaction else None,
        login_hint=login_hint,
    )


def is_remembered(interaction: Interaction | None) -> bool:
    """Return whether the request in this browser asked for a remembered session."""
    state = _of(interaction) if interaction is not None else None
    return state is not None and state.remember


def _send(
    context: Context, interaction_id: str, state: PendingPasswordless, account: Account | None, registers: bool
) -> PendingPasswordless:
    options = SendOptions(interaction_id=interaction_id, registers=registers)
    if state.by == DEVICE:
        number = smart_login.new_number()
        device = smart_login.begin(context, None, account, number=number, attempt=interaction_id)
        passwordless_sending.send_mail(
            context, SMART_LOGIN, account, state.value, options, device_hash=device.token_hash
        )
        state = replace(state, device_token_hash=device.token_hash, number=number)
    elif state.by == MAIL:
        passwordless_sending.send_mail(context, SIGN_IN, account, state.value, options)
    elif registers:
        passwordless_sending.send_one_touch_sms(context, Purpose.SIGN_IN, state.value, interaction_id=interaction_id)
    else:
        passwordless_sending.send_sms(context, account, state.value)
    return replace(state, sent_at=int(context.now.timestamp()))


def _simulate_send(context: Context, state: PendingPasswordless) -> PendingPasswordless:
    """Return the state as if the message had been sent."""
    state = replace(state, sent_at=int(context.now.timestamp()))
    if state.by != DEVICE or state.device_token_hash:
        return state
    number = smart_login.new_number()
    return replace(
        state, device_token_hash=smart_login.begin(context, None, None, number=number).token_hash, number=number
    )


def _step(context: Context, interaction: Interaction, state: PendingPasswordless) -> StepResponse:
    is_device = state.by == DEVICE
    number, carries = (state.number, None) if is_device else _shown(context, interaction)
    shown = SignInSentStep(
        sent_to=state.name,
        channel=Channel(state.by),
        resend_in_seconds=resend_delay.seconds_left(context, state.sent_at),
        number=number,
        state=_device_state(context, state) if is_device else link_handoff.state_of(interaction),
        carries=carries or "both",
    )
    return StepResponse(step=shown, interaction_id=interaction.interaction_id)


def _shown(context: Context, interaction: Interaction) -> tuple[str, Carries]:
    return pending_verification.shown_of(context, interaction, SIGN_IN.mail)


def _device_state(context: Context, state: PendingPasswordless) -> WaitingState:
    """Return the state that the pending device shows."""
    device = continuation_tokens.by_hash(context, ContinuationPurpose.SMART_LOGIN, state.device_token_hash)
    device_state = device.state if device is not None and not device.is_expired(context.now) else State.USED
    return _SHOWN[State(device_state)]


def _of(interaction: Interaction, session: BrowserSession | None = None) -> PendingPasswordless | None:
    """Return the awaited message; None if the user signed in meanwhile in another tab."""
    state = interaction.state.passwordless
    is_over = state is not None and session is not None and int(session.authenticated_at.timestamp()) >= state.sent_at
    return None if is_over else state


def _pending(context: Context, interaction_id: str) -> tuple[Interaction | None, PendingPasswordless | None]:
    interaction = interactions.find_open(context, interaction_id)
    return interaction, _of(interaction, sessions.current(context)) if interaction is not None else None


def _with_page(context: Context, interaction: Interaction, refusal: ApiError, state: PendingPasswordless) -> ApiError:
    """Return the refusal with the page's data."""
    number, carries = _shown(context, interaction)
    return pending_verification.with_page_data(
        refusal,
        SentTo(
            sent_to=state.name,
            resend_in_seconds=resend_delay.seconds_left(context, state.sent_at),
            channel=Channel(state.by),
            number=number,
            carries=carries,
        ),
    )
