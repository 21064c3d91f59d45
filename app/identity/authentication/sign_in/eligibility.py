"""Decides whether an account may sign in; a sign-in in the grace period of the account's deletion may revert the deletion."""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta

from app.contract import errors
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError
from app.kit.clock import iso
from app.kit.operations.errors import ApiError

_REVERT_LIFETIME = timedelta(minutes=10)


def can_sign_in(context: Context, account: Account, kind: str = "email") -> bool:
    """Return whether an account may sign in by an identifier of this kind."""
    return not account.is_locked_now and refusal(context, account, kind) is None


def refusal(context: Context, account: Account, kind: str, *, has_session: bool = False) -> ApiError | None:
    """Return the reason why an account may not sign in by an identifier of this kind; None if it may.

    Args:
        has_session: whether the sign-in has its session or token already, which the limit of sessions counts.
    """
    if account.is_deleted and account.leaves_at is not None and account.is_active and context.visit is not None:
        return _pending_deletion(context, account)
    if not account.is_active or account.is_deleted:
        return errors.AccountBlocked()
    if account.login_disabled:
        return errors.LoginDisabled()
    if kind == "phone" and not account.phone_verified:
        return errors.PhoneUnverified()
    needs_email = kind != "phone" and context.tenant.settings.email_verification == "required"
    if needs_email and account.email and not account.email_verified:
        return errors.EmailUnverified()
    is_limited = bool(account.sessions_allowed) and not has_session
    return errors.TooManySessions() if is_limited and _has_all_sessions(context, account) else None


def uid_from_revert_token(context: Context, token: str) -> str | None:
    """Return the uid whose deletion the token reverts; None if it expired or this tenant did not issue it."""
    try:
        plaintext = context.services.encryption.decrypt(
            base64.urlsafe_b64decode(token.encode()), _associated_data(context)
        ).decode()
    except (DecryptionError, ValueError, binascii.Error):
        return None
    expires_at, _, uid = plaintext.partition(" ")
    return uid if int(expires_at) > context.now.timestamp() else None


def _pending_deletion(context: Context, account: Account) -> errors.AccountLeaving:
    """Return the refusal with the time when the deletion becomes final, and a token that reverts it."""
    expires_at = int((context.now + _REVERT_LIFETIME).timestamp())
    encrypted = context.services.encryption.encrypt(f"{expires_at} {account.uid}".encode(), _associated_data(context))
    token = base64.urlsafe_b64encode(encrypted).decode()
    return errors.AccountLeaving(data={"leaves_at": iso(account.leaves_at), "keep": token})


def _associated_data(context: Context) -> str:
    return f"{context.tenant.tenant_id} keep account"


def _has_all_sessions(context: Context, account: Account) -> bool:
    """Return whether the account already has as many live sessions as its limit allows."""
    replaced = sessions.current_of(context, account.uid)
    browser_sessions = [
        session
        for session in sessions.of_account(context, account.uid)
        if session.client_id is None and (replaced is None or session.session_id != replaced.session_id)
    ]
    return len(browser_sessions) + tokens.count_program_sessions(context, account.uid) >= account.sessions_allowed
