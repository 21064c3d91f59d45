"""The current password is replaced by its owner: the rules."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.identity.authentication.recovery import new_password
from app.identity.authentication.recovery.recipient import refuse_closed
from app.identity.authentication.sign_in import locks
from app.identity.credentials import current_password
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.directory.accounts.login_attempts.login_records import AccountLock
from app.identity.platform.context import Context

EVENT: Final = "ChangePassword"


def change(
    context: Context,
    account: Account,
    old: str,
    new: str,
    solution: locks.LockSolution,
) -> Account:
    """Change the account's password by its current one. The caller ends the other sessions.

    A wrong current password counts towards the account's lock, as at sign-in, so a stolen session cannot be used to
    guess it.

    Raises:
        WrongCurrentPassword.
        AccountBlocked.
        DirectoryPasswordElsewhere, DirectoryPasswordRefused, DirectoryUnavailable: a directory has the password.
        and the refusals of a lock and of the policy.
    """
    refuse_closed(account)
    login = ldap_directories.for_account(context, account)
    if login is not None:
        from app.identity.credentials.ldap import directory_checks  # noqa: PLC0415 - loads the LDAP client

        directory_checks.refuse_unchangeable(login)
    lock = login_records.lock_of(account)
    context.work.release_connection()
    is_lock_solved = lock is not None and _solve_lock(context, account, lock, solution)
    verified = current_password.verify(
        context, account, old, errors.WrongCurrentPassword, is_lock_solved=is_lock_solved
    )
    if login is not None:
        directory_checks.change(context, login, verified, old, new)
        return new_password.record_directory_change(context, verified, event=EVENT, opens_lock=is_lock_solved)
    password_hash = new_password.check_and_hash(context, verified, new)
    locked = new_password.lock_account(context, verified)
    if locked.password_hash != verified.password_hash:
        raise errors.WrongCurrentPassword
    return new_password.write(context, locked, password_hash, event=EVENT, opens_lock=is_lock_solved)


def _solve_lock(context: Context, account: Account, lock: AccountLock, solution: locks.LockSolution) -> bool:
    lookup = AccountLookup(
        context, TypedIdentifier("email", account.email or account.username or ""), account, is_hidden=False
    )
    if locks.solve(context, lookup, lock, solution):
        return True
    _count_failure(context, account)
    raise locks.with_lock_challenge(context, lookup, lock, errors.WrongQuestionOrAnswer())


def _count_failure(context: Context, account: Account) -> None:
    with context.work.separate_transaction() as transaction:
        login_records.count_failure(context.within(transaction), account)
