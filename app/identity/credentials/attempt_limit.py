"""Attempts at short secrets such as PINs and app codes: each counts toward the account's lock before it is compared."""

from __future__ import annotations

from app.contract import errors
from app.identity.credentials import account_locks
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.login_records import Attempt
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


def count_attempt(context: Context, account: Account) -> Attempt:
    """Count an attempt before its code is compared. Raises the error of the lock if no attempt is left."""
    with context.work.separate_transaction() as transaction:
        attempt = login_records.count_attempt(context.within(transaction), account)
    if attempt is None:
        raise account_locks.current_error(context, account) or errors.LockedDuringStep()
    return attempt


def record_failure(
    context: Context, account: Account, attempt: Attempt | None, refusal: ApiError
) -> tuple[ApiError, int]:
    """Return the error of a wrong attempt, or of the lock if this attempt locks the account, and the number of attempts.

    Args:
        attempt: the result of `count_attempt`; None if a lock was just solved, and the failure is counted now.
    """
    with context.work.separate_transaction() as transaction:
        separate = context.within(transaction)
        if attempt is None:
            failure = login_records.count_failure(separate, account)
        else:
            failure = attempt.failure
            if failure.is_locked:
                login_records.lock_if_exhausted(separate, account)
    return (account_locks.current_error(context, account) if failure.is_locked else None) or refusal, failure.attempts
