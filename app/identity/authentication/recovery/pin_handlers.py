"""Operations that begin to reset a forgotten PIN.

They hide accounts like the recovery of passwords.
"""

from __future__ import annotations

from app.contract import errors as e
from app.contract.pins import operations as contract
from app.contract.shared_responses import Posted, PostedSms, SmsSent
from app.identity.authentication.recovery import recipient
from app.identity.authentication.recovery import sending as recovery_sending
from app.identity.authentication.recovery.handlers import raise_unless_hidden, spend_limits
from app.identity.authentication.recovery.sending import PIN, ResetOptions
from app.identity.credentials.pins import service as pins
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.accounts.service import Account
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.operations.errors import ApiError


def reachable_account(lookup: AccountLookup, by: str, unknown: type[ApiError] = e.UnknownAccount) -> Account | None:
    """Return the account whose PIN can be reset by mail or SMS; None where it must look unknown.

    Raises, unless accounts are hidden:
        unknown: no account has the identifier.
        AccountBlocked, NoPin: the account may not recover, or has no PIN.
    """
    try:
        account = recipient.reachable_account(lookup, by)
    except e.UnknownAccount:
        raise unknown from None
    if account is None or account.has_pin:
        return account
    if not lookup.is_hidden:
        raise e.NoPin
    return None


@contract.forgot_by_email.implements
def forgot_by_email(context: Context, req: contract.ForgotPinByEmail) -> Posted:
    if not req.email:
        raise e.BadParameter.names("email")
    pins.refuse_disabled(context.tenant.settings)
    if not accounts.is_email(req.email):
        raise e.MalformedEmail
    return _send_mail(
        context,
        recipient.find(context, "email", req.email),
        ResetOptions(req.reset_pin_url, req.email_template),
        e.UnknownAccount,
    )


@contract.forgot_by_username.implements
def forgot_by_username(context: Context, req: contract.ForgotPinByUsername) -> Posted:
    if not req.username:
        raise e.BadParameter.names("username")
    pins.refuse_disabled(context.tenant.settings)
    lookup = recipient.find(context, "username", req.username)
    return _send_mail(context, lookup, ResetOptions(req.reset_pin_url, req.email_template), e.UnknownUsername)


@contract.forgot_by_sms.implements
def forgot_by_sms(context: Context, req: contract.ForgotPinBySms) -> PostedSms:
    """Text a code; an unverified number is refused like an unknown one, with NotAuthenticated."""
    if not req.phone:
        raise e.BadParameter.names("phone")
    pins.refuse_disabled(context.tenant.settings)
    if identifiers.normalize_phone(req.phone) is None:
        raise e.UnknownPhone
    spend_limits(context)
    lookup = recipient.find(context, "phone", req.phone)
    account = reachable_account(lookup, recovery_sending.SMS, e.NotAuthenticated)
    if account is not None and not account.phone_verified:
        raise e.NotAuthenticated
    sid = ""
    try:
        if account is not None:
            sid = recovery_sending.send_sms(context, account, req, reset_kind=PIN)
        else:
            sid = recovery_sending.simulate_sms(context, lookup.identifier.value, req, reset_kind=PIN)
    except e.SmsLimitReached as reason:
        raise_unless_hidden(context, lookup, reason)
    return PostedSms(data=SmsSent(account_sid=messaging.account_sid(context), sid=sid or f"SM{randomness.uid()}"))


def _send_mail(context: Context, lookup: AccountLookup, options: ResetOptions, unknown: type[ApiError]) -> Posted:
    spend_limits(context)
    recovery_sending.refuse_url(context, options.url, e.PinUrlRefused)
    account = reachable_account(lookup, recovery_sending.MAIL, unknown)
    try:
        if account is None:
            recovery_sending.simulate_send(context, lookup.identifier.value, options, reset_kind=PIN)
        else:
            email = lookup.identifier.value if lookup.identifier.kind == "email" else None
            recovery_sending.send(context, account, options, email=email, reset_kind=PIN)
    except e.MailLimitReached as reason:
        raise_unless_hidden(context, lookup, reason)
    return Posted()
