"""Sign-in by a phone on our pages: a browser shows a QR code, and a phone's browser approves it (decision 0241).

The code leads the phone to the question and gets nothing by itself: the sign-in is collected by the browser that began it, with the
secret of its interaction. What that browser gets is no more than the phone's session.
"""

from __future__ import annotations

import base64
from dataclasses import replace

from app.contract import errors
from app.contract.page_models import InteractionOnly, LinkLookup
from app.contract.passwordless.pages import cross_device_pages
from app.contract.step_reasons import ApprovalOutcome, LoginReason, QrCodeState
from app.contract.steps import ApproveSignInStep, LoginStep, ProfileStep, QrCodeStep, StepResponse
from app.identity.authentication.passwordless import cross_device
from app.identity.authentication.passwordless.cross_device import APPROVED, DENIED, Approver
from app.identity.authentication.sign_in import eligibility, interactions, risks
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.interaction_state import InteractionState, ShownQrCode
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials import account_locks
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies
from app.identity.pages_api.interactions import cross_device_approval, earlier_answers, next_step, page_sign_in
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.identity.protocols.oauth.authorize import account_choice
from app.kit import randomness
from app.kit.limits.rate_limits import Rate

"""The member of an interaction's request with the code that its page shows."""
_BEGUN_BY_TENANT = Rate(3_000, 300)
_BEGUN_BY_BROWSER = Rate(15, 900)  # codes of one interaction
_READ = Rate(120, 60)  # looks at one interaction's code: the page that reloads itself, and the script
_COLLECTED = Rate(10, 600)  # attempts of one interaction


@cross_device_pages.begin.implements
def begin(context: Context, req: cross_device_pages.CodeStart) -> StepResponse:
    cross_device.require_enabled(context)
    session, interaction = sessions.current(context), interactions.find_open(context, req.interaction_id)
    binding = None
    if req.interaction_id and interaction is None:
        return next_step.after_end(session)
    if interaction is None and session is not None:
        return next_step.to_return_url(context, session, None)
    if interaction is None:
        _spend_code(context)
        interaction, binding = interactions.start(context, InteractionKind.RETURN)
    elif (signed_in := _step_after_sign_in(context, interaction, session)) is not None:
        return signed_in
    _spend_read(context, interaction)
    return _step(context, _with_code(context, interaction, req)).model_copy(update={"binding": binding})


@cross_device_pages.read_state.implements
def read_state(context: Context, req: InteractionOnly) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    _spend_read(context, interaction)
    session, device = sessions.current(context), _device(context, interaction)
    is_newer = session is not None and device is not None and session.created_at >= device.created_at
    if is_newer and not account_choice.requests_another(interaction):
        return StepResponse(step=ProfileStep())  # signed in in another tab: this page's next request goes on
    return _step(context, interaction)


