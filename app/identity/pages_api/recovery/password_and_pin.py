"""Recovery of a password or PIN on our pages: send a code or link, set the new one, and continue the sign-in.

Step, cost and refusals are the same for identifiers with and without an account.
"""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.page_models import CodeRequest, InteractionOnly, LinkLookup, LinkRequest, SentTo
from app.contract.recovery import recovery_pages
from app.contract.recovery.recovery_pages import RecoveryLinkView
from app.contract.second_factors.challenge import FactorKind
from app.contract.step_reasons import Channel
from app.contract.steps import (
    LoginStep,
    NewPasswordStep,
    NewPinStep,
    PinSentStep,
    RedirectStep,
    ResetSentStep,
    StepResponse,
)
from app.identity.authentication.recovery import password_reset, recipient, recovery_requests
from app.identity.authentication.sign_in import completion, interactions, sign_in_identifiers
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import Refused
from app.identity.authentication.sign_in.interaction_state import NEW, PendingRecovery
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials import reset_messages
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.one_time_tokens import one_time_tokens, resend_delay
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE, SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.pins import pins
from app.identity.credentials.reset_messages import MAIL, PASSWORD, PIN, SMS, ResetKind, ResetOptions
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.organizations import active_policies
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.pages_api.interactions import link_handoff, next_step, page_sign_in, pending_verification
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError

CODE = "code"
COMPLETED = "forgotpassword"
FORGOTTEN = {item.name: item for item in (PASSWORD, PIN)}
_TRIES = Rate(20, 600)  # per interaction
_MAILBOX = "otp"  # RFC 8176; a mailbox is one factor
_NOT_SENT = (
    errors.MailLimitReached, errors.SmsLimitReached, errors.SharedSmsLimitReached, errors.NoSmsConfiguration, errors.UnknownAccount,
)  # fmt: skip


@recovery_pages.forgot.implements
def forgot(context: Context, req: recovery_pages.ForgotRequest) -> StepResponse:
    if req.of == PIN.name:
        pins.refuse_disabled(context.tenant.settings)
    recovery_requests.count_request(context)
    if req.of == PASSWORD.name:
        ldap_directories.refuse_reset(context, sign_in_identifiers.guess(context.tenant.settings, req.identifier))
    return _begin(context, interactions.find_open(context, req.interaction_id), req.identifier, of=FORGOTTEN[req.of])


@recovery_pages.read_recovery.implements
def read_recovery(context: Context, req: InteractionOnly) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    session = sessions.current(context)
    state = _of(interaction, session)
    return step(context, interaction, state) if state is not None else next_step.advance(context, interaction, session)


@recovery_pages.resend.implements
def resend(context: Context, req: InteractionOnly) -> StepResponse:
    interaction, state = _pending(context, req.interaction_id)
    if interaction is None or state is None:
        return read_recovery(context, req)
    recovery_requests.count_request(context)
    if seconds := _seconds_left(context, state):
        raise _with_page(context, interaction, errors.TooManyRequests(retry_after_seconds=seconds), state)
    return _begin(context, interaction, state.name, of=state.forgotten)


@recovery_pages.continue_reset.implements
def continue_reset(context: Context, req: InteractionOnly) -> StepResponse:
    """Continue on the page whose number was typed where the password was reset; of concurrent calls one begins the session."""
    interaction, state = _pending(context, req.interaction_id)
    if interaction is None or state is None:
        return read_recovery(context, req)
    account, interaction = link_handoff.take(context, interaction, Purpose.RESET_PASSWORD)
    if account is None:
        return read_recovery(context, req)
    interaction = interactions.save(context, interaction, replace(interaction.state, recovery=None))
    mailed = OneTimeToken(Purpose.RESET_PASSWORD, account.uid, MAIL, {}, context.now)
    login = StepResponse(step=LoginStep(), interaction_id=interaction.interaction_id, login_hint=state.name)
    return _signed_in(context, interaction, account, mailed) or login


@recovery_pages.reset_code.implements
def reset_code(context: Context, req: CodeRequest) -> StepResponse:
    """Exchange the code for a token of the page that sets the new one, so that a refusal there needs no other code."""
    interaction, state = _pending(context, req.interaction_id)
    if interaction is None or state is None:
        return read_recovery(context, InteractionOnly(interaction_id=req.interaction_id))
    errors = SMS_CODE if state.by == SMS else MAIL_CODE
    try:
        context.count_against("reset_try", _TRIES, randomness.digest(interaction.interaction_id))
        kind = state.forgotten.purpose
        name = sign_in_identifiers.guess(context.tenant.settings, state.name)
        one_time_token = one_time_tokens.spend_code(
            context, kind, state.uid, req.code, subject=state.subject, errors=errors, identifier=name
        )
    except ApiError as refusal:
        raise _with_page(context, interaction, refusal, state) from None
    account = account_store.by_uid(context, one_time_token.uid)
    if account is None or not reset_messages.is_still_recipient(account, one_time_token):
        raise _with_page(context, interaction, errors.closed(), state)
    email, phone = one_time_token.facts.get("email"), one_time_token.facts.get("phone")
    token = reset_messages.create_page_token(
        context, account, reset_kind=state.forgotten, reason=CODE, email=email, phone=phone
    )
    step = NewPinStep(token=token) if state.forgotten is PIN else NewPasswordStep(token=token)
    return StepResponse(step=step, interaction_id=interaction.interaction_id)


