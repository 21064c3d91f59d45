"""Check a new password against the policy, write it, and revoke the sessions and tokens of the old password."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.webhooks.events import EventName
from app.identity.authentication.recovery import recipient
from app.identity.credentials import credential_store, notifications, reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.passkeys import passkey_store
from app.identity.credentials.passwords import new_password_hash
from app.identity.directory.accounts import account_store, identifiers, linked_identities
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.unverified import first_verification
from app.identity.platform import events
from app.identity.platform.context import Context


def check_and_hash(context: Context, account: Account, password: str) -> str:
    """Return the hash of a password that the policy allows. Call it before anything is written.

    Raises:
        FieldsRefused, WeakPassword, NewPasswordBreached: the policy refuses it.
        PasswordNotAcceptable: it is the current password, or one in the password history.
    """
    earlier = [account.password_hash or "", *account.password_history]
    words = new_password_hash.profile_words(account)
    return new_password_hash.hash_if_allowed(context, password, words, earlier, account=account)


def lock_account(context: Context, account: Account, token: OneTimeToken | None = None) -> Account:
    """Lock the account for a new password, before its token is used up, and return its current state.

    Every request locks the account before its links and codes, against deadlocks.

    Raises:
        AccountBlocked: the account was closed, or an administrator locked it, meanwhile.
        ExpiredLink: the account removed the address or the number that the token was sent to.
    """
    locked = account_store.lock(context, account.uid)
    if locked is None or recipient.is_closed(locked):
        raise errors.AccountBlocked
    if token is not None and not reset_messages.is_still_recipient(locked, token):
        raise errors.ExpiredLink
    return locked


def write(
    context: Context,
    locked: Account,
    password_hash: str,
    *,
    event: EventName,
    verified_email: str | None = None,
    opens_lock: bool = False,
    template: str | None = None,
) -> Account:
    """Write the new password of a locked account and return the account. The caller ends the sessions and tokens.

    Args:
        verified_email: the address that the reset mail was sent to; its reader owns it.
        opens_lock: whether the token opens a lock of failed attempts; it never unblocks an account.
    """
    policy = context.tenant.settings.password_policy
    history = [locked.password_hash, *locked.password_history] if locked.password_hash else locked.password_history
    private = {**locked.private, "password_history": history[: max(0, policy.history - 1)]}
    private |= {"is_secure_password": policy.common_check, "is_password_breached": False}
    values: dict[str, Any] = {"password_hash": password_hash, "password_changed_at": context.now}
    values |= login_records.UNLOCKED if opens_lock else {}
    values |= _claim_mailbox(context, locked, verified_email, private)
    changed = account_store.change(context, locked.uid, {**values, "private": private}) or locked
    if not opens_lock:
        login_records.reset_failures(context.work, locked.uid)
    events.emit(context, event, changed)
    if verified_email and is_verified(changed, verified_email) and not is_verified(locked, verified_email):
        events.emit(context, "EmailVerification", changed)
    emit_first_password(context, locked, changed)
    after_change(context, changed, event, template, verified_email=verified_email)
    return changed


def record_directory_change(context: Context, account: Account, *, event: EventName, opens_lock: bool) -> Account:
    """Record that the password was changed in the account's directory, as `write` does, and return the account."""
    values: dict[str, Any] = {"password_changed_at": context.now, **(login_records.UNLOCKED if opens_lock else {})}
    changed = account_store.change(context, account.uid, values) or account
    if not opens_lock:
        login_records.reset_failures(context.work, account.uid)
    events.emit(context, event, changed)
    after_change(context, changed, event)
    return changed


def emit_first_password(context: Context, before: Account, after: Account) -> None:
    """Emit that an account that only providers signed in got its first password."""
    if before.password_hash is None and after.password_hash and linked_identities.of(before):
        events.emit(context, "CreateTraditionalAccount", after)


def after_change(
    context: Context,
    account: Account,
    reason: str,
    template: str | None = None,
    *,
    verified_email: str | None = None,
) -> None:
    """Revoke older links and unfinished enrolments after a new password, and notify the owner with a link to revert.

    A reset by the primary mailbox ends that mailbox's security alert, and no other change does: otherwise an attacker could
    end it.
    """
    context.audit.record("password.changed", uid=account.uid, reason=reason)
    for kind in (Purpose.RESET_PASSWORD, Purpose.DELETE_ACCOUNT, Purpose.SIGN_IN, Purpose.SMART_LOGIN):
        one_time_tokens.close(context, account.uid, kind)
    credential_store.remove_pending(context, account.uid)  # an attacker with the old password may know their secrets
    if verified_email and identifiers.normalize_email(verified_email) == identifiers.normalize_email(
        account.email or ""
    ):
        notifications.close_alert_links(context, account.uid, verified_email)
    notifications.notify_with_alert_link(context, MailKind.PASSWORD_CHANGED, account.email, account, template=template)


def _claim_mailbox(context: Context, locked: Account, email: str | None, private: dict[str, Any]) -> dict[str, Any]:
    """Mark the address of the reset verified, and remove credentials that another person may have stored before (decision 0061)."""
    form = identifiers.normalize_email(email or "")
    if form is None:
        return {}
    # an attacker with the old password may have requested them
    one_time_tokens.close(context, locked.uid, Purpose.ADD_PHONE)
    one_time_tokens.close(context, locked.uid, Purpose.ADD_EMAIL)
    if private.pop("security_answers", None):
        context.audit.record("security_answers.dropped", uid=locked.uid)
    found = locked.email_list.find(form)
    if found is not None and first_verification.claims_account(locked, form):
        passkey_store.restrict_after_claim(
            context, locked.uid, is_first=first_verification.is_first_verification(locked)
        )
        return first_verification.claim(
            context, locked, found.value
        ) | first_verification.remove_unverified_credentials(context, locked, private)
    if locked.email_verified or form != identifiers.normalize_email(locked.email or ""):
        return {}
    account_store.set_verified(context, locked.uid, EMAIL, form, True)
    return {"email_verified": True}
