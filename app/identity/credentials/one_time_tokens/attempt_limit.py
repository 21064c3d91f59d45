"""Guesses at what is short, such as a PIN or an app's code: counted before they are weighed, in the account's one counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.contract import errors as e
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.directory.accounts import login_records
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.login_records import Failure
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.kit.errors import ApiError


def count_attempt(context: Context, account: Account, refuse_over: Callable[[Context], None] | None = None) -> Failure:
    """Count the try before the proof is weighed; raises the lock's refusal where the tries are used up.

    Args:
        refuse_over: raises where that which is proved came to its end by another proof meanwhile; such a try counts for nothing.
    """
    with context.work.separate_transaction() as own:
        tried = login_records.reserve_attempt(own, account, context.tenant.settings, context.now)
        if refuse_over is not None:
            refuse_over(replace(context, work=own))
    if tried is None:
        raise lock_error(context, account) or e.LockedDuringStep()
    return tried


def record_success(context: Context, account: Account, *, is_whole: bool = True) -> None:
    """Take back what `begin` counted, in the call's transaction; where the sign-in `is_whole` by it, all that was counted."""
    login_records.release_attempt(context.work, account.uid, context.tenant.settings, is_whole=is_whole)


def record_failure(
    context: Context, account: Account, tried: Failure | None, refusal: ApiError
) -> tuple[ApiError, int]:
    """Return the refusal of a wrong proof, of the one that locks the account the lock's; and how many there were.

    Args:
        tried: what `begin` counted; None where a lock was just opened, and what is wrong then counts afterwards.
    """
    with context.work.separate_transaction() as own:
        if tried is None:
            tried = login_records.count_failure(own, account, context.tenant.settings, context.now)
        elif tried.is_locked:
            login_records.lock_if_exhausted(own, account, context.tenant.settings, context.now)
    return (lock_error(context, account) if tried.is_locked else None) or refusal, tried.attempts


def lock_error(context: Context, account: Account) -> ApiError | None:
    """Return the refusal of the lock that the account has by now."""
    present = accounts.by_uid(context, account.uid)
    try:
        if present is not None:
            one_time_tokens.refuse_locked(context, present)
    except ApiError as locked:
        return locked
    return None