@recovery_pages.read_reset.implements
def read_reset(context: Context, req: LinkLookup) -> RecoveryLinkView:
    return link_view(context, Purpose.RESET_PASSWORD, req)


@recovery_pages.reset.implements
def reset(context: Context, req: recovery_pages.ResetPasswordRequest) -> StepResponse:
    """Set the password, and sign in unless the tenant turned that off; a second factor is still required.

    Where the number of a page in another browser was typed, that page signs in and this one does not: one link, one sign-in.
    """
    password_reset.count_attempt(context)
    interaction = interactions.find_open(context, req.interaction_id)
    stored = one_time_tokens.find_link(context, Purpose.RESET_PASSWORD, req.token) if req.number else None
    waiting = link_handoff.check(context, stored, req.number) if stored is not None else None
    account, one_time_token = password_reset.reset_with_link(context, req.token, req.password)
    if waiting is not None:
        link_handoff.approve(context, waiting, account)
    elif (following_step := _signed_in(context, interaction, account, one_time_token)) is not None:
        return following_step
    label = str(one_time_token.facts.get("email") or label_of(account))
    if interaction is not None:
        interactions.save(context, interaction, replace(interaction.state, recovery=None))
        return StepResponse(
            step=LoginStep(), interaction_id=interaction.interaction_id, login_hint=label, ends_session=True
        )
    next_page = next_step.open_return(context, None, None)
    return next_page.model_copy(update={"login_hint": label, "ends_session": True})


def _signed_in(
    context: Context, interaction: Interaction | None, account: Account, one_time_token: OneTimeToken
) -> StepResponse | None:
    """Sign in after a reset; None if the tenant turned that off, or one factor does not suffice.

    None, too, in a browser where another account is signed in: a link from another person must not switch the account.
    """
    session = sessions.current(context)
    is_step = one_time_token.facts.get("reason") == page_sign_in.EXPIRED
    is_off = context.tenant.settings.login_on_password_reset is False
    if not is_step and (is_off or (session is not None and session.uid != account.uid)):
        return None
    method = "sms" if one_time_token.facts.get("phone") else _MAILBOX
    methods = tuple(one_time_token.facts.get("methods") or (method,))
    channel = None if is_step else FactorKind.SMS if one_time_token.facts.get("phone") else FactorKind.EMAIL
    is_remembered = is_step and bool(one_time_token.facts.get("remember"))
    authentication = Authentication(methods, channel=channel, remember=is_remembered)
    continue_sign_in = _after_expired_password if is_step else page_sign_in.try_after_first_factor
    following_step = continue_sign_in(context, interaction, account, authentication)
    if following_step is None or interaction is not None:
        return following_step
    return next_step.at_application(context, following_step, str(one_time_token.facts.get("attempt") or ""))


def _after_expired_password(
    context: Context, interaction: Interaction | None, account: Account, authentication: Authentication
) -> StepResponse | None:
    """Continue the sign-in that the expired password began, and that its request recorded; None if the account may not sign in."""
    outcome = completion.after_earlier_request(context, account, authentication)
    if isinstance(outcome, Refused) and not isinstance(outcome.error, errors.LoginNotAllowed):
        return None
    return page_sign_in.present(context, interaction, outcome)


@recovery_pages.renew_reset.implements
def renew_reset(context: Context, req: LinkRequest) -> StepResponse:
    recovery_requests.count_request(context)
    stored = one_time_tokens.find_link(context, Purpose.RESET_PASSWORD, req.token)
    account = account_store.by_uid(context, stored.uid) if stored is not None else None
    if stored is None or account is None:
        raise errors.UnknownLink
    name = str(stored.facts.get("email") or label_of(account))
    return _begin(context, interactions.find_open(context, req.interaction_id), name, account)


def label_of(account: Account) -> str:
    """Return the identifier that an account's owner sees."""
    return account.email or account.username or account.phone or ""


