"""One-time tokens and codes that the tenant's servers deliver themselves (interface account.md rows A18 to A21)."""

from __future__ import annotations

from collections.abc import Callable

from app.contract import errors as e
from app.contract import generated_tokens as contract
from app.identity.authentication.recovery import sending
from app.identity.authentication.verification import service as verification
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import Purpose
from app.identity.credentials.pins import service as pins
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.identity.programs.management import presented_sign_ins
from app.identity.programs.self_service import deletion, emails
from app.identity.programs.self_service.emails import NewAddress

FORGOT_PIN = "forgotpin"


def _uid(req: contract.EmailTokenRequest | contract.SmsCodeRequest) -> str:
    if not req.uid:
        raise e.BadParameter.names("uid")
    return req.uid


@contract.verify_token.implements
def verify_token(context: Context, req: contract.VerificationTokenRequest) -> contract.VerificationToken:
    return _verify_token(context, req.email, one_time_tokens.LINK_MINUTES * 60)


@contract.read_verify_token.implements
def read_verify_token(context: Context, req: contract.VerificationTokenQuery) -> contract.VerificationToken:
    if req.vtype.lower() != "email":
        raise e.BadParameter("The vtype is not formatted correctly: email is expected.")
    return _verify_token(context, req.email, req.expires_in or one_time_tokens.LINK_MINUTES * 60)


@contract.mail_token.implements
def mail_token(context: Context, req: contract.EmailTokenRequest) -> contract.EmailToken:
    kind = req.token_type.lower().removesuffix("token")
    if kind in presented_sign_ins.MAILED:
        return presented_sign_ins.mailed(context, kind, req)
    if kind not in _MAIL_TOKENS:
        raise e.WrongTokenType
    if kind == FORGOT_PIN:
        pins.refuse_disabled(context.tenant.settings)
    account = accounts.require(context, _uid(req)) if kind == "addemail" else presented_sign_ins.addressed(context, req)
    one_time_tokens.spend_server_supplied(context, account.uid, is_code=False)
    token, minutes = _MAIL_TOKENS[kind](context, account, req)
    context.audit.record("token.made", uid=account.uid, kind=kind)
    providers = ["Email"] if account.password_hash else []
    return contract.EmailToken(
        token=token, expires_in=presented_sign_ins.end(context, minutes * 60), identity_providers=providers
    )


@contract.sms_code.implements
def sms_code(context: Context, req: contract.SmsCodeRequest) -> contract.SmsCode:
    kind = req.sms_otp_type.lower()
    if kind in presented_sign_ins.TEXTED:
        return presented_sign_ins.texted(context, kind, req)
    if kind not in _SMS_CODES:
        raise e.WrongCodeType
    if kind == FORGOT_PIN:
        pins.refuse_disabled(context.tenant.settings)
    if not context.tenant.settings.phone_login and kind not in ("deleteuser", FORGOT_PIN):
        raise e.PhoneLoginOff
    account = (
        accounts.require(context, _uid(req))
        if kind == "addphone"
        else presented_sign_ins.with_phone(context, req.phone)
    )
    one_time_tokens.spend_server_supplied(context, account.uid, is_code=True)
    code = _SMS_CODES[kind](context, account, req)
    context.audit.record("code.made", uid=account.uid, kind=kind)
    minutes = context.tenant.settings.reset_code_minutes if kind in _RESETS else one_time_tokens.CODE_MINUTES
    return contract.SmsCode(token=code, expires_in=presented_sign_ins.end(context, minutes * 60))


