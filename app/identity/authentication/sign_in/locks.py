"""Opens account locks with a captcha or a security answer, and adds the question that the hosted pages show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.contract import errors
from app.contract.captcha.models import CaptchaUse
from app.identity.credentials import account_locks
from app.identity.credentials.captcha import captcha_verification
from app.identity.credentials.captcha.answers import SubmittedCaptcha
from app.identity.credentials.passwords import security_answers
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, lock_of, question_for
from app.identity.directory.accounts.login_attempts.login_records import AccountLock, LockKind
from app.identity.platform.context import Context
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class LockSolution:
    """The captcha or security answer with which a request opens a lock."""

    security_answer: Mapping[str, str] | None = None
    captcha: SubmittedCaptcha = field(default_factory=SubmittedCaptcha)


def solve(context: Context, lookup: AccountLookup, lock: AccountLock, solution: LockSolution) -> bool:
    """Return whether the solution opens the lock, as `_check_solution` does; audit a refusal."""
    try:
        return _check_solution(context, lookup, lock, solution)
    except ApiError as refusal:
        uid = {"uid": lookup.account.uid} if lookup.account else {}
        context.audit.record("sign_in.refused", **uid, reason="locked", lock=lock.kind, code=refusal.code)
        raise


def require_solved(context: Context, lookup: AccountLookup, solution: LockSolution) -> bool:
    """Return whether the solution opened a lock; raises the lock's refusal, or that of a wrong answer."""
    lock = lock_of(context, lookup)
    if lock is None:
        return False
    context.work.release_connection()
    if not solve(context, lookup, lock, solution):
        raise with_lock_challenge(context, lookup, lock, errors.WrongQuestionOrAnswer())
    return True


def _check_solution(context: Context, lookup: AccountLookup, lock: AccountLock, solution: LockSolution) -> bool:
    """Return whether the solution opens the lock; False for a wrong security answer, which the caller counts.

    Raises:
        TooManyRequests: too many tries at this lock.
        WrongCaptcha, WrongSecondCaptcha, CaptchaUnavailable: the captcha is not solved.
        UnknownSecurityQuestion: the account has no answer to the question, and the tenant does not hide who has an
        account.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: the request contains no
        solution.
    """
    settings = context.tenant.settings
    if lock.kind is LockKind.CAPTCHA and not solution.captcha.is_empty:
        if settings.limits.captcha_tries_per_hour_per_account:
            rate = Rate(settings.limits.captcha_tries_per_hour_per_account, 3600)
            context.count_against("captcha_try", rate, lookup.key)
        captcha_verification.require_solved(context, CaptchaUse.UNLOCK, solution.captcha)
        return True
    if lock.kind is LockKind.SECURITY_QUESTION and solution.security_answer:
        context.count_against(
            "security_answer",
            Rate(settings.lockout.security_answer_attempts, settings.lockout.suspend_seconds),
            lookup.key,
        )
        answers = lookup.account.security_answers if lookup.account else {}
        return security_answers.are_correct(context, answers, solution.security_answer, hides_unknown=lookup.is_hidden)
    raise lock_refusal(context, lookup, lock)


def lock_refusal(context: Context, lookup: AccountLookup, lock: AccountLock) -> ApiError:
    """Return the error for a locked account."""
    return account_locks.error_of(context, lock, question_id=_question_id(context, lookup, lock))


def with_lock_challenge(context: Context, lookup: AccountLookup, lock: AccountLock, refusal: ApiError) -> ApiError:
    """Return the error with the lock's challenge as its data, so that a client can show it at once."""
    return account_locks.with_challenge(context, lock, refusal, question_id=_question_id(context, lookup, lock))


def _question_id(context: Context, lookup: AccountLookup, lock: AccountLock) -> str | None:
    """Return the security question that the hosted pages show."""
    shows_question = lock.kind is LockKind.SECURITY_QUESTION and context.visit is not None
    return question_for(context, lookup) if shows_question else None
