"""A signed-in owner unlocks the account."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts.self_service_operations import Unlock
from app.contract.shared_parameters import CaptchaSolution, LockAnswers
from app.identity.authentication.sign_in import locks
from app.identity.credentials.captcha import answers
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.platform import events
from app.identity.platform.context import Context


def unlock(context: Context, account: Account, req: Unlock) -> None:
    """Unlock an account that failed attempts locked until a captcha or a security question is solved.

    Raises:
        BadPutBody: no answer was sent.
        UnlockedAlready: there is no lock.
        LockedForAWhile, AccountBlocked: the lock ends with time, or the owner cannot end it.
        WrongCaptcha, WrongQuestionOrAnswer and others of `locks.solve`.
    """
    if answers.from_parameters(req).is_empty and not req.security_answer:
        raise errors.BadPutBody("One answer is needed.")
    if not account.is_locked_now:
        raise errors.UnlockedAlready
    open_lock(context, account, req, req)
    login_records.reset_failures(context.work, account.uid, is_lock_solved=True)
    context.audit.record("account.unlocked", uid=account.uid)
    events.emit(context, "UpdateProfile", account_store.by_uid(context, account.uid) or account)


def open_lock(context: Context, account: Account, lock_answer: LockAnswers, captcha_answer: CaptchaSolution) -> bool:
    """Return whether a lock of the account was solved; False where the account is not locked.

    Raises the lock's error, or the error of a wrong answer, which counts as a failure.
    """
    lock = login_records.lock_of(account)
    if lock is None:
        return False
    lookup = AccountLookup(context, TypedIdentifier("email", account.email or ""), account, is_hidden=False)
    solution = locks.LockSolution(lock_answer.security_answer, answers.from_parameters(captcha_answer))
    context.work.release_connection()
    if not locks.solve(context, lookup, lock, solution):
        context.audit.record("unlock.refused", uid=account.uid)
        raise errors.WrongQuestionOrAnswer
    return True
