"""Revert of a change that the account's owner did not make, by the link in the security alert ("this was not me")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.contract import errors as e
from app.identity.authentication.verification import service as verification
from app.identity.credentials import notifications
from app.identity.credentials import store as credentials
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import OneTimeToken, Purpose
from app.identity.credentials.passkeys import store as passkeys
from app.identity.directory.accounts import first_verification, identifiers, store
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context

_REVOKED = (
    Purpose.RESET_PASSWORD, Purpose.RESET_PASSKEY, Purpose.DELETE_ACCOUNT, Purpose.ADD_EMAIL, Purpose.ADD_PHONE, Purpose.EMAIL,
    Purpose.PHONE, Purpose.SIGN_IN, Purpose.SMART_LOGIN,
)  # fmt: skip
_CLOCK_MARGIN = timedelta(minutes=1)
"""The change happened a moment before its alert was written."""


def is_closed(context: Context, account: Account) -> bool:
    """Return whether the tenant closed the account, which no alert reopens; a pending self-deletion does not count."""
    is_leaving = account.leaves_at is not None and account.leaves_at > context.now
    return not account.is_active or (account.is_deleted and not is_leaving)


def restore(context: Context, token: str, password_hash: str) -> tuple[Account, OneTimeToken]:
    """Restrict the account to the mailbox that the security alert was sent to. One of several concurrent calls wins.

    That address becomes the only one: the others, the number, the answers and passkeys may be the attacker's, whether
    they were added before or after the change. Second factors stay, except those added with or after the change: the
    mailbox alone must not pass the others. Links, codes and alerts of later changes are revoked.

    Raises:
        UnknownLink, UsedLink, ExpiredLink: the link is unknown, used, or expired.
        AccountBlocked: the tenant closed the account; the link stays valid.
    """
    peeked = one_time_tokens.peek_link(context, Purpose.ALARM, token)
    fresh = store.change(context, peeked.uid, {})
    if fresh is None:
        raise e.UnknownLink
    if is_closed(context, fresh):
        raise e.AccountBlocked
    alarm = one_time_tokens.spend_link(context, Purpose.ALARM, token)
    credentials.remove_since(
        context, fresh.uid, alarm.expires_at - timedelta(minutes=notifications.ALERT_LINK_MINUTES) - _CLOCK_MARGIN
    )
    passkeys.restrict_after_claim(context, fresh.uid)
    private = dict(fresh.private)
    values: dict[str, Any] = {"password_hash": password_hash, "is_deleted": False, "leaves_at": None}
    values |= first_verification.remove_unverified_credentials(context, fresh, private)
    values |= _restore_email(context, fresh, str(alarm.facts["email"]))
    after = store.change(context, fresh.uid, {**values, "private": private}) or fresh
    for kind in _REVOKED:
        one_time_tokens.close(context, fresh.uid, kind)
    one_time_tokens.close_later(context, alarm)
    context.audit.record("password.alarm", uid=fresh.uid)
    return after, alarm


def acknowledge(context: Context, token: str) -> OneTimeToken:
    """End a security alert and earlier ones, because its mailbox confirms the changes.

    Nothing else can confirm them: a thief with the session and the password acts as the owner does.

    Raises UnknownLink, UsedLink, ExpiredLink.
    """
    peeked = one_time_tokens.peek_link(context, Purpose.ALARM, token)
    store.change(context, peeked.uid, {})  # serialized with `restore`
    alarm = one_time_tokens.peek_link(context, Purpose.ALARM, token)
    notifications.close_alert_links_until(context, alarm)
    context.audit.record("password.alarm_ended", uid=alarm.uid)
    return alarm


def _restore_email(context: Context, fresh: Account, email: str) -> dict[str, Any]:
    """Make the alert's address the account's only one; where another account verified it meanwhile, it is pending."""
    form = identifiers.normalize(EMAIL, email)
    holder = store.by_identifier(context, EMAIL, form)
    if holder is not None and holder.uid != fresh.uid and not _displace_unverified(context, holder, form, fresh.uid):
        store.remove_identifiers(context, fresh.uid, EMAIL)
        waits = [{"Type": "Primary", "Value": email, "pending": True}]
        return {"emails": waits, "email": None, "email_verified": False}
    return first_verification.claim(context, fresh, {"Type": "Primary", "Value": email})


def _displace_unverified(context: Context, holder: Account, form: str, to: str) -> bool:
    """Return whether the account that holds the address without verification lost it."""
    locked = store.change(context, holder.uid, {})
    if locked is not None and verification.is_verified(locked, form):
        return False
    if locked is not None:
        first_verification.displace_unverified(context, locked, form, to)
    return True


__all__ = ["acknowledge", "is_closed", "restore"]
