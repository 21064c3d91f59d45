"""Operations of phone numbers that begin no session (user.md operations U62, U65, U66)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.accounts import phone_numbers as contract
from app.contract.shared_responses import Deleted, PostedSms, SmsSent
from app.identity.authentication.verification import phones
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.service import Account
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.messaging import service as messaging
from app.identity.messaging.service import SmsOptions
from app.identity.platform.context import Context
from app.kit import randomness


@contract.send_code.implements
def send_code(context: Context, req: contract.SendPhoneCode) -> PostedSms:
    """Send to the account with the number; with an access token, to the number that the account requested last."""
    require_enabled(context)
    spend_limit(context, "phone_code")
    phone = parse_phone(req.phone)
    if context.holder is not None:
        return _response(context, _resend(context, phone, req))
    account = verifiable_account(context, phone)
    if context.tenant.settings.hide_unknown_accounts:
        return _response(context, _send_hidden(context, account, phone, req))
    if account is None:
        raise e.UnknownAccount
    if not account.is_active or account.is_deleted:
        raise e.AccountBlocked
    if account.phone_verified:
        raise e.PhoneVerifiedBefore
    return _response(context, phones.send(context, account.uid, phone, account, req))


@contract.change.implements
def change(context: Context, req: contract.ChangePhone) -> PostedSms:
    require_enabled(context)
    account = accounts.current(context)
    if not req.phone:
        raise e.BadParameter.names("phone")
    phone = identifiers.normalize_phone(req.phone)
    if phone is None:
        raise e.MalformedPhone
    is_hidden = context.tenant.settings.hide_unknown_accounts
    return _response(context, phones.request_change(context, account, phone, req, hides_taken=is_hidden))


@contract.remove.implements
def remove(context: Context, req: contract.RemovePhone) -> Deleted:
    require_enabled(context)
    phones.remove(context, accounts.current(context), suppress_webhook=req.suppress_webhook)
    return Deleted()


def require_enabled(context: Context) -> None:
    """Raise PhoneLoginOff where the tenant does not use phone numbers as identifiers."""
    if not context.tenant.settings.phone_login:
        raise e.PhoneLoginOff


def verifiable_account(context: Context, phone: str) -> Account | None:
    """Return the account whose number a code alone may verify; None if the number may belong to another person.

    An account with an unverified number may be in use, or have a verified address, and a code alone would sign the owner of
    the number in to another person's account. Then a single pending registration with the number is verified instead; of
    several none is, because only our pages know which registration belongs to the browser.
    """
    holder = accounts.by_phone(context, phone)
    is_unverified = holder is not None and not holder.phone_verified
    if holder is not None and pending_accounts.has_unverified_phone(holder):
        return pending_accounts.only_pending(context, phone)
    is_hidden = context.tenant.settings.hide_unknown_accounts
    # queried for every number, for equal timing
    is_contested = (is_unverified or is_hidden) and pending_accounts.is_contested(context, phone)
    return None if is_unverified and is_contested else holder


def parse_phone(typed: str | None) -> str:
    """Return the normalized number of a request; raises BadParameter if it is missing, UnknownPhone if malformed."""
    if not typed:
        raise e.BadParameter.names("phone")
    phone = identifiers.normalize_phone(typed)
    if phone is None:
        raise e.UnknownPhone
    return phone


def spend_limit(context: Context, name: str) -> None:
    """Count a request against the address's limit per minute; raises TooManyRequests."""
    context.count_attempt(name, context.tenant.settings.limits.sign_in_per_minute_per_address)


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


def _response(context: Context, sid: str) -> PostedSms:
    """Return the same response whether a message was sent or not."""
    return PostedSms(data=SmsSent(account_sid=messaging.account_sid(context), sid=sid or f"SM{randomness.uid()}"))
