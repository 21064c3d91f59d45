"""Errors of locked accounts: which one each lock gives, and the challenge with which a client opens the lock."""

from __future__ import annotations

from datetime import timedelta

from app.contract import errors
from app.contract.captcha import models
from app.identity.credentials.captcha import captcha_verification
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.login_records import AccountLock, LockKind
from app.identity.platform.context import Context
from app.kit.clock import iso
from app.kit.operations.errors import ApiError


def refuse_locked(context: Context, account: Account) -> None:
    """Raise the lock's error if too many failures locked the account, as sign-in does.

    Raises LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked.
    """
    if (error := _audited_error(context, account)) is not None:
        raise error


def current_error(context: Context, account: Account) -> ApiError | None:
    """Return the error of the account's present lock, if it has one. Reads the account anew."""
    fresh = account_store.by_uid(context, account.uid)
    return _audited_error(context, fresh) if fresh is not None else None


def error_of(context: Context, lock: AccountLock, *, question_id: str | None = None) -> ApiError:
    """Return the error of a lock with its challenge; `question_id` as for `with_challenge`."""
    if lock.kind is LockKind.BLOCK:
        return errors.AccountBlocked()
    if lock.kind is LockKind.SUSPENSION:
        until = lock.until or context.now + timedelta(seconds=context.tenant.settings.lockout.suspend_seconds)
        return errors.LockedForAWhile(data={"LoginLockedTimeout": iso(until)})
    error = errors.LockedForCaptcha() if lock.kind is LockKind.CAPTCHA else errors.LockedForSecurityQuestion()
    return with_challenge(context, lock, error, question_id=question_id)


def with_challenge(context: Context, lock: AccountLock, error: ApiError, *, question_id: str | None = None) -> ApiError:
    """Return the error with the lock's challenge as its data, so that a client can show it at once.

    Args:
        question_id: the security question to ask, where the client shall learn it.
    """
    new_captcha = (
        captcha_verification.challenge(context, models.CaptchaUse.UNLOCK) if lock.kind is LockKind.CAPTCHA else None
    )
    if data := models.LockChallenge(captcha=new_captcha, question_id=question_id).to_data():
        error.data = {**(error.data or {}), **data}
    return error


def _audited_error(context: Context, account: Account) -> ApiError | None:
    lock = login_records.lock_of(account)
    if lock is None:
        return None
    context.audit.record("sign_in.refused", uid=account.uid, reason="locked", lock=lock.kind)
    return error_of(context, lock)
