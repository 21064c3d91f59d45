"""Signs in by password: verifies it, decides whether the account may sign in, and records the sign-in or the failure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.contract import errors
from app.identity.authentication.sign_in import (
    allowed_methods,
    completion,
    eligibility,
    locks,
    risks,
    sign_in_identifiers,
)
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import FactorRequired, Recorded, Refused
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.verification import email_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import reset_messages
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.passwords import new_password_hash, verify_password
from app.identity.credentials.reset_messages import ResetOptions
from app.identity.directory.accounts import account_store, accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import account_lookup, login_records, unknown_identifiers
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.directory.accounts.login_attempts.login_records import LOCK_KINDS, AccountLock
from app.identity.directory.organizations.memberships import just_in_time_membership
from app.identity.platform.context import Context
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError

PASSWORD = "pwd"  # RFC 8176
BREACHED_FLAG = "is_password_breached"


def sign_in_with_password(
    context: Context,
    identifier: TypedIdentifier,
    password: str,
    solution: LockSolution,
    *,
    hides_unknown: bool,
    options: VerificationOptions | None = None,
    shows_lock: bool = False,
    remember: bool = False,
) -> Recorded | FactorRequired:
    """Verify the password, and record the sign-in unless a second factor is required.

    Spends one hash whether or not the account exists.

    Args:
        solution: opens a lock of failed attempts, if the account has one.
        hides_unknown: respond for unknown and unverified accounts as for known ones, locks included.
        options: how to send the verification of an unverified address or number again; None sends nothing.
        shows_lock: add the challenge of the lock that the next try needs to a refusal, because a page shows it at once.

    Raises:
        TooManyRequests: the address or the tenant reached its limit.
        UnknownAccount: no such account, and the tenant does not hide that.
        WrongCredentials: the password does not match.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: too many failures.
        WrongCaptcha, WrongQuestionOrAnswer and others of `locks.solve`: the solution does not open the lock.
        PasswordBreached, PasswordResetMailed: the password is right, and is in a list of breached passwords.
        LoginDisabled, EmailUnverified, PhoneUnverified, TooManySessions: the password is right, but the account may not
            sign in.
        LoginNotAllowed: the password is right, but an organization of the account or a workflow requires another method.
        WorkflowDenied, WorkflowGone: the password is right, but the workflow in force does not let the account sign in.
        MailLimitReached, SmsLimitReached, SharedSmsLimitReached, NoSmsConfiguration: the verification of `options` could
            not be sent; programs get this error, hosted pages do not.
    """
    count_attempt(context)
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, identifier.kind)
    lookup = account_lookup.find(context, identifier, is_hidden=hides_unknown)
    solved = _solve_lock(context, lookup, solution)
    account = _verified(context, lookup, password)
    if account is None:
        raise _wrong_credentials(context, lookup, solved, shows_lock=shows_lock)
    new_hash = _renewed_hash(context, account, password)
    _refuse_ineligible(context, lookup, solved, options, shows_lock=shows_lock)
    refuse_breached(context, account, password)
    risks.refuse_new_origin(context, account)
    is_solved = solved is not None
    authentication = Authentication((PASSWORD,), identifier.kind, opens_lock=is_solved, remember=remember)
    admitted = _through_workflow(context, account, authentication)
    is_complete = isinstance(admitted, Authentication)
    joined = just_in_time_membership.lock_joinable(context, account) if is_complete else []
    now, flags = context.now, {"is_lock_solved": is_solved, "is_complete": is_complete}
    if not _record_login(context, account, password, new_hash, now, flags):
        context.audit.record("sign_in.refused", uid=account.uid, reason="changed meanwhile")
        raise _current_lock_refusal(context, lookup, solved) or errors.WrongCredentials()
    context.give_back_attempts(account.uid)
    is_secure = new_password_hash.is_secure(context, account, password)
    account = accounts.record_password_strength(context, account, is_secure=is_secure)
    if isinstance(admitted, FactorRequired):
        return admitted
    return completion.finish(context, account, admitted, joined, now)


def _verified(context: Context, lookup: AccountLookup, password: str) -> Account | None:
    """Return the account if this is its password; never for an account whose password a directory checks: it has no second one."""
    account = verify_password.verify(context, lookup.account, password)
    is_elsewhere = account is not None and ldap_directories.for_account(context, account) is not None
    return None if is_elsewhere else account


def _renewed_hash(context: Context, account: Account, password: str) -> str | None:
    """Return the hash that replaces a stale one; None for a current one."""
    is_stale = account.password_hash is not None and context.hashing.is_stale(account.password_hash)
    return context.hashing.hash(password) if is_stale else None


def _through_workflow(
    context: Context, account: Account, authentication: Authentication
) -> Authentication | FactorRequired:
    """Return the authentication that needs nothing more, or the second factor that the workflow, the tenant or a risk requires.

    Raises WorkflowDenied, WorkflowGone, LoginNotAllowed.
    """
    admitted = completion.through_workflow(context, account, authentication)
    if isinstance(admitted, Refused):
        raise admitted.error or errors.AccountBlocked
    if isinstance(admitted, FactorRequired):
        return admitted
    required = risks.factor_required_by_settings_or_risk(context, account)
    return FactorRequired(required, admitted) if required is not None else admitted


def _solve_lock(context: Context, lookup: AccountLookup, solution: LockSolution) -> AccountLock | None:
    """Return the lock that the solution opened; None for an account without a lock.

    Raises the lock's refusal otherwise; a wrong security answer is counted.
    """
    lock = account_lookup.lock_of(context, lookup)
    context.work.release_connection()
    if lock is None or locks.solve(context, lookup, lock, solution):
        return lock
    account_lookup.count_failure(context, lookup)
    context.audit.record("sign_in.refused", **_audit_uid(lookup), reason="security answer")
    raise locks.with_lock_challenge(context, lookup, lock, errors.WrongQuestionOrAnswer())


def _record_login(
    context: Context, account: Account, password: str, new_hash: str | None, now: datetime, flags: dict[str, Any]
) -> bool:
    """Record the sign-in on the account; return False where a concurrent change no longer permits it.

    Where two concurrent sign-ins renew a stale hash, the second verifies the password against the hash of the first.
    """
    if login_records.record_login(context.work, account.uid, account.password_hash, now, new_hash=new_hash, **flags):
        return True
    if new_hash is None:
        return False
    context.work.rollback()
    renewed = account_store.by_uid(context, account.uid)
    context.work.release_connection()
    if renewed is None or not context.hashing.is_match(renewed.password_hash, password):
        return False
    return login_records.record_login(context.work, renewed.uid, renewed.password_hash, now, new_hash=None, **flags)


def count_attempt(context: Context) -> None:
    """Count an attempt of the network and of the tenant. Raises TooManyRequests."""
    limits = context.tenant.settings.limits
    context.count_attempt("sign_in", limits.sign_in_per_minute_per_address)
    if limits.sign_in_per_minute:
        context.count_against("sign_in_tenant", Rate(limits.sign_in_per_minute, 60))


def _audit_uid(lookup: AccountLookup) -> dict[str, str]:
    return {"uid": lookup.account.uid} if lookup.account else {}


def _current_lock_refusal(context: Context, lookup: AccountLookup, solved: AccountLock | None) -> ApiError | None:
    """Return the error of a lock that concurrent requests caused while this password was verified."""
    if solved is not None:
        return None
    current = account_store.by_uid(context, lookup.account.uid) if lookup.account else None
    lock = login_records.lock_of(current) if current else unknown_identifiers.lock_of(context, lookup.name_hashes)
    return locks.lock_refusal(context, lookup, lock) if lock else None


def _wrong_credentials(
    context: Context, lookup: AccountLookup, solved: AccountLock | None, *, shows_lock: bool
) -> ApiError:
    """Count the failure and return its error. After the last attempt wrong and right passwords get the same refusal."""
    if lookup.account is None and not lookup.is_hidden:
        context.audit.record("sign_in.refused", reason="unknown")
        return errors.UnknownAccount()
    lockout = context.tenant.settings.lockout
    failure = account_lookup.count_failure(context, lookup)
    reason = "password" if lookup.account else "unknown"
    context.audit.record("sign_in.refused", **_audit_uid(lookup), reason=reason, attempts=failure.attempts)
    is_late = failure.is_locked and failure.attempts > lockout.maximum_failed_attempts
    if is_late and (lock_refusal := _current_lock_refusal(context, lookup, solved)):
        return lock_refusal
    if not lookup.is_hidden and lockout.maximum_failed_attempts and lockout.type != "none":
        left = max(0, lockout.maximum_failed_attempts - failure.attempts)
        return errors.WrongCredentials(
            f"The password doesn’t match, or there’s no such account. Attempts left: {left}."
        )
    if not shows_lock or not failure.is_locked:
        return errors.WrongCredentials()
    lock = solved or AccountLock(LOCK_KINDS[lockout.type])
    return locks.with_lock_challenge(context, lookup, lock, errors.WrongCredentials())


def _refuse_ineligible(
    context: Context,
    lookup: AccountLookup,
    solved: AccountLock | None,
    options: VerificationOptions | None,
    *,
    shows_lock: bool,
) -> None:
    """Raise the reason why the account may not sign in with the right password; a concurrent lock comes first.

    EmailUnverified and PhoneUnverified state that a verification was sent; if sending failed, a program gets that error instead.
    """
    account = lookup.account
    refusal = eligibility.refusal(context, account, lookup.identifier.kind) if account else None
    if account and refusal is not None:
        other = _current_lock_refusal(context, lookup, solved)
        if other is None and options is not None:
            unsent = email_verification.send_after_refusal(context, account, refusal, options)
            other = None if lookup.is_hidden else unsent
        if other is None and solved and shows_lock:
            other = locks.with_lock_challenge(context, lookup, solved, refusal)
        raise other or refusal
    context.work.release_connection()
    if account and (limited := allowed_methods.refusal(context, account, (PASSWORD,))) is not None:
        raise limited


def refuse_breached(context: Context, account: Account, password: str) -> None:
    """Refuse a right password that is in a list of breached passwords.

    Call it before anything is written. A password is looked up once; the account stores the result.

    Raises:
        PasswordBreached: the tenant requires a reset; the reset mail was just sent.
        PasswordResetMailed: the reset mail was sent at an earlier sign-in.
    """
    action = context.tenant.settings.password_policy.breached
    if action == "off":
        return
    if account.private.get(BREACHED_FLAG):
        if action == "change":
            raise errors.PasswordResetMailed
        return
    context.work.release_connection()
    if not context.services.breached_passwords.has(password):
        return
    context.audit.record("password.breached", uid=account.uid, action=action)
    with context.work.separate_transaction() as work:
        separate = context.within(work)
        locked = account_store.lock(separate, account.uid)
        if locked is not None:
            account_store.change(separate, account.uid, {"private": {**locked.private, BREACHED_FLAG: True}})
    if action in ("notify", "change"):
        reset_messages.send_separately(context, account, ResetOptions())
    if action == "change":
        raise errors.PasswordBreached
