"""The grace period between an account's deletion and its removal (`deletion_days`)."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.identity.directory.accounts import account_store, provider_tokens
from app.identity.directory.accounts.account import Account
from app.identity.platform import events
from app.identity.platform.context import Context


def end_of_grace_period(context: Context) -> datetime | None:
    """Return until when an account that is deleted now can come back; None: it is removed at once."""
    days = context.tenant.settings.deletion_days
    return context.now + timedelta(days=days) if days else None


def begin_grace_period(context: Context, account: Account, leaves_at: datetime) -> Account:
    """Mark the locked account deleted, and delete its tokens of providers; return the changed account."""
    after = account_store.change(context, account.uid, {"is_deleted": True, "leaves_at": leaves_at}) or account
    provider_tokens.delete_all(context, after)
    return after


def revert(context: Context, uid: str) -> bool:
    """Revert a deletion within the grace period; return whether there was one."""
    account = account_store.lock(context, uid)
    if account is None or account.leaves_at is None or account.leaves_at <= context.now:
        return False
    after = account_store.change(context, uid, {"is_deleted": False, "leaves_at": None}) or account
    context.audit.record("account.kept", uid=uid)
    events.emit(context, "UpdateProfile", after)
    return True
