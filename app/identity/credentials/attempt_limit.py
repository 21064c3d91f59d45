"""Attempts at short secrets such as PINs and app codes: each counts toward the account's lock before it is compared."""

from __future__ import annotations

from app.contract import errors as e
from app.identity.credentials import account_locks
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.login_records import Failure
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


def count_attempt(context: Context, account: Account) -> Failure:
    """Count an attempt before its code is compared. Raises the error of the lock if no attempt is left."""
    with context.work.separate_transaction() as transaction:
        attempt = login_records.reserve_attempt(transaction, account, context.tenant.settings, context.now)
    if attempt is None:
        raise account_locks.current_error(context, account) or e.LockedDuringStep()
    return attempt


def record_success(context: Context, account: Account, *, is_complete: bool = True) -> None:
    """Take back the attempt of `count_attempt`, in the request's transaction; all attempts if the sign-in `is_complete` now."""
    login_records.release_attempt(context.work, account.uid, context.tenant.settings, is_complete=is_complete)


def take_back(context: Context, account: Account) -> None:
    """Take back the attempt of `count_attempt` in a transaction of its own: it came after another one ended the sign-in."""
    with context.work.separate_transaction() as transaction:
        login_records.release_attempt(transaction, account.uid, context.tenant.settings, is_complete=False)


def record_failure(
    context: Context, account: Account, attempt: Failure | None, refusal: ApiError
) -> tuple[ApiError, int]:
    """Return the error of a wrong attempt, or of the lock if this attempt locks the account, and the number of attempts.

    Args:
        attempt: the result of `count_attempt`; None if a lock was just solved, and the failure is counted now.
    """
    with context.work.separate_transaction() as transaction:
        if attempt is None:
            attempt = login_records.count_failure(transaction, account, context.tenant.settings, context.now)
        elif attempt.is_locked:
            login_records.lock_if_exhausted(transaction, account, context.tenant.settings, context.now)
    if attempt.is_locked:
        context.audit.record("account.locked", uid=account.uid, lock=context.tenant.settings.lockout.type)
    return (account_locks.current_error(context, account) if attempt.is_locked else None) or refusal, attempt.attempts