def _verify_token(context: Context, email: str | None, seconds: int) -> contract.VerificationToken:
    account = accounts.require_by_email(context, email)
    _refuse_verified(context, account, email or "")
    one_time_tokens.spend_server_supplied(context, account.uid, is_code=False)
    token = verification.create_token(context, account, email or "", max(1, seconds // 60))
    context.audit.record("token.made", uid=account.uid, kind="emailverification")
    return contract.VerificationToken(verification_token=token, expires_in=presented_sign_ins.end(context, seconds))


def _refuse_verified(context: Context, account: Account, email: str) -> None:
    if context.tenant.settings.email_verification == "disabled":
        raise e.EmailVerificationOff
    if verification.is_verified(account, email):
        raise e.EmailVerifiedBefore


def _of_verification(context: Context, account: Account, req: contract.EmailTokenRequest) -> tuple[str, int]:
    email = req.email or account.email or ""
    _refuse_verified(context, account, email)
    if context.tenant.settings.email_verification_codes:
        return verification.create_code(context, account, email), one_time_tokens.CODE_MINUTES
    return verification.create_token(context, account, email), one_time_tokens.LINK_MINUTES


def _of_another_address(context: Context, account: Account, req: contract.EmailTokenRequest) -> tuple[str, int]:
    return emails.token_only(
        context, account, NewAddress(req.email or "", req.type or "")
    ), one_time_tokens.LINK_MINUTES


def _of_a_reset(context: Context, account: Account, req: contract.EmailTokenRequest) -> tuple[str, int]:
    if context.tenant.settings.reset_password_codes:
        return sending.create_code(context, account, sending.MAIL, email=req.email)
    return sending.create_token(
        context, account, sending.ResetOptions(), email=req.email
    ), one_time_tokens.RESET_MINUTES


def _of_a_pin(context: Context, account: Account, req: contract.EmailTokenRequest) -> tuple[str, int]:
    _refuse_without_pin(account)
    return sending.create_token(
        context, account, sending.ResetOptions(), email=req.email, reset_kind=sending.PIN
    ), one_time_tokens.RESET_MINUTES


def _of_a_pin_by_sms(context: Context, account: Account, _: contract.SmsCodeRequest) -> str:
    _refuse_without_pin(account)
    return sending.create_code(context, account, sending.SMS, reset_kind=sending.PIN)[0]


def _refuse_without_pin(account: Account) -> None:
    if not account.has_pin:
        raise e.NoPin


def _of_the_end(context: Context, account: Account, _: contract.EmailTokenRequest) -> tuple[str, int]:
    return deletion.token_only(context, account), one_time_tokens.LINK_MINUTES


def _of_a_new_number(context: Context, account: Account, req: contract.SmsCodeRequest) -> str:
    if not req.phone:
        raise e.PhoneMissing
    form = identifiers.normalize_phone(req.phone)
    if form is None:
        raise e.UnknownPhone
    holder = accounts.by_phone(context, form)
    if holder is not None and holder.uid != account.uid:
        raise e.PhoneTaken
    return one_time_tokens.new_code(context, Purpose.PHONE, account.uid, subject=form)


def _of_the_number(context: Context, account: Account, _: contract.SmsCodeRequest) -> str:
    if account.phone_verified:
        raise e.PhoneVerifiedBefore
    return one_time_tokens.new_code(context, Purpose.PHONE, account.uid, subject=account.phone or "")


_MAIL_TOKENS: dict[str, Callable[[Context, Account, contract.EmailTokenRequest], tuple[str, int]]] = {
    "emailverification": _of_verification,
    "addemail": _of_another_address,
    "forgotpassword": _of_a_reset,
    FORGOT_PIN: _of_a_pin,
    "deleteuser": _of_the_end,
}
_RESETS = ("forgotpassword", FORGOT_PIN)
_SMS_CODES: dict[str, Callable[[Context, Account, contract.SmsCodeRequest], str]] = {
    "addphone": _of_a_new_number,
    "phoneidverification": _of_the_number,
    "forgotpassword": lambda context, account, _: sending.create_code(context, account, sending.SMS)[0],
    FORGOT_PIN: _of_a_pin_by_sms,
    "deleteuser": lambda context, account, _: deletion.code_only(context, account),
}
