"""Operations that take a PIN: sign-in, set, change, and reset (user.md U46, U67 to U69, U73 to U77)."""

from __future__ import annotations

from collections.abc import Mapping

from app.contract import errors as e
from app.contract.pins import operations as contract
from app.contract.second_factors.challenge import FactorLogin
from app.contract.shared_responses import Posted
from app.contract.sign_in.operations import Login
from app.identity.authentication.recovery import pin_handlers, recipient
from app.identity.authentication.recovery import sending as recovery_sending
from app.identity.authentication.sign_in import completion, eligibility, locks, password_reset, tenant_requirements
from app.identity.authentication.sign_in.pending_sign_in import Authentication, from_facts
from app.identity.authentication.sign_in.required_parameters import require_parameter
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import MAIL_CODE, SMS_CODE, Purpose
from app.identity.credentials.pins import service as pins
from app.identity.credentials.pins import tokens as pin_tokens
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.directory.accounts.service import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose

METHOD = "pin"  # RFC 8176


@contract.with_pin.implements
def with_pin(context: Context, req: contract.PinLogin) -> FactorLogin:
    """Begin a new session by the PIN; the right PIN uses up the session token."""
    settings = context.tenant.settings
    pins.refuse_disabled(settings)
    if not settings.pin.login:
        raise e.PinLoginOff
    pin, session = require_parameter("pin", req.pin), pin_tokens.find_session(context, req.session_token)
    account = accounts.by_uid(context, session.uid)
    if account is None:
        raise e.UnknownSessionToken
    pins.check(context, account, pin, e.WrongPin)
    # lock the account before its tokens, as every request does, against deadlocks
    account_store.lock(context, account.uid)
    pin_tokens.spend_session(context, session)
    authentication = Authentication(
        (METHOD,), str(session.facts.get("kind") or "email"), suppress_webhook=req.suppress_webhook
    )
    options = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return completion.complete(context, account, authentication, fields=req.fields_, options=options)


@contract.end_session.implements
def end_session(context: Context, req: contract.EndPinSession) -> Posted:
    session = pin_tokens.find_session(context, req.session_token)
    pin_tokens.spend_session(context, session)
    context.audit.record("pin.session_ended", uid=session.uid)
    return Posted()


@contract.set_first.implements
def set_first(context: Context, req: contract.SetPinAtLogin) -> Login:
    """Continue a sign-in that requires a PIN; a refused PIN leaves the token unused. Only one of several concurrent calls succeeds."""
    pins.refuse_disabled(context.tenant.settings)
    if not req.pin_auth_token:
        raise e.BadParameter.names("pinauthtoken")
    token, account = pin_tokens.find_setting_token(context, req.pin_auth_token)
    if not req.pin:
        raise e.PinMissing
    one_time_tokens.refuse_locked(context, account)
    authentication = from_facts(token.facts["way"])
    if (refusal := eligibility.refusal(context, account, authentication.kind)) is not None:
        raise refusal
    pin_hash = pins.hash_new_pin(context, req.pin)
    account_store.lock(context, account.uid)  # as above
    if not continuation_tokens.spend(context, token):
        raise e.UnknownPinToken
    account = pins.set_pin(context, account, pin_hash, pins.SET, suppress_webhook=req.suppress_webhook)
    return completion.to_login(
        completion.begin_session(context, account, authentication, after=tenant_requirements.PIN)
    )


@contract.change.implements
def change(context: Context, req: contract.ChangePin) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    account = accounts.current(context)
    old, new = require_parameter("oldpin", req.old_pin), require_parameter("newpin", req.new_pin)
    change_pin(context, account, old, new, suppress_webhook=req.suppress_webhook)
    return Posted()


def change_pin(context: Context, account: Account, old: str, new: str, *, suppress_webhook: bool = False) -> Account:
    """Change the account's PIN by its current one.

    Raises:
        NoPin, WrongCurrentPin, BadParameter.
        and the refusals of a lock.
    """
    if not account.has_pin:
        raise e.NoPin
    pin_hash = pins.hash_new_pin(context, new, "newpin")
    pins.check(context, account, old, e.WrongCurrentPin)
    locked = account_store.lock(context, account.uid)
    if locked is None or locked.pin != account.pin:
        raise e.WrongCurrentPin
    return pins.set_pin(context, locked, pin_hash, pins.CHANGED, suppress_webhook=suppress_webhook)


@contract.reset_by_token.implements
def reset_by_token(context: Context, req: contract.ResetPinByToken) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    token, new = require_parameter("resettoken", req.reset_token), require_parameter("pin", req.pin)
    password_reset.spend_limit(context)
    try:
        reset_with_link(context, token, new, suppress_webhook=req.suppress_webhook)
    except e.UsedLink:
        raise e.UsedPinLink from None
    return Posted()


