"""Sign-in tokens and codes that the tenant's servers deliver themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from app.contract import errors
from app.contract.passwordless.smart_login_operations import GUID
from app.contract.verification import generated_token_operations
from app.identity.authentication.passwordless import passwordless_sending, redemption, smart_login
from app.identity.authentication.passwordless.passwordless_sending import (
    ONE_TOUCH,
    SIGN_IN,
    SMART_LOGIN,
    SendOptions,
    SignInMessage,
)
from app.identity.credentials import reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.reset_messages import MAIL, SMS
from app.identity.directory.accounts import accounts, identifiers, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.kit.clock import iso

TokenAndMinutes = tuple[str, int]


def create_email_token(
    context: Context, kind: str, req: generated_token_operations.EmailTokenRequest
) -> generated_token_operations.EmailToken:
    """Return the token or code that an email of this kind would contain. Raises PasswordlessOff, SmartLoginOff, OneTouchOff."""
    account, (token, minutes) = EMAIL_TOKENS[kind](context, req)
    context.audit.record("token.made", uid=account.uid if account else None, kind=kind)
    providers = linked_identities.providers_of(account) if account is not None else []
    return generated_token_operations.EmailToken(
        token=token, expires_in=expiry(context, minutes * 60), identity_providers=providers
    )


def create_sms_code(
    context: Context, kind: str, req: generated_token_operations.SmsCodeRequest
) -> generated_token_operations.SmsCode:
    """Return the code that a text message of this kind would contain.

    Raises PasswordlessOff, SmartLoginOff, OneTouchOff, PhoneLoginOff.
    """
    account, code = SMS_CODES[kind](context, req)
    context.audit.record("code.made", uid=account.uid if account else None, kind=kind)
    return generated_token_operations.SmsCode(token=code, expires_in=expiry(context, one_time_tokens.CODE_MINUTES * 60))


def require_account(context: Context, req: generated_token_operations.EmailTokenRequest) -> Account:
    """Return the account by the first given of uid, email and username."""
    if req.uid:
        return accounts.require(context, req.uid)
    if req.email:
        return accounts.require_by_email(context, req.email)
    account = accounts.by_username(context, req.username) if req.username else None
    if account is None:
        raise errors.UnknownAccount if req.username else errors.EmailOrUsernameMissing
    return account


def require_by_phone(context: Context, phone: str | None) -> Account:
    if not phone:
        raise errors.PhoneMissing
    account = accounts.by_phone(context, phone)
    if account is None:
        raise errors.UnknownPhone
    return account


def expiry(context: Context, seconds: int) -> str:
    """Return the time when a lifetime of so many seconds ends."""
    return iso(context.now + timedelta(seconds=seconds)) or ""


def _passwordless_email(
    context: Context, req: generated_token_operations.EmailTokenRequest
) -> tuple[Account | None, TokenAndMinutes]:
    if not context.tenant.settings.passwordless_email:
        raise errors.PasswordlessOff
    account = require_account(context, req)
    one_time_tokens.count_server_supplied(context, account.uid, is_code=False)
    return account, _link_or_code(context, SIGN_IN, account, req.email or account.email or "", SendOptions())


def _smart_login_email(
    context: Context, req: generated_token_operations.EmailTokenRequest
) -> tuple[Account | None, TokenAndMinutes]:
    if not context.tenant.settings.smart_login:
        raise errors.SmartLoginOff
    account = require_account(context, req)
    one_time_tokens.count_server_supplied(context, account.uid, is_code=False)
    device_hash = smart_login.begin(context, _guid(req.client_guid), account).token_hash
    return account, _link_or_code(
        context, SMART_LOGIN, account, req.email or account.email or "", SendOptions(), device_hash
    )


def _one_touch_email(
    context: Context, req: generated_token_operations.EmailTokenRequest
) -> tuple[Account | None, TokenAndMinutes]:
    """The token registers an unknown address, so no account is required."""
    if not context.tenant.settings.one_touch:
        raise errors.OneTouchOff
    if not req.email:
        raise errors.EmailMissing
    if not accounts.is_email(req.email):
        raise errors.MalformedEmail
    account = accounts.by_email(context, req.email)
    if account is None:
        redemption.refuse_registration(context, email=req.email)
    one_time_tokens.count_server_supplied(
        context, account.uid if account else reset_messages.unknown_subject(req.email), is_code=False
    )
    options = SendOptions(registers=True, name=req.name or "")
    device_hash = smart_login.begin(context, _guid(req.client_guid), None, **options.facts).token_hash
    return account, _link_or_code(context, ONE_TOUCH, None, req.email, options, device_hash)


def _link_or_code(
    context: Context,
    kind: SignInMessage,
    account: Account | None,
    name: str,
    options: SendOptions,
    device_hash: str | None = None,
) -> TokenAndMinutes:
    """Return a code instead of a link's token if the tenant's emails of that kind contain only a code."""
    if passwordless_sending.carries_code(context, kind):
        return passwordless_sending.create_code(context, kind.purpose, account, name, MAIL, options, device_hash)
    return passwordless_sending.create_link(
        context, kind, account, name, options, device_hash
    ), passwordless_sending.link_minutes(context)


def _passwordless_sms(context: Context, req: generated_token_operations.SmsCodeRequest) -> tuple[Account | None, str]:
    if not context.tenant.settings.passwordless_sms:
        raise errors.PasswordlessOff
    account = _account_with_verified_phone(context, req)
    return account, passwordless_sending.create_code(context, Purpose.SIGN_IN, account, "", SMS, SendOptions())[0]


def _smart_login_sms(context: Context, req: generated_token_operations.SmsCodeRequest) -> tuple[Account | None, str]:
    """Approve the device named by `clientguid`; without it the code could approve an attacker's device."""
    if not context.tenant.settings.smart_login:
        raise errors.SmartLoginOff
    account = _account_with_verified_phone(context, req)
    device_hash = smart_login.begin(context, _guid(req.client_guid), account).token_hash
    return account, passwordless_sending.create_code(
        context, Purpose.SMART_LOGIN, account, "", SMS, SendOptions(), device_hash
    )[0]