def _begin(
    context: Context,
    interaction: Interaction | None,
    name: str,
    account: Account | None = None,
    of: ResetKind = PASSWORD,
) -> StepResponse:
    """Send the message, unless it was just sent; a reached limit is silent, and the link of the previous mail still works."""
    identifier = sign_in_identifiers.guess(context.tenant.settings, name)
    by = SMS if identifier.kind == "phone" else MAIL
    if account is None:
        lookup = account_lookup.find(context, identifier, is_hidden=True)
    else:
        lookup = AccountLookup(context, identifier, account, is_hidden=True)
    account = recipient.reachable_account_with_pin(lookup, by) if of is PIN else recipient.reachable_account(lookup, by)
    uid = account.uid if account else NO_ACCOUNT
    state, previous = PendingRecovery(name, uid, by, of=of.name), _of(interaction) if interaction is not None else None
    if previous is not None and (previous.subject, previous.uid, previous.of) == (state.subject, uid, of.name):
        state = replace(state, sent_at=previous.sent_at)
    ids = interaction or interactions.new_ids()
    if not _seconds_left(context, state):
        if not try_send(context, ids.interaction_id, state, account):
            context.work.rollback()
        state = replace(state, sent_at=int(context.now.timestamp()))
    changed = replace(
        interaction.state if interaction is not None else NEW,
        recovery=state,
        waiting_page=link_handoff.page_for(context, interaction, of.purpose, uid),
    )
    current, binding = interactions.save_or_start(context, ids, InteractionKind.RETURN, changed)
    return_url = current.state.return_url
    if (
        of is PASSWORD
        and current.state.action == COMPLETED
        and return_url
        and allowed_urls.is_allowed(context, return_url)
    ):
        address = allowed_urls.with_query(return_url, action_completed=COMPLETED)
        return StepResponse(step=RedirectStep(address=address))
    return step(context, current, state).model_copy(update={"binding": binding})


def try_send(
    context: Context,
    interaction_id: str,
    state: PendingRecovery,
    account: Account | None,
    kind: MailKind | None = None,
) -> bool:
    """Send the reset message and return True, unless a limit is reached; simulate it for an unknown identifier."""
    options, of = ResetOptions(interaction_id=interaction_id), state.forgotten
    try:
        if state.by == SMS:
            _ = (
                reset_messages.send_sms(context, account, reset_kind=of)
                if account
                else reset_messages.simulate_sms(context, state.name, reset_kind=of)
            )
        elif account is not None:
            reset_messages.send(
                context, account, options, email=state.name if "@" in state.name else None, kind=kind, reset_kind=of
            )
        else:
            reset_messages.simulate_send(context, state.name, options, reset_kind=of)
    except _NOT_SENT as reason:
        uid = account.uid if account else None
        context.audit.record(f"{of.name}.forgot_not_sent", uid=uid, reason=type(reason).__name__)
        return False
    return True


def step(context: Context, interaction: Interaction, state: PendingRecovery) -> StepResponse:
    number, carries = pending_verification.shown_of(context, interaction, state.forgotten.mail)
    sent = PinSentStep if state.forgotten is PIN else ResetSentStep
    shown = sent(
        sent_to=state.name,
        channel=Channel(state.by),
        resend_in_seconds=_seconds_left(context, state),
        number=number,
        state=link_handoff.state_of(interaction),
        carries=carries,
    )
    return StepResponse(step=shown, interaction_id=interaction.interaction_id)


def _of(interaction: Interaction, session: BrowserSession | None = None) -> PendingRecovery | None:
    """Return the awaited message; None if the user signed in meanwhile in another tab."""
    state = interaction.state.recovery
    is_over = state is not None and session is not None and int(session.authenticated_at.timestamp()) >= state.sent_at
    return None if is_over else state


def _pending(context: Context, interaction_id: str) -> tuple[Interaction | None, PendingRecovery | None]:
    interaction = interactions.find_open(context, interaction_id)
    return interaction, _of(interaction, sessions.current(context)) if interaction is not None else None


def _seconds_left(context: Context, state: PendingRecovery) -> int:
    return resend_delay.seconds_left(context, state.sent_at)


def link_view(context: Context, kind: Purpose, req: LinkLookup) -> RecoveryLinkView:
    """Return the state of a link, and audit the view."""
    stored = one_time_tokens.find_link(context, kind, req.token)
    account = account_store.by_uid(context, stored.uid) if stored is not None else None
    if stored is None or account is None:
        return RecoveryLinkView(state="unknown")
    context.audit.record("password.link_looked_at", uid=stored.uid, by="machine" if req.is_machine else "browser")
    state = _state(context, kind, req.token)
    if (
        kind in (Purpose.RESET_PASSWORD, Purpose.RESET_PIN)
        and state == "open"
        and not reset_messages.is_still_recipient(account, stored)
    ):
        state = "expired"
    view = RecoveryLinkView(state=state, label=label(stored, account), reason=str(stored.facts.get("reason") or ""))
    if state != "open" or kind is not Purpose.RESET_PASSWORD:
        return view
    is_awaited = link_handoff.waiting(context, stored) is not None
    rules = active_policies.password_rules(context, account)
    return view.model_copy(update={"is_awaited": is_awaited, "password_policy": rules})


def label(stored: OneTimeToken, account: Account) -> str:
    return str(stored.facts.get("email") or label_of(account))


def _state(context: Context, kind: Purpose, token: str) -> str:
    try:
        one_time_tokens.peek_link(context, kind, token)
    except errors.UsedLink:
        return "used"
    except errors.ExpiredLink:
        return "expired"
    return "open"


def _with_page(context: Context, interaction: Interaction, refusal: ApiError, state: PendingRecovery) -> ApiError:
    """Return the refusal with the page's data."""
    return pending_verification.with_page_data(
        refusal,
        SentTo(
            sent_to=state.name,
            resend_in_seconds=_seconds_left(context, state),
            number=link_handoff.number_of(interaction),
        ),
    )
