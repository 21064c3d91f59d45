"""Operations that change a PIN or reset a forgotten one.

Those that begin a reset hide accounts like the recovery of passwords.
"""

from __future__ import annotations

from app.contract import errors
from app.contract.pins import pin_operations
from app.contract.shared_responses import Posted, PostedSms
from app.identity.authentication.recovery import password_reset, pin_reset, recipient, recovery_requests
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.credentials import reset_messages
from app.identity.credentials.captcha import answers
from app.identity.credentials.pins import pins
from app.identity.credentials.reset_messages import PIN, ResetOptions
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.input_checks import require_parameter
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.messaging import messaging
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


@pin_operations.forgot_by_email.implements
def forgot_by_email(context: Context, req: pin_operations.ForgotPinByEmail) -> Posted:
    if not req.email:
        raise errors.BadParameter.names("email")
    pins.refuse_disabled(context.tenant.settings)
    if not accounts.is_email(req.email):
        raise errors.MalformedEmail
    return _send_mail(
        context,
        recipient.find(context, "email", req.email),
        ResetOptions(req.reset_pin_url, req.email_template),
        errors.UnknownAccount,
    )


@pin_operations.forgot_by_username.implements
def forgot_by_username(context: Context, req: pin_operations.ForgotPinByUsername) -> Posted:
    if not req.username:
        raise errors.BadParameter.names("username")
    pins.refuse_disabled(context.tenant.settings)
    lookup = recipient.find(context, "username", req.username)
    return _send_mail(context, lookup, ResetOptions(req.reset_pin_url, req.email_template), errors.UnknownUsername)


@pin_operations.forgot_by_sms.implements
def forgot_by_sms(context: Context, req: pin_operations.ForgotPinBySms) -> PostedSms:
    """Text a code; an unverified number is refused like an unknown one, with NotAuthenticated."""
    if not req.phone:
        raise errors.BadParameter.names("phone")
    pins.refuse_disabled(context.tenant.settings)
    if identifiers.normalize_phone(req.phone) is None:
        raise errors.UnknownPhone
    recovery_requests.count_request(context)
    lookup = recipient.find(context, "phone", req.phone)
    account = recipient.reachable_account_with_pin(lookup, reset_messages.SMS, errors.NotAuthenticated)
    if account is not None and not account.phone_verified:
        raise errors.NotAuthenticated
    return messaging.posted_sms(context, recovery_requests.send_sms(context, lookup, account, req, PIN))


@pin_operations.change.implements
def change(context: Context, req: pin_operations.ChangePin) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    account = accounts.current(context)
    old, new = require_parameter("oldpin", req.old_pin), require_parameter("newpin", req.new_pin)
    pins.change(context, account, old, new)
    return Posted()


@pin_operations.reset_by_token.implements
def reset_by_token(context: Context, req: pin_operations.ResetPinByToken) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    token, new = require_parameter("resettoken", req.reset_token), require_parameter("pin", req.pin)
    password_reset.count_attempt(context)
    try:
        pin_reset.reset_with_link(context, token, new)
    except errors.UsedLink:
        raise errors.UsedPinLink from None
    return Posted()


@pin_operations.reset_by_code.implements
def reset_by_code(context: Context, req: pin_operations.ResetPinByCode) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    otp, new = require_parameter("otp", req.otp), require_parameter("pin", req.pin)
    password_reset.count_attempt(context)
    solution = LockSolution(req.security_answer, answers.from_parameters(req))
    pin_reset.reset_with_code(context, _read_identifier(context, req), otp, new, solution)
    return Posted()


@pin_operations.reset_by_answer_and_email.implements
def reset_by_answer_and_email(context: Context, req: pin_operations.ResetPinByAnswerAndEmail) -> Posted:
    if not accounts.is_email(require_parameter("email", req.email)):
        raise errors.MalformedEmail
    return _by_answer(context, "email", req.email or "", req)


@pin_operations.reset_by_answer_and_phone.implements
def reset_by_answer_and_phone(context: Context, req: pin_operations.ResetPinByAnswerAndPhone) -> Posted:
    return _by_answer(context, "phone", require_parameter("phone", req.phone), req)


@pin_operations.reset_by_answer_and_username.implements
def reset_by_answer_and_username(context: Context, req: pin_operations.ResetPinByAnswerAndUsername) -> Posted:
    return _by_answer(context, "username", require_parameter("username", req.username), req)


def _send_mail(context: Context, lookup: AccountLookup, options: ResetOptions, unknown: type[ApiError]) -> Posted:
    recovery_requests.count_request(context)
    reset_messages.refuse_url(context, options.url, errors.PinUrlRefused)
    account = recipient.reachable_account_with_pin(lookup, reset_messages.MAIL, unknown)
    recovery_requests.send_mail(context, lookup, account, options, PIN)
    return Posted()


def _by_answer(context: Context, kind: str, value: str, req: pin_operations.ResetPinByAnswer) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    password_reset.require_answers(context, req.security_answer)
    new = require_parameter("pin", req.pin)
    password_reset.count_attempt(context)
    lookup = recipient.find(context, kind, value)
    account = pin_reset.verify_answers(context, lookup, req.security_answer or {})
    pin_reset.set_pin(context, account, pins.hash_new_pin(context, new))
    return Posted()


def _read_identifier(context: Context, req: pin_operations.ResetPinByCode) -> AccountLookup:
    kinds = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if not kinds:
        raise errors.BadParameter.names(req.type)
    if len(kinds) > 1:
        raise errors.BadParameter("Exactly one identifier is expected.")
    if req.email and not accounts.is_email(req.email):
        raise errors.MalformedEmail
    return recipient.find(context, kinds[0], getattr(req, kinds[0]))
