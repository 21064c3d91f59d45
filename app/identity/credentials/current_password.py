"""Verifies the password of a signed-in account before something that its session alone must not do."""

from __future__ import annotations

from app.contract import errors
from app.identity.credentials import account_locks, attempt_limit
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.passwords import verify_password
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.login_records import Attempt
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


def verify(
    context: Context, account: Account, shown: str, refusal_class: type[ApiError], *, is_lock_solved: bool = False
) -> Account:
    """Return the account with its present hash if this is its password. Call it before any write. Costs one hash, or asks a directory.

    The attempt counts towards the account's lock before it is compared, so that concurrent ones do not exceed the limit. A right
    one takes back itself alone, because what follows may still be refused; the caller ends the count of the others.

    Raises:
        refusal_class: the password is wrong.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: it is locked, or this attempt locks it.
        DirectoryUnavailable, DirectoryPasswordExpired, LoginDisabled: of an account whose password a directory checks.
    """
    if not is_lock_solved:
        account_locks.refuse_locked(context, account)
    try:
        attempt = None if is_lock_solved else attempt_limit.count_attempt(context, account)
    except errors.LockedDuringStep:  # it was deleted meanwhile, or a concurrent right attempt took the lock away
        raise refusal_class from None
    try:
        verified = _verified(context, account, shown)
    except ApiError:  # of a directory, which did not say that the password is wrong
        _take_back(context, attempt)
        raise
    if verified is None:
        refusal, attempts = attempt_limit.record_failure(context, account, attempt, refusal_class())
        context.audit.record("password.refused", uid=account.uid, attempts=attempts)
        raise refusal
    _take_back(context, attempt)
    return verified


def _verified(context: Context, account: Account, shown: str) -> Account | None:
    """Return the account if this is its password: of the directory that it has an identity in, else of this service."""
    login = ldap_directories.for_account(context, account)
    if login is None:
        return verify_password.verify(context, account, shown)
    from app.identity.credentials.ldap import directory_checks  # noqa: PLC0415 - loads the LDAP client

    return account if directory_checks.is_password(context, login, shown) else None


def _take_back(context: Context, attempt: Attempt | None) -> None:
    if attempt is not None:
        with context.work.separate_transaction() as transaction:
            attempt.take_back(transaction)
