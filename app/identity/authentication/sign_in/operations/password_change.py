"""Operations that set a password without a mailed token: by the current password, or by a server of the tenant."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.recovery import operations as contract
from app.contract.shared_parameters import Uid
from app.contract.shared_responses import Posted
from app.identity.authentication.recovery import new_password
from app.identity.authentication.recovery.handlers import require_captcha
from app.identity.authentication.recovery.recipient import refuse_closed
from app.identity.authentication.sign_in import locks
from app.identity.authentication.sign_in.password_reset import spend_limit
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import current_password
from app.identity.credentials.captcha import service as captcha
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.directory.accounts.login_attempts.login_records import AccountLock
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context

EVENT = "ChangePassword"


@contract.change.implements
def change_own(context: Context, req: contract.ChangePassword) -> Posted:
    spend_limit(context)
    account = accounts.by_uid(context, context.token_holder.uid)
    if account is None:
        raise e.UnknownUid
    if not req.new_password:
        raise e.BadParameter.names("newpassword")
    solution = locks.LockSolution(req.security_answer, captcha.from_parameters(req))
    if not account.is_locked_now:  # a captcha is valid once, and a locked account needs it for the lock
        require_captcha(context, req, "change_password")
    changed = change(
        context, account, req.old_password, req.new_password, solution, suppress_webhook=req.suppress_webhook
    )
    end_sessions_and_tokens(
        context, changed, except_session=context.token_holder.session_id, except_token=context.token_holder.token_hash
    )
    return Posted()


def change(
    context: Context,
    account: Account,
    old: str,
    new: str,
    solution: locks.LockSolution,
    *,
    suppress_webhook: bool = False,
) -> Account:
    """Change the account's password by its current one. The caller ends the other sessions.

    A wrong current password counts towards the account's lock, as at sign-in, so a stolen session cannot be used to
    guess it.

    Raises:
        WrongCurrentPassword.
        AccountBlocked.
        and the refusals of a lock and of the policy.
    """
    refuse_closed(account)
    lock = login_records.lock_of(account)
    context.work.release_connection()
    is_lock_solved = lock is not None and _solve_lock(context, account, lock, solution)
    verified = current_password.verify(context, account, old, e.WrongCurrentPassword, is_lock_solved=is_lock_solved)
    password_hash = new_password.check_and_hash(context, verified, new)
    locked = new_password.lock_account(context, verified)
    if locked.password_hash != verified.password_hash:
        raise e.WrongCurrentPassword
    return new_password.write(
        context, locked, password_hash, suppress_webhook=suppress_webhook, event=EVENT, opens_lock=is_lock_solved
    )


@contract.read_hash.implements
def read_hash(context: Context, req: Uid) -> contract.PasswordHash:
    return _response(accounts.require(context, req.uid))


@contract.set_password.implements
def set_password(context: Context, req: contract.SetPassword) -> contract.PasswordHash:
    account = accounts.require(context, req.uid)
    if not req.password:
        raise e.PasswordRequired.names("password")
    if account.password_hash is None:
        raise e.NoEmailProfile
    password_hash = new_password.check_and_hash(context, account, req.password)
    locked = account_store.lock(context, account.uid)  # a blocked account gets the password too and stays blocked
    if locked is None:
        raise e.UnknownUid
    changed = new_password.write(
        context, locked, password_hash, suppress_webhook=req.suppress_webhook, event="SetPassword"
    )
    end_sessions_and_tokens(context, changed)
    return _response(changed)


def _solve_lock(context: Context, account: Account, lock: AccountLock, solution: locks.LockSolution) -> bool:
    lookup = AccountLookup(
        context, TypedIdentifier("email", account.email or account.username or ""), account, is_hidden=False
    )
    if locks.solve(context, lookup, lock, solution):
        return True
    _count_failure(context, account)
    raise locks.with_lock_challenge(context, lookup, lock, e.WrongQuestionOrAnswer())


def _count_failure(context: Context, account: Account) -> None:
    with context.work.separate_transaction() as transaction:
        failure = login_records.count_failure(transaction, account, context.tenant.settings, context.now)
    if failure.is_locked:
        context.audit.record("account.locked", uid=account.uid, lock=context.tenant.settings.lockout.type)


def _response(account: Account) -> contract.PasswordHash:
    if account.password_hash is None:
        raise e.NoEmailProfile
    return contract.PasswordHash(password_hash=account.password_hash)
