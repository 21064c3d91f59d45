"""A forgotten password is replaced, by a link, a code or security answers: the rules. Every session and token ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.contract import errors
from app.contract.recovery import recovery_operations
from app.identity.authentication.recovery import new_password, recipient
from app.identity.authentication.recovery.recipient import refuse_closed, refuse_foreign_token
from app.identity.authentication.sign_in import locks
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import reset_messages
from app.identity.credentials.captcha.answers import from_parameters
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE, SMS_CODE, CodeErrors
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.passwords import security_answers
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.accounts.login_attempts.login_records import AccountLock
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit.limits.rate_limits import Rate

EVENT: Final = "ResetPassword"
RESET = Purpose.RESET_PASSWORD


def count_attempt(context: Context) -> None:
    """Count an attempt to set a new password against this address; raises TooManyRequests."""
    context.count_attempt("reset", context.tenant.settings.limits.reset_per_minute_per_address)


def require_answers(context: Context, answers: Mapping[str, str] | None) -> None:
    """Raise SecurityQuestionsOff, and BadParameter where the request contains no answers."""
    if not context.tenant.settings.security_questions:
        raise errors.SecurityQuestionsOff
    if not answers:
        raise errors.BadParameter.names("securityanswer")


def verify_answers(context: Context, lookup: AccountLookup, answers: Mapping[str, str]) -> Account:
    """Return the account if all of its security answers are given. The limit counts right answers too.

    Raises:
        UnknownAccount, AccountBlocked, NoSecurityAnswers, UnknownSecurityQuestion, WrongSecurityAnswer,
        WrongQuestionOrAnswer, TooManyRequests.
    """
    account, lockout = _account_with_answers(lookup), context.tenant.settings.lockout
    context.count_against(
        "reset_by_answer", Rate(lockout.security_answer_attempts, lockout.suspend_seconds), lookup.key
    )
    context.work.release_connection()
    stored = account.security_answers if account else {}
    if not security_answers.are_correct(context, stored, answers, hides_unknown=lookup.is_hidden) or account is None:
        context.audit.record("password.reset_refused", uid=account.uid if account else None, reason="security answer")
        raise errors.WrongSecurityAnswer if len(answers) == 1 else errors.WrongQuestionOrAnswer
    if set(answers) < set(account.security_answers):
        raise errors.WrongQuestionOrAnswer("Every question that the account answered must be answered.")
    return account


def reset_by_code(
    context: Context,
    lookup: AccountLookup,
    channel: str,
    code: str,
    password: str,
    req: recovery_operations.Reset | recovery_operations.ResetBySms,
) -> Account:
    """Set a new password by a code. Where no code was sent, every code is wrong, at the same cost."""
    account = recipient.reachable_account(lookup, channel)
    code_errors = MAIL_CODE if channel == reset_messages.MAIL else SMS_CODE
    if account is not None and account.password_hash is None and not lookup.is_hidden:
        raise errors.NoEmailProfile
    token, is_lock_solved = check_code(
        context,
        lookup,
        account,
        code,
        channel,
        code_errors,
        locks.LockSolution(req.security_answer, from_parameters(req)),
    )
    if account is None:
        raise code_errors.wrong
    if account.password_hash is None:
        raise errors.NoEmailProfile
    return reset_with_code(context, account, token, password, code_errors, req, is_lock_solved=is_lock_solved)


def check_code(
    context: Context,
    lookup: AccountLookup,
    account: Account | None,
    code: str,
    channel: str,
    code_errors: CodeErrors,
    solution: locks.LockSolution,
    *,
    kind: Purpose = RESET,
) -> tuple[OneTimeToken, bool]:
    """Return the one-time token of a code, and whether the request opened a lock; the code stays unused.

    Args:
        account: the account that the code was sent to; None where it was sent to no account.

    Raises:
        the refusals of a lock, of its solution, and of the code.
        LockedDuringStep: this try locked the account indefinitely.
    """
    lock = account_lookup.lock_of(context, lookup)
    is_lock_solved = lock is not None and _solve_lock(context, lookup, lock, solution)
    uid, subject = (
        (account.uid, channel) if account else (NO_ACCOUNT, reset_messages.unknown_subject(lookup.identifier.value))
    )
    identifier = lookup.identifier if lookup.is_hidden else None
    try:
        token = one_time_tokens.check_code(
            context,
            kind,
            uid,
            code,
            subject=subject,
            errors=code_errors,
            is_lock_solved=is_lock_solved,
            identifier=identifier,
        )
    except code_errors.wrong:
        fresh_lookup = account_lookup.find(context, lookup.identifier, is_hidden=lookup.is_hidden)
        new_lock = account_lookup.lock_of(context, fresh_lookup)
        if lock is None and new_lock is not None and new_lock.until is None:
            raise errors.LockedDuringStep from None
        raise
    return token, is_lock_solved


def reset_with_code(
    context: Context,
    account: Account,
    token: OneTimeToken,
    password: str,
    code_errors: CodeErrors,
    req: recovery_operations.Reset | recovery_operations.ResetBySms,
    *,
    is_lock_solved: bool,
) -> Account:
    """Set a new password by a checked code; a refused password leaves the code unused."""
    password_hash = new_password.check_and_hash(context, account, password)
    try:
        locked = new_password.lock_account(context, account, token)
    except errors.ExpiredLink:
        raise code_errors.closed from None
    one_time_tokens.spend_checked_code(context, token, errors=code_errors, is_lock_solved=is_lock_solved)
    return set_password(
        context, locked, password_hash, template=req.reset_password_email_template,
        verified_email=token.facts.get("email"), opens_lock=True,
    )  # fmt: skip


def reset_with_link(
    context: Context, text: str, password: str, *, template: str | None = None
) -> tuple[Account, OneTimeToken]:
    """Set a new password by a link; a refused password leaves the link unused. Only one of several concurrent calls succeeds.

    A link opens a lock of failed attempts, because it cannot be guessed and its holder reads the mailbox. It opens no lock by an
    administrator.

    Raises:
        UnknownLink, UsedLink, ExpiredLink, AccountBlocked.
        and the refusals of the policy.
    """
    unspent = one_time_tokens.peek_link(context, RESET, text)
    account = account_store.by_uid(context, unspent.uid)
    refuse_foreign_token(context, account)
    if account is None:
        raise errors.UnknownLink
    refuse_closed(account)
    password_hash = new_password.check_and_hash(context, account, password)
    locked = new_password.lock_account(context, account, unspent)
    token = one_time_tokens.spend_link(context, RESET, text)
    changed = set_password(
        context,
        locked,
        password_hash,
        template=template,
        verified_email=token.facts.get("email"),
        opens_lock=True,
    )
    return changed, token


def set_password(
    context: Context,
    locked: Account,
    password_hash: str,
    *,
    template: str | None = None,
    verified_email: str | None = None,
    opens_lock: bool = False,
) -> Account:
    """Write the new password of an account whose row is locked, and end its sessions and tokens."""
    changed = new_password.write(
        context, locked, password_hash, event=EVENT, verified_email=verified_email,
        opens_lock=opens_lock,
        template=template,
    )  # fmt: skip
    end_sessions_and_tokens(context, changed)
    return changed


def _account_with_answers(lookup: AccountLookup) -> Account | None:
    """Return the account that its security answers may reset; None where a missing account is hidden.

    Raises:
        UnknownAccount, AccountBlocked, NoSecurityAnswers.
    """
    account = lookup.account
    if lookup.is_hidden:
        return None if account is None or recipient.is_closed(account) else account
    if account is None:
        raise errors.UnknownAccount
    refuse_closed(account)
    if not account.security_answers:
        raise errors.NoSecurityAnswers
    return account


def _solve_lock(context: Context, lookup: AccountLookup, lock: AccountLock, solution: locks.LockSolution) -> bool:
    """Return True if the solution opens the lock; else raise, naming a wrong answer only where a single one was given."""
    context.work.release_connection()
    if locks.solve(context, lookup, lock, solution):
        return True
    account_lookup.count_failure(context, lookup)
    is_single = len(solution.security_answer or {}) == 1 and not lookup.is_hidden
    raise locks.with_lock_challenge(
        context, lookup, lock, errors.WrongSecurityAnswer() if is_single else errors.WrongQuestionOrAnswer()
    )
