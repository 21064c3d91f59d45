"""Begin a recovery: count the request, and send the link or code without revealing which accounts exist."""

from __future__ import annotations

from app.contract import errors
from app.identity.credentials import reset_messages
from app.identity.credentials.reset_messages import PASSWORD, ResetKind, ResetOptions
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.messaging.messaging import SmsOptions
from app.identity.platform.context import Context
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError


def count_request(context: Context) -> None:
    """Count a recovery request against this address and this tenant; raises TooManyRequests."""
    limits = context.tenant.settings.limits
    context.count_request("forgot", limits.forgot_per_minute_per_address)
    if limits.forgot_per_minute:
        context.count_against("forgot_tenant", Rate(limits.forgot_per_minute, 60))


def send_mail(
    context: Context,
    lookup: AccountLookup,
    account: Account | None,
    options: ResetOptions,
    reset_kind: ResetKind = PASSWORD,
) -> None:
    """Mail to the account of the identifier; for None do the same work and send nothing.

    Raises UnknownAccount, and MailLimitReached unless accounts are hidden.
    """
    try:
        if account is None:
            reset_messages.simulate_send(context, lookup.identifier.value, options, reset_kind=reset_kind)
        else:
            email = lookup.identifier.value if lookup.identifier.kind == "email" else None
            reset_messages.send(context, account, options, email=email, reset_kind=reset_kind)
    except errors.MailLimitReached as reason:
        _raise_unless_hidden(context, lookup, reason)


def send_sms(
    context: Context,
    lookup: AccountLookup,
    account: Account | None,
    options: SmsOptions,
    reset_kind: ResetKind = PASSWORD,
) -> str:
    """Text to the account of the number, as `send_mail` mails; return the Sid of the message, empty where none was sent.

    Raises NoSmsConfiguration, SharedSmsLimitReached, and SmsLimitReached unless accounts are hidden.
    """
    try:
        if account is None:
            return reset_messages.simulate_sms(context, lookup.identifier.value, options, reset_kind=reset_kind)
        return reset_messages.send_sms(context, account, options, reset_kind=reset_kind)
    except errors.SmsLimitReached as reason:
        _raise_unless_hidden(context, lookup, reason)
        return ""


def _raise_unless_hidden(context: Context, lookup: AccountLookup, reason: ApiError) -> None:
    """Raise `reason` unless accounts are hidden, where a limit would reveal an earlier message."""
    if not lookup.is_hidden:
        raise reason
    context.work.rollback()
    uid = lookup.account.uid if lookup.account else None
    context.audit.record("password.forgot_not_sent", uid=uid, reason=type(reason).__name__)