@cross_device_pages.finish.implements
def finish(context: Context, req: InteractionOnly) -> StepResponse:
    """Take over the phone's sign-in, once; the tenant's and the organizations' rules apply as at any sign-in here.

    Raises the reason why the account may not sign in, which only the phone's person sees.
    """
    cross_device.require_enabled(context)
    interaction, session = interactions.find_open(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.after_end(session)
    device = _device(context, interaction)
    account = account_store.by_uid(context, str(device.facts.get("uid"))) if device is not None else None
    if device is None or account is None or device.state != APPROVED or device.is_expired(context.now):
        return _step_after_sign_in(context, interaction, session) or _step(context, interaction)
    context.count_against("cross_device_collect", _COLLECTED, randomness.digest(interaction.interaction_id))
    risks.refuse_new_origin(context, account)  # before anything is written
    account_store.lock_unread(
        context, account.uid
    )  # the account first, as every request does, then the interaction: against deadlocks
    interaction = interactions.lock(context, interaction)
    if _needs_password(context, account, device):
        return _with_password(interaction, account)
    approval = cross_device.redeem(context, device)
    if approval is None:
        continuation_tokens.spend(context, device)
        return _step(context, interaction)
    context.audit.record("cross_device.signed_in", uid=account.uid)
    if session is not None and session.uid == account.uid:
        return next_step.advance(context, interaction, session)
    step = page_sign_in.try_after_first_factor(context, interaction, approval.account, approval.authentication)
    return step or _refused(context, interaction, account, approval.authentication)


@cross_device_pages.open_code.implements
def open_code(context: Context, req: LinkLookup) -> StepResponse:
    """Begin the phone's interaction; a preview or prefetch begins one too, and leaves the code as it is."""
    cross_device.require_enabled(context)
    context.count_attempt("cross_device.code", context.tenant.settings.limits.qr_codes_per_minute_per_address)
    device = cross_device.find(context, req.token)
    if device is None or device.facts.get("by_program"):  # a program's code is approved by the phone's own app
        context.audit.record("cross_device.code_refused")
        return StepResponse(step=ApproveSignInStep(outcome=ApprovalOutcome.EXPIRED))
    context.give_back_attempts()
    if device.state != OPEN:
        return StepResponse(step=ApproveSignInStep(outcome=cross_device_approval.outcome(device)))
    if not req.is_machine:
        cross_device.mark_opened(context, device)
    interaction, binding = interactions.start(
        context, InteractionKind.RETURN, InteractionState(approved_code_hash=device.token_hash)
    )
    step = next_step.advance(context, interaction, sessions.current(context))
    return step.model_copy(update={"interaction_id": interaction.interaction_id, "binding": binding})


@cross_device_pages.decide.implements
def decide(context: Context, req: cross_device_pages.ApprovalDecision) -> StepResponse:
    """Approve or deny finally; three wrong numbers deny."""
    cross_device.require_enabled(context)
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.is_done or not cross_device_approval.is_of(interaction):
        return earlier_answers.step(interaction) or next_step.after_end(session)
    context.count_request("cross_device_decide", context.tenant.settings.limits.qr_answers_per_minute_per_address)
    interaction = interactions.lock(context, interaction)
    response = next_step.advance(context, interaction, session)
    step, device = response.step, cross_device_approval.device_of(context, interaction)
    awaits_answer = isinstance(step, ApproveSignInStep) and step.outcome is None
    if not awaits_answer or session is None or device is None or req.account != session.uid:
        return response  # not asked yet, not any more, or the page asked another account
    if not req.allow:
        return _deny(context, interaction, device, session)
    try:
        is_first = cross_device.approve(context, device, _approver(session), req.number)
    except cross_device.NumberWrong:
        return response.model_copy(update={"step": step.model_copy(update={"is_number_wrong": True})})
    except errors.TooManyRequests:
        return _deny(context, interaction, device, session)
    if not is_first:
        return _end(context, interaction, ApprovalOutcome.USED)
    cross_device.keep_for_collection(context, device)
    return _end(context, interaction, ApprovalOutcome.APPROVED)


def _deny(
    context: Context, interaction: Interaction, device: ContinuationToken, session: BrowserSession
) -> StepResponse:
    is_first = cross_device.deny(context, device, session.uid)
    return _end(context, interaction, ApprovalOutcome.DENIED if is_first else ApprovalOutcome.USED)


def _end(context: Context, interaction: Interaction, outcome: ApprovalOutcome) -> StepResponse:
    interactions.finish(context, interaction, outcome=outcome.value)
    return StepResponse(step=ApproveSignInStep(outcome=outcome))


def _approver(session: BrowserSession) -> Approver:
    return Approver(
        session.uid,
        session.methods,
        int(session.authenticated_at.timestamp()),
        int(session.expires_at.timestamp()),
        session_id=session.session_id,
    )


def _step_after_sign_in(
    context: Context, interaction: Interaction, session: BrowserSession | None
) -> StepResponse | None:
    """Return the step of a signed-in browser; None where the person signs in, without a session or to one more account."""
    if session is None:
        return None
    response = next_step.advance(context, interaction, session)
    is_login = isinstance(response.step, LoginStep) and response.step.reauthentication is None
    return None if is_login else response


def _with_code(context: Context, interaction: Interaction, req: cross_device_pages.CodeStart) -> Interaction:
    """Return the interaction with a code; replace an existing code only for a renewal before its approval."""
    if interaction.state.qr_code is not None and not req.renews:
        return interaction
    interaction = interactions.lock(context, interaction)
    if interaction.state.qr_code is not None and (not req.renews or _state(context, interaction) == APPROVED):
        return interaction
    if (replaced := _device(context, interaction)) is not None:
        continuation_tokens.spend(context, replaced)
    if req.interaction_id:
        _spend_code(context)
    context.count_against("cross_device_renew", _BEGUN_BY_BROWSER, randomness.digest(interaction.interaction_id))
    client_id = interaction.state.client_id
    device = cross_device.begin(context, cross_device.LIFETIME, has_number=True, client_id=client_id)
    context.audit.record("cross_device.begun", client_id=client_id)
    code = context.services.encryption.encrypt(device.text.encode(), _associated_data(context, device.token_hash))
    qr_code = ShownQrCode(device.token_hash, base64.urlsafe_b64encode(code).decode())
    return interactions.save(context, interaction, replace(interaction.state, qr_code=qr_code))


def _step(context: Context, interaction: Interaction) -> StepResponse:
    stored, device = interaction.state.qr_code, _device(context, interaction)
    shown = QrCodeStep(state=_state(context, interaction))
    if stored is not None and device is not None and shown.state in (QrCodeState.WAITS, QrCodeState.OPENED):
        encrypted = base64.urlsafe_b64decode(stored.code)
        code = context.services.encryption.decrypt(encrypted, _associated_data(context, device.token_hash))
        shown = QrCodeStep(state=shown.state, number=str(device.facts["number"]), code=code.decode())
    return StepResponse(step=shown, interaction_id=interaction.interaction_id)


def _state(context: Context, interaction: Interaction) -> QrCodeState:
    device = _device(context, interaction)
    if device is None or (device.is_expired(context.now) and device.state != DENIED):
        return QrCodeState.EXPIRED
    if device.state != OPEN:
        return QrCodeState(device.state)
    return QrCodeState.OPENED if cross_device.is_opened(device) else QrCodeState.WAITS


def _device(context: Context, interaction: Interaction) -> ContinuationToken | None:
    stored = interaction.state.qr_code
    return continuation_tokens.by_hash(context, ContinuationPurpose.CROSS_DEVICE, stored.token_hash if stored else "")


def _associated_data(context: Context, token_hash: str) -> str:
    return f"{context.tenant.tenant_id} qr code {token_hash}"


def _spend_code(context: Context) -> None:
    context.count_request("cross_device_begin", context.tenant.settings.limits.qr_codes_per_minute_per_address)
    context.count_against("cross_device_begin_tenant", _BEGUN_BY_TENANT)


def _spend_read(context: Context, interaction: Interaction) -> None:
    context.count_against("cross_device_read", _READ, randomness.digest(interaction.interaction_id))


def _needs_password(context: Context, account: Account, device: ContinuationToken) -> bool:
    """Return whether this browser must authenticate itself: the password has expired, or the phone's methods are unknown."""
    expires_at = active_policies.password_expires_at(context, account)
    return not device.facts["amr"] or (expires_at is not None and expires_at <= context.now)


def _with_password(interaction: Interaction, account: Account) -> StepResponse:
    hint = account.email or account.username or account.phone
    return StepResponse(
        step=LoginStep(reason=LoginReason.BROWSER), interaction_id=interaction.interaction_id, login_hint=hint
    )


def _refused(
    context: Context, interaction: Interaction, account: Account, authentication: Authentication
) -> StepResponse:
    """Raise the reason why the account may not sign in, else that it must enrol a second factor with its password."""
    account_locks.refuse_locked(context, account)
    if (refusal := eligibility.refusal(context, account, authentication.kind)) is not None:
        raise refusal
    return _with_password(interaction, account)