def reset_with_link(context: Context, token: str, new: str, *, suppress_webhook: bool = False) -> Account:
    """Set a new PIN by a link; a refused PIN leaves the link unused. Only one of several concurrent calls succeeds.

    Raises:
        UnknownLink, UsedLink, ExpiredLink, AccountBlocked, NoPin, BadParameter.
    """
    unspent = one_time_tokens.peek_link(context, Purpose.RESET_PIN, token)
    account = accounts.by_uid(context, unspent.uid)
    if account is None:
        raise e.UnknownLink
    _require_pin(account)
    if not recovery_sending.is_still_recipient(account, unspent):
        raise e.ExpiredLink
    pin_hash = pins.hash_new_pin(context, new)
    one_time_tokens.spend_link(context, Purpose.RESET_PIN, token)
    return reset_pin(context, account, pin_hash, suppress_webhook=suppress_webhook)


@contract.reset_by_code.implements
def reset_by_code(context: Context, req: contract.ResetPinByCode) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    otp, new = require_parameter("otp", req.otp), require_parameter("pin", req.pin)
    password_reset.spend_limit(context)
    lookup = _read_identifier(context, req)
    channel, errors = (
        (recovery_sending.SMS, SMS_CODE) if lookup.identifier.kind == "phone" else (recovery_sending.MAIL, MAIL_CODE)
    )
    account, pin = (
        pin_handlers.reachable_account(lookup, channel),
        locks.LockSolution(req.security_answer, captcha.from_parameters(req)),
    )
    token, is_lock_solved = password_reset.check_code(
        context, lookup, account, otp, channel, errors, pin, kind=Purpose.RESET_PIN
    )
    if account is None:
        raise errors.wrong
    if not recovery_sending.is_still_recipient(account, token):
        raise errors.closed
    pin_hash = pins.hash_new_pin(context, new)
    one_time_tokens.spend_checked_code(context, token, errors=errors, is_lock_solved=is_lock_solved)
    reset_pin(context, account, pin_hash, suppress_webhook=req.suppress_webhook)
    return Posted()


@contract.reset_by_answer_and_email.implements
def reset_by_answer_and_email(context: Context, req: contract.ResetPinByAnswerAndEmail) -> Posted:
    if not accounts.is_email(require_parameter("email", req.email)):
        raise e.MalformedEmail
    return _by_answer(context, TypedIdentifier("email", req.email or ""), req)


@contract.reset_by_answer_and_phone.implements
def reset_by_answer_and_phone(context: Context, req: contract.ResetPinByAnswerAndPhone) -> Posted:
    return _by_answer(context, TypedIdentifier("phone", require_parameter("phone", req.phone)), req)


@contract.reset_by_answer_and_username.implements
def reset_by_answer_and_username(context: Context, req: contract.ResetPinByAnswerAndUsername) -> Posted:
    return _by_answer(context, TypedIdentifier("username", require_parameter("username", req.username)), req)


def reset_pin(context: Context, account: Account, pin_hash: str, *, suppress_webhook: bool = False) -> Account:
    """Replace a forgotten PIN, and end the account's PIN sessions and step-ups.

    An attacker who reads the account's mails on a stolen phone cannot continue them.
    """
    changed = pins.set_pin(context, account, pin_hash, pins.RESET, suppress_webhook=suppress_webhook)
    continuation_tokens.revoke_all(context, account.uid, ContinuationPurpose.PIN_SESSION, ContinuationPurpose.STEP_UP)
    return changed


def _by_answer(context: Context, name: TypedIdentifier, req: contract.ResetPinByAnswer) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    password_reset.require_answers(context, req.security_answer)
    new = require_parameter("pin", req.pin)
    password_reset.spend_limit(context)
    account = _verify_answers(context, recipient.find(context, name.kind, name.value), req.security_answer or {})
    reset_pin(context, account, pins.hash_new_pin(context, new), suppress_webhook=req.suppress_webhook)
    return Posted()


def reset_with_answers(context: Context, lookup: AccountLookup, pin: Mapping[str, str], pin_hash: str) -> Account:
    """Replace the PIN of an account if all of its security answers are given.

    Raises:
        NoPin, and the errors of `password_reset.verify_answers`.
    """
    return reset_pin(context, _verify_answers(context, lookup, pin), pin_hash)


def _verify_answers(context: Context, lookup: AccountLookup, pin: Mapping[str, str]) -> Account:
    account = password_reset.verify_answers(context, lookup, pin)
    _require_pin(account)
    return account


def _require_pin(account: Account) -> None:
    recipient.refuse_closed(account)
    if not account.has_pin:
        raise e.NoPin


def _read_identifier(context: Context, req: contract.ResetPinByCode) -> AccountLookup:
    kinds = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if not kinds:
        raise e.BadParameter.names(req.type)
    if len(kinds) > 1:
        raise e.BadParameter("Exactly one identifier is expected.")
    if req.email and not accounts.is_email(req.email):
        raise e.MalformedEmail
    return recipient.find(context, kinds[0], getattr(req, kinds[0]))
