"""One-time tokens and codes that the tenant's servers deliver themselves."""

from __future__ import annotations

from collections.abc import Callable

from app.contract import errors
from app.contract.verification import generated_token_operations
from app.identity.authentication.verification import email_verification
from app.identity.credentials import reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.pins import pins
from app.identity.directory.accounts import accounts, identifiers, linked_identities
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.platform.context import Context
from app.identity.public_api.management import generated_sign_in_tokens
from app.identity.use_cases.accounts import change_emails, deletion
from app.identity.use_cases.accounts.change_emails import NewEmail

FORGOT_PIN = "forgotpin"


def _uid(req: generated_token_operations.EmailTokenRequest | generated_token_operations.SmsCodeRequest) -> str:
    if not req.uid:
        raise errors.BadParameter.names("uid")
    return req.uid


@generated_token_operations.verify_token.implements
def verify_token(
    context: Context, req: generated_token_operations.VerificationTokenRequest
) -> generated_token_operations.VerificationToken:
    return _verify_token(context, req.email, one_time_tokens.LINK_MINUTES * 60)


@generated_token_operations.read_verify_token.implements
def read_verify_token(
    context: Context, req: generated_token_operations.VerificationTokenQuery
) -> generated_token_operations.VerificationToken:
    if req.vtype.lower() != "email":
        raise errors.BadParameter("The vtype is not formatted correctly: email is expected.")
    return _verify_token(context, req.email, req.expires_in or one_time_tokens.LINK_MINUTES * 60)


@generated_token_operations.mail_token.implements
def mail_token(
    context: Context, req: generated_token_operations.EmailTokenRequest
) -> generated_token_operations.EmailToken:
    kind = req.token_type.lower().removesuffix("token")
    if kind in generated_sign_in_tokens.EMAIL_TOKENS:
        return generated_sign_in_tokens.create_email_token(context, kind, req)
    if kind not in _MAIL_TOKENS:
        raise errors.WrongTokenType
    if kind == FORGOT_PIN:
        pins.refuse_disabled(context.tenant.settings)
    account = (
        accounts.require(context, _uid(req))
        if kind == "addemail"
        else generated_sign_in_tokens.require_account(context, req)
    )
    one_time_tokens.count_server_supplied(context, account.uid, is_code=False)
    token, minutes = _MAIL_TOKENS[kind](context, account, req)
    context.audit.record("token.made", uid=account.uid, kind=kind)
    providers = linked_identities.providers_of(account)
    return generated_token_operations.EmailToken(
        token=token, expires_in=generated_sign_in_tokens.expiry(context, minutes * 60), identity_providers=providers
    )


@generated_token_operations.sms_code.implements
def sms_code(context: Context, req: generated_token_operations.SmsCodeRequest) -> generated_token_operations.SmsCode:
    kind = req.sms_otp_type.lower()
    if kind in generated_sign_in_tokens.SMS_CODES:
        return generated_sign_in_tokens.create_sms_code(context, kind, req)
    if kind not in _SMS_CODES:
        raise errors.WrongCodeType
    if kind == FORGOT_PIN:
        pins.refuse_disabled(context.tenant.settings)
    if not context.tenant.settings.phone_login and kind not in ("deleteuser", FORGOT_PIN):
        raise errors.PhoneLoginOff
    account = (
        accounts.require(context, _uid(req))
        if kind == "addphone"
        else generated_sign_in_tokens.require_by_phone(context, req.phone)
    )
    one_time_tokens.count_server_supplied(context, account.uid, is_code=True)
    code = _SMS_CODES[kind](context, account, req)
    context.audit.record("code.made", uid=account.uid, kind=kind)
    minutes = context.tenant.settings.reset_code_minutes if kind in _RESETS else one_time_tokens.CODE_MINUTES
    return generated_token_operations.SmsCode(
        token=code, expires_in=generated_sign_in_tokens.expiry(context, minutes * 60)
    )


