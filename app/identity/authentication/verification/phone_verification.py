"""Phone numbers as identifiers: codes that verify them, changes and removal."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.messages.models import SmsKind
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import one_time_token_store, one_time_tokens
from app.identity.credentials.one_time_tokens.codes import SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts import account_store, accounts, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import PHONE
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.directory.accounts.unverified import first_verification, pending_accounts
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.messaging import DEFAULT_SMS_OPTIONS, SmsOptions
from app.identity.platform import events
from app.identity.platform.context import NO_ACCOUNT, Context

_REQUESTED = "next"
"""The subject of the code for a requested number: an account requests one at a time."""


def require_enabled(context: Context) -> None:
    """Raise 1074 where the tenant does not use phone numbers as identifiers."""
    if not context.tenant.settings.phone_login:
        raise errors.PhoneLoginOff


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
    """Return the normalized number of a request; raises 908 missing, 1043 malformed."""
    if not typed:
        raise errors.BadParameter.names("phone")
    phone = identifiers.normalize_phone(typed)
    if phone is None:
        raise errors.UnknownPhone
    return phone


def count_code_request(context: Context, name: str) -> None:
    """Count a request against the address's limit per minute; raises TooManyRequests."""
    context.count_attempt(name, context.tenant.settings.limits.sign_in_per_minute_per_address)


def send(
    context: Context, uid: str, phone: str, account: Account | None, options: SmsOptions = DEFAULT_SMS_OPTIONS
) -> str:
    """Send a code to a number that an account has or will have; return the message's Sid.

    Raises NoSmsConfiguration, SmsLimitReached, SharedSmsLimitReached.
    """
    code = one_time_tokens.new_code(context, Purpose.PHONE, uid, subject=phone)
    facts = MessageFacts(otp=code, minutes=one_time_tokens.CODE_MINUTES)
    sid = messaging.sms(context, SmsKind.VERIFICATION, phone, account=account, facts=facts, options=options)
    context.audit.record("verification.sent", uid=account.uid if account else None, by="sms")
    return sid


def simulate_send(context: Context, phone: str, options: SmsOptions = DEFAULT_SMS_OPTIONS) -> str:
    """Do what `send` does for a number without an account, without a message. Raises the errors of `send`."""
    return send(
        context.without_sending(),
        NO_ACCOUNT,
        phone,
        None,
        options,
    )


def send_account_exists(context: Context, phone: str, options: SmsOptions = DEFAULT_SMS_OPTIONS) -> str:
    """Text to a number that it has an account, at the cost of `send`. Raises the errors of `send`."""
    one_time_tokens.new_code(context, Purpose.PHONE, NO_ACCOUNT, subject=phone)
    facts = MessageFacts(url=f"{context.pages_url}/login")
    sid = messaging.sms(context, SmsKind.ACCOUNT_EXISTS, phone, account=None, facts=facts, options=options)
    context.audit.record("verification.sent", by="sms")
    return sid


def request_change(
    context: Context,
    account: Account,
    phone: str,
    options: SmsOptions = DEFAULT_SMS_OPTIONS,
    *,
    hides_taken: bool = False,
) -> str:
    """Send a code to a new number, which becomes the account's when it is verified; return the message's Sid.

    A number that another account never verified is free. With `hides_taken` a verified number is treated as a free one.

    Raises:
        PhoneRegistered: the account has this number.
        PhoneTaken: another account verified it.
        NoSmsConfiguration, SmsLimitReached, SharedSmsLimitReached.
    """
    if account.phone == phone and account.phone_verified:
        raise errors.PhoneRegistered
    holder = account_store.by_identifier(context, PHONE, phone)
    is_taken = holder is not None and holder.uid != account.uid and holder.phone_verified
    if is_taken and not hides_taken:
        raise errors.PhoneTaken
    stored: OneTimeTokenFacts = {"phone": phone, "is_silent": context.suppresses_webhooks}
    code = one_time_tokens.new_code(context, Purpose.ADD_PHONE, account.uid, subject=_REQUESTED, facts=stored)
    context.audit.record("phone.asked", uid=account.uid)
    if is_taken:
        facts = MessageFacts(url=f"{context.pages_url}/login")
        return messaging.sms(
            context, SmsKind.ACCOUNT_EXISTS, phone, account=None, facts=facts, options=options, changes_for=account.uid
        )
    facts = MessageFacts(otp=code, minutes=one_time_tokens.CODE_MINUTES)
    return messaging.sms(context, SmsKind.CHANGE_PHONE, phone, account=account, facts=facts, options=options)


def requested_number(context: Context, account: Account) -> str | None:
    """Return the number that the account requested and has not verified yet."""
    sent = one_time_token_store.newest_code(context, Purpose.ADD_PHONE, account.uid, _REQUESTED)
    return str(sent.facts["phone"]) if sent is not None and sent.state == one_time_token_store.OPEN else None


def is_requested_number_verified(context: Context, uid: str) -> bool:
    """Return whether the number that the account requested last is verified now."""
    sent = one_time_token_store.newest_code(context, Purpose.ADD_PHONE, uid, _REQUESTED)
    account = account_store.by_uid(context, uid)
    is_verified = account is not None and account.phone_verified
    return sent is not None and account is not None and is_verified and account.phone == sent.facts["phone"]


def spend_code(
    context: Context,
    uid: str,
    phone: str,
    code: str,
    *,
    is_lock_solved: bool = False,
    name: TypedIdentifier | None = None,
) -> OneTimeToken:
    """Use the code of an account's unverified number. Raises the errors of `one_time_tokens.spend_code`."""
    return one_time_tokens.spend_code(
        context,
        Purpose.PHONE,
        uid,
        code,
        subject=phone,
        errors=SMS_CODE,
        is_lock_solved=is_lock_solved,
        identifier=name,
    )


