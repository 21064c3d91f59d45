"""Verifies the password of a signed-in account before something that its session alone must not do."""

from __future__ import annotations

from app.contract import errors
from app.identity.credentials import account_locks, attempt_limit
from app.identity.credentials.passwords import verify_password
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


def verify(
    context: Context, account: Account, shown: str, refusal_class: type[ApiError], *, is_lock_solved: bool = False
) -> Account:
    """Return the account with its present hash if this is its password. Call it before any write. Costs one hash.

    The attempt counts towards the account's lock before it is compared, so that concurrent ones do not exceed the limit. A right
    one takes back itself alone, because what follows may still be refused; the caller ends the count of the others.

    Raises:
        refusal_class: the password is wrong.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: it is locked, or this attempt locks it.
    """
    if not is_lock_solved:
        account_locks.refuse_locked(context, account)
    try:
        attempt = None if is_lock_solved else attempt_limit.count_attempt(context, account)
    except errors.LockedDuringStep:  # it was deleted meanwhile, or a concurrent right attempt took the lock away
        raise refusal_class from None
    verified = verify_password.verify(context, account, shown)
    if verified is None:
        refusal, attempts = attempt_limit.record_failure(context, account, attempt, refusal_class())
        context.audit.record("password.refused", uid=account.uid, attempts=attempts)
        raise refusal
    if attempt is not None:
        with context.work.separate_transaction() as transaction:
            attempt.take_back(transaction)
    return verified
