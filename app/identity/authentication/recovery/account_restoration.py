"""Revert a change that the account's owner did not make, by the link in the security alert ("this was not me")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.contract import errors
from app.identity.credentials import credential_store, notifications
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.unverified import first_verification
from app.identity.platform import events
from app.identity.platform.context import Context

_REVOKED = (
    Purpose.RESET_PASSWORD, Purpose.RESET_PASSKEY, Purpose.DELETE_ACCOUNT, Purpose.ADD_EMAIL, Purpose.ADD_PHONE, Purpose.EMAIL,
    Purpose.PHONE, Purpose.SIGN_IN, Purpose.SMART_LOGIN,
)  # fmt: skip
_CLOCK_MARGIN = timedelta(minutes=1)
"""The change is written shortly before its alert."""


def is_closed(context: Context, account: Account) -> bool:
    """Return whether the tenant closed the account; a pending self-deletion does not count. No alert reopens an account."""
    is_leaving = account.leaves_at is not None and account.leaves_at > context.now
    return account.is_blocked or (account.is_deleted and not is_leaving)


def restore(context: Context, token: str, password_hash: str) -> tuple[Account, OneTimeToken]:
    """Restrict the account to the mailbox that the security alert was sent to. Only one of several concurrent calls succeeds.

    That address becomes the only one, because the other addresses, the number, the answers and the passkeys may be the
    attacker's, even from before the change. Second factors from before the change stay, because the mailbox alone must not
    replace them. Links, codes and alerts of later changes are revoked.

    Raises:
        UnknownLink, UsedLink, ExpiredLink: the link is unknown, used, or expired.
        AccountBlocked: the tenant closed the account; the link stays valid.
    """
    unspent = one_time_tokens.peek_link(context, Purpose.ALARM, token)
    locked = account_store.lock(context, unspent.uid)
    if locked is None:
        raise errors.UnknownLink
    if is_closed(context, locked):
        raise errors.AccountBlocked
    alert = one_time_tokens.spend_link(context, Purpose.ALARM, token)
    credential_store.remove_since(
        context, locked.uid, alert.expires_at - timedelta(minutes=notifications.ALERT_LINK_MINUTES) - _CLOCK_MARGIN
    )
    passkey_store.restrict_after_claim(context, locked.uid)
    private = dict(locked.private)
    values: dict[str, Any] = {"password_hash": password_hash, "is_deleted": False, "leaves_at": None}
    values |= first_verification.remove_unverified_credentials(context, locked, private)
    values |= _restore_email(context, locked, str(alert.facts["email"]))
    restored = account_store.change(context, locked.uid, {**values, "private": private}) or locked
    for kind in _REVOKED:
        one_time_tokens.close(context, locked.uid, kind)
    one_time_tokens.close_later(context, alert)
    context.audit.record("password.alarm", uid=locked.uid)
    events.emit(context, "UpdateProfile", restored)
    return restored, alert


def acknowledge(context: Context, token: str) -> OneTimeToken:
    """End a security alert and earlier ones, because its mailbox confirms the changes.

    Nothing else can confirm them: an attacker with the session and the password looks like the owner.

    Raises:
        UnknownLink, UsedLink, ExpiredLink.
    """
    unspent = one_time_tokens.peek_link(context, Purpose.ALARM, token)
    account_store.lock(context, unspent.uid)  # serialized with `restore`
    alert = one_time_tokens.peek_link(context, Purpose.ALARM, token)
    notifications.close_alert_links_until(context, alert)
    context.audit.record("password.alarm_ended", uid=alert.uid)
    return alert


def _restore_email(context: Context, locked: Account, email: str) -> dict[str, Any]:
    """Make the alert's address the account's only one; if another account verified it meanwhile, it is pending."""
    normalized = identifiers.normalize(EMAIL, email)
    holder = account_store.by_identifier(context, EMAIL, normalized)
    if (
        holder is not None
        and holder.uid != locked.uid
        and not _displace_unverified(context, holder, normalized, locked.uid)
    ):
        after = EmailList.single(email).all_pending()
        account_store.change_email_identifiers(context, locked.uid, locked.email_list, after)
        return after.columns()
    return first_verification.claim(context, locked, email)


def _displace_unverified(context: Context, holder: Account, normalized: str, new_uid: str) -> bool:
    """Take the address from an account that did not verify it; return False if it did."""
    locked = account_store.lock(context, holder.uid)
    if locked is not None and is_verified(locked, normalized):
        return False
    if locked is not None:
        first_verification.displace_unverified(context, locked, normalized, new_uid)
    return True
