"""Operations of phone numbers that begin no session."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts import phone_operations
from app.contract.shared_responses import Deleted, PostedSms
from app.identity.authentication.verification import phone_verification
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.messaging import messaging
from app.identity.messaging.messaging import SmsOptions
from app.identity.platform.context import Context


@phone_operations.send_code.implements
def send_code(context: Context, req: phone_operations.SendPhoneCode) -> PostedSms:
    """Send to the account with the number; with an access token, to the number that the account requested last."""
    phone_verification.require_enabled(context)
    phone_verification.count_code_request(context, "phone_code")
    phone = phone_verification.parse_phone(req.phone)
    if context.holder is not None:
        return messaging.posted_sms(context, _resend(context, phone, req))
    account = phone_verification.verifiable_account(context, phone)
    if context.tenant.settings.hide_unknown_accounts:
        return messaging.posted_sms(context, _send_hidden(context, account, phone, req))
    if account is None:
        raise errors.UnknownAccount
    if not account.is_active or account.is_deleted:
        raise errors.AccountBlocked
    if account.phone_verified:
        raise errors.PhoneVerifiedBefore
    return messaging.posted_sms(context, phone_verification.send(context, account.uid, phone, account, req))


@phone_operations.change.implements
def change(context: Context, req: phone_operations.ChangePhone) -> PostedSms:
    phone_verification.require_enabled(context)
    account = accounts.current(context)
    if not req.phone:
        raise errors.BadParameter.names("phone")
    phone = identifiers.normalize_phone(req.phone)
    if phone is None:
        raise errors.MalformedPhone
    is_hidden = context.tenant.settings.hide_unknown_accounts
    return messaging.posted_sms(
        context, phone_verification.request_change(context, account, phone, req, hides_taken=is_hidden)
    )


@phone_operations.remove.implements
def remove(context: Context, req: phone_operations.RemovePhone) -> Deleted:
    phone_verification.require_enabled(context)
    phone_verification.remove(context, accounts.current(context))
    return Deleted()


def _resend(context: Context, phone: str, options: SmsOptions) -> str:
    account = accounts.current(context)
    if phone == phone_verification.requested_number(context, account):
        return phone_verification.request_change(
            context, account, phone, options, hides_taken=context.tenant.settings.hide_unknown_accounts
        )
    if phone != account.phone:
        raise errors.UnknownPhone
    if account.phone_verified:
        raise errors.PhoneVerifiedOrNoToken
    return phone_verification.send(context, account.uid, phone, account, options)


def _send_hidden(context: Context, account: Account | None, phone: str, options: SmsOptions) -> str:
    """Send a code to a number that awaits verification, simulate it for others; a reached limit is silent."""
    is_pending = account is not None and not account.phone_verified and account.is_active and not account.is_deleted
    try:
        if account is not None and is_pending:
            return phone_verification.send(context, account.uid, phone, account, options)
        return phone_verification.simulate_send(context, phone, options)
    except errors.SmsLimitReached as reason:
        context.work.rollback()
        context.audit.record(
            "verification.not_sent", uid=account.uid if account else None, reason=type(reason).__name__
        )
        return ""
