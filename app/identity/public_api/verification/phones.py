"""Operations of phone numbers that begin no session."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.accounts import phone_numbers as contract
from app.contract.shared_responses import Deleted, PostedSms
from app.identity.authentication.verification import phones
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.messaging import service as messaging
from app.identity.messaging.service import SmsOptions
from app.identity.platform.context import Context


@contract.send_code.implements
def send_code(context: Context, req: contract.SendPhoneCode) -> PostedSms:
    """Send to the account with the number; with an access token, to the number that the account requested last."""
    phones.require_enabled(context)
    phones.spend_limit(context, "phone_code")
    phone = phones.parse_phone(req.phone)
    if context.holder is not None:
        return messaging.posted_sms(context, _resend(context, phone, req))
    account = phones.verifiable_account(context, phone)
    if context.tenant.settings.hide_unknown_accounts:
        return messaging.posted_sms(context, _send_hidden(context, account, phone, req))
    if account is None:
        raise e.UnknownAccount
    if not account.is_active or account.is_deleted:
        raise e.AccountBlocked
    if account.phone_verified:
        raise e.PhoneVerifiedBefore
    return messaging.posted_sms(context, phones.send(context, account.uid, phone, account, req))


@contract.change.implements
def change(context: Context, req: contract.ChangePhone) -> PostedSms:
    phones.require_enabled(context)
    account = accounts.current(context)
    if not req.phone:
        raise e.BadParameter.names("phone")
    phone = identifiers.normalize_phone(req.phone)
    if phone is None:
        raise e.MalformedPhone
    is_hidden = context.tenant.settings.hide_unknown_accounts
    return messaging.posted_sms(context, phones.request_change(context, account, phone, req, hides_taken=is_hidden))


@contract.remove.implements
def remove(context: Context, req: contract.RemovePhone) -> Deleted:
    phones.require_enabled(context)
    phones.remove(context, accounts.current(context), suppress_webhook=req.suppress_webhook)
    return Deleted()


def _resend(context: Context, phone: str, options: SmsOptions) -> str:
    account = accounts.current(context)
    if phone == phones.requested_number(context, account):
        return phones.request_change(
            context, account, phone, options, hides_taken=context.tenant.settings.hide_unknown_accounts
        )
    if phone != account.phone:
        raise e.UnknownPhone
    if account.phone_verified:
        raise e.PhoneVerifiedOrNoToken
    return phones.send(context, account.uid, phone, account, options)


def _send_hidden(context: Context, account: Account | None, phone: str, options: SmsOptions) -> str:
    """Send a code to a number that awaits verification, simulate it for others; a reached limit is silent."""
    is_pending = account is not None and not account.phone_verified and account.is_active and not account.is_deleted
    try:
        if account is not None and is_pending:
            return phones.send(context, account.uid, phone, account, options)
        return phones.simulate_send(context, phone, options)
    except e.SmsLimitReached as reason:
        context.work.rollback()
        context.audit.record(
            "verification.not_sent", uid=account.uid if account else None, reason=type(reason).__name__
        )
        return ""