def _verify_token(context: Context, email: str | None, seconds: int) -> generated_token_operations.VerificationToken:
    account = accounts.require_by_email(context, email)
    _refuse_verified(context, account, email or "")
    one_time_tokens.count_server_supplied(context, account.uid, is_code=False)
    token = email_verification.create_token(context, account, email or "", max(1, seconds // 60))
    context.audit.record("token.made", uid=account.uid, kind="emailverification")
    return generated_token_operations.VerificationToken(
        verification_token=token, expires_in=generated_sign_in_tokens.expiry(context, seconds)
    )


def _refuse_verified(context: Context, account: Account, email: str) -> None:
    if context.tenant.settings.email_verification == "disabled":
        raise errors.EmailVerificationOff
    if is_verified(account, email):
        raise errors.EmailVerifiedBefore


def _verification_token(
    context: Context, account: Account, req: generated_token_operations.EmailTokenRequest
) -> tuple[str, int]:
    email = req.email or account.email or ""
    _refuse_verified(context, account, email)
    if context.tenant.settings.email_verification_codes:
        return email_verification.create_code(context, account, email), one_time_tokens.CODE_MINUTES
    return email_verification.create_token(context, account, email), one_time_tokens.LINK_MINUTES


def _added_email_token(
    context: Context, account: Account, req: generated_token_operations.EmailTokenRequest
) -> tuple[str, int]:
    return change_emails.token_only(
        context, account, NewEmail(req.email or "", req.type or "")
    ), one_time_tokens.LINK_MINUTES


def _password_reset_token(
    context: Context, account: Account, req: generated_token_operations.EmailTokenRequest
) -> tuple[str, int]:
    if context.tenant.settings.reset_password_codes:
        return reset_messages.create_code(context, account, reset_messages.MAIL, email=req.email)
    return reset_messages.create_token(
        context, account, reset_messages.ResetOptions(), email=req.email
    ), one_time_tokens.RESET_MINUTES


def _pin_reset_token(
    context: Context, account: Account, req: generated_token_operations.EmailTokenRequest
) -> tuple[str, int]:
    _refuse_without_pin(account)
    return reset_messages.create_token(
        context, account, reset_messages.ResetOptions(), email=req.email, reset_kind=reset_messages.PIN
    ), one_time_tokens.RESET_MINUTES


def _pin_reset_code(context: Context, account: Account, _: generated_token_operations.SmsCodeRequest) -> str:
    _refuse_without_pin(account)
    return reset_messages.create_code(context, account, reset_messages.SMS, reset_kind=reset_messages.PIN)[0]


def _refuse_without_pin(account: Account) -> None:
    if not account.has_pin:
        raise errors.NoPin


def _deletion_token(
    context: Context, account: Account, _: generated_token_operations.EmailTokenRequest
) -> tuple[str, int]:
    return deletion.token_only(context, account), one_time_tokens.LINK_MINUTES


def _added_phone_code(context: Context, account: Account, req: generated_token_operations.SmsCodeRequest) -> str:
    if not req.phone:
        raise errors.PhoneMissing
    normalized = identifiers.normalize_phone(req.phone)
    if normalized is None:
        raise errors.UnknownPhone
    holder = accounts.by_phone(context, normalized)
    if holder is not None and holder.uid != account.uid:
        raise errors.PhoneTaken
    return one_time_tokens.new_code(context, Purpose.PHONE, account.uid, subject=normalized)


def _phone_verification_code(context: Context, account: Account, _: generated_token_operations.SmsCodeRequest) -> str:
    if account.phone_verified:
        raise errors.PhoneVerifiedBefore
    return one_time_tokens.new_code(context, Purpose.PHONE, account.uid, subject=account.phone or "")


_MAIL_TOKENS: dict[str, Callable[[Context, Account, generated_token_operations.EmailTokenRequest], tuple[str, int]]] = {
    "emailverification": _verification_token,
    "addemail": _added_email_token,
    "forgotpassword": _password_reset_token,
    FORGOT_PIN: _pin_reset_token,
    "deleteuser": _deletion_token,
}
_RESETS = ("forgotpassword", FORGOT_PIN)
_SMS_CODES: dict[str, Callable[[Context, Account, generated_token_operations.SmsCodeRequest], str]] = {
    "addphone": _added_phone_code,
    "phoneidverification": _phone_verification_code,
    "forgotpassword": lambda context, account, _: reset_messages.create_code(context, account, reset_messages.SMS)[0],
    FORGOT_PIN: _pin_reset_code,
    "deleteuser": lambda context, account, _: deletion.code_only(context, account),
}