def spend_requested_code(context: Context, account: Account, code: str) -> OneTimeToken:
    """Use the code of the number that the account requested. Raises the errors of `one_time_tokens.spend_code`."""
    return one_time_tokens.spend_code(
        context, Purpose.ADD_PHONE, account.uid, code, subject=_REQUESTED, errors=SMS_CODE
    )


def confirm(context: Context, token: OneTimeToken, *, knows_password: bool = False) -> Account:
    """Make the number a verified one of its account, and return the account.

    Args:
        knows_password: whether the caller also authenticated as the account; otherwise unverified credentials of a
            self-registered account may be an attacker's, and are removed.

    Raises:
        ClosedSmsCode: the account is closed, or has another number now.
        PhoneTaken: another account verified it meanwhile.
    """
    locked = account_store.lock(context, token.uid) or pending_accounts.activate(context, token.uid)
    if locked is None or not locked.is_active or locked.is_deleted:
        raise errors.ClosedSmsCode
    is_change = token.purpose is Purpose.ADD_PHONE
    phone = str(token.facts["phone"]) if is_change else token.subject
    if not is_change and locked.phone != phone:
        raise errors.ClosedSmsCode
    unverified: dict[str, Any] = {}
    if not (is_change or knows_password):
        unverified = first_verification.remove_unverified(context, locked)
    changed = _store(context, locked, phone, unverified, is_change=is_change)
    events.emit(context, "VerifyPhoneNumber", changed)
    if is_change:
        events.emit(one_time_tokens.context_of_change(context, token), "UpdatePhoneId", changed)
    return changed


def assign(context: Context, uid: str, phone: str) -> Account:
    """Make a number (E.164) a verified one of the account, as the tenant's server says, and return the account.

    Raises UnknownUid: the account was deleted meanwhile. PhoneTaken: another account verified it.
    """
    locked = accounts.lock(context, uid)
    changed = _store(context, locked, phone, {}, is_change=locked.phone != phone)
    events.emit(context, "UpdatePhoneId", changed)
    return changed


def invalidate(context: Context, uid: str, options: SmsOptions) -> None:
    """Mark the number unverified, and text a code. Raises UnknownUid, NoPhoneToInvalidate, PhoneUnverifiedBefore."""
    before = accounts.lock(context, uid)
    if not before.phone:
        raise errors.NoPhoneToInvalidate
    if not before.phone_verified:
        raise errors.PhoneUnverifiedBefore
    account_store.set_verified(context, before.uid, PHONE, before.phone, False)
    after = account_store.change(context, uid, {"phone_verified": False}) or before
    send(context, after.uid, before.phone, after, options)
    context.audit.record("phone.invalidated", uid=after.uid)
    events.emit(context, "InvalidatePhoneVerification", after)


def _store(context: Context, locked: Account, phone: str, values: dict[str, Any], *, is_change: bool) -> Account:
    """Make the number the account's verified one, with other columns; a former number gets a notice."""
    _add_identifier(context, locked, phone)
    pending_accounts.remove_pending(context, phone)
    changed = account_store.change(context, locked.uid, {"phone": phone, "phone_verified": True, **values}) or locked
    for kind in (Purpose.PHONE, Purpose.ADD_PHONE):
        one_time_tokens.close(context, locked.uid, kind)
    if is_change:
        _revoke_codes(context, locked)
        _notify_changed(context, locked, changed)
    context.audit.record("phone.verified", uid=locked.uid)
    return changed


def remove(context: Context, account: Account) -> Account:
    """Remove the number.

    Raises:
        NoPhoneRegistered: the only number awaits verification.
        NoPhoneOnProfile: the account has no number.
        NotProcessable: the account has no other identifier.
    """
    locked = account_store.lock(context, account.uid)
    if locked is None or locked.phone is None:
        raise errors.NoPhoneRegistered if requested_number(context, account) else errors.NoPhoneOnProfile
    if not (locked.username or locked.email_list.present):
        raise errors.NotProcessable
    account_store.remove_identifiers(context, locked.uid, PHONE)
    changed = account_store.change(context, locked.uid, {"phone": None, "phone_verified": False}) or locked
    one_time_tokens.close(context, locked.uid, Purpose.PHONE)
    _revoke_codes(context, locked)
    _notify_changed(context, locked, changed)
    events.emit(context, "RemovePhoneId", changed)
    return changed


def _add_identifier(context: Context, locked: Account, phone: str) -> None:
    """Give the number to the account; an account that never verified it loses it."""
    holder = account_store.by_identifier(context, PHONE, phone)
    if holder is not None and holder.uid != locked.uid:
        other = account_store.lock(context, holder.uid)
        if other is not None and other.phone_verified:
            raise errors.PhoneTaken
        if other is not None:
            pending_accounts.release_phone(context, other, locked.uid)
    account_store.remove_identifiers(context, locked.uid, PHONE)
    try:
        account_store.add_identifiers(context, locked.uid, [(PHONE, phone, True)])
    except account_store.IdentifierTaken:
        raise errors.PhoneTaken from None


def _revoke_codes(context: Context, former: Account) -> None:
    """Revoke the codes that were sent to the former number."""
    one_time_tokens.close(context, former.uid, Purpose.RESET_PASSWORD, subject="sms")
    one_time_tokens.close(context, former.uid, Purpose.DELETE_ACCOUNT, subject=former.phone or "")


def _notify_changed(context: Context, former: Account, changed: Account) -> None:
    """Notify the mailbox and the former number, because an attacker would remove it. A reached limit is silent."""
    notifications.notify_profile_changes(context, former, changed)
    notifications.notify_by_sms(context, SmsKind.PHONE_CHANGED, former)