def _one_touch_sms(context: Context, req: generated_token_operations.SmsCodeRequest) -> tuple[Account | None, str]:
    if not context.tenant.settings.one_touch:
        raise errors.OneTouchOff
    _refuse_numbers_off(context)
    if not req.phone:
        raise errors.PhoneMissing
    form = identifiers.normalize_phone(req.phone)
    if form is None:
        raise errors.UnknownPhone
    account = accounts.by_phone(context, form)
    if account is None:
        redemption.refuse_registration(context)
    one_time_tokens.count_server_supplied(
        context, account.uid if account else reset_messages.unknown_subject(form), is_code=True
    )
    options = SendOptions(registers=True, name=req.name or "")
    return account, passwordless_sending.create_code(context, Purpose.ONE_TOUCH, None, form, SMS, options)[0]


def _account_with_verified_phone(context: Context, req: generated_token_operations.SmsCodeRequest) -> Account:
    """Return the account with this verified number."""
    _refuse_numbers_off(context)
    account = require_by_phone(context, req.phone)
    if not account.phone_verified:
        raise errors.PhoneUnverified
    one_time_tokens.count_server_supplied(context, account.uid, is_code=True)
    return account


def _refuse_numbers_off(context: Context) -> None:
    if not context.tenant.settings.phone_login:
        raise errors.PhoneLoginOff


def _guid(guid: str | None) -> str:
    if not guid or not re.match(GUID, guid):
        raise errors.BadParameter.names("clientguid")
    return guid


EMAIL_TOKENS: dict[
    str, Callable[[Context, generated_token_operations.EmailTokenRequest], tuple[Account | None, TokenAndMinutes]]
] = {
    "passwordlesslogin": _passwordless_email,
    "autologin": _smart_login_email,
    "onetouchlogin": _one_touch_email,
}
SMS_CODES: dict[str, Callable[[Context, generated_token_operations.SmsCodeRequest], tuple[Account | None, str]]] = {
    "passwordlesslogin": _passwordless_sms,
    "smartlogin": _smart_login_sms,
    "onetouchlogin": _one_touch_sms,
}
