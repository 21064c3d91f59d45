"""Password sign-in: verify the password, decide whether the account may sign in, and record the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract import errors as e
from app.identity.authentication.sign_in import breached_password, deletion_revert, identifiers, locks, risks, sessions
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.verification import service as verification
from app.identity.authentication.verification.service import VerificationOptions
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.passwords import new_password
from app.identity.credentials.second_factors.service import RequiredFactor
from app.identity.credentials.tokens import service as tokens
from app.identity.credentials.tokens.service import IssuedTokens
from app.identity.directory.accounts import account_lookup, login_records, unknown_identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account_lookup import AccountLookup, Identifier
from app.identity.directory.accounts.login_records import Failure, Lock
from app.identity.directory.accounts.service import Account
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit.errors import ApiError
from app.kit.limits import Rate

PASSWORD = "pwd"  # RFC 8176


@dataclass(frozen=True)
class PasswordVerified:
    """An account whose password was right. Where a second factor is `required`, no sign-in is recorded yet."""

    account: Account
    required: RequiredFactor | None = None
    opens_lock: bool = False


def verify(
    context: Context,
    identifier: Identifier,
    password: str,
    proof: LockSolution,
    *,
    hides_unknown: bool,
    options: VerificationOptions | None = None,
    suppress_webhook: bool = False,
) -> PasswordVerified:
    """Return the account that this password opens, and record the sign-in unless a second factor is required.

    Spends one hash whether or not the account exists. With `hides_unknown`, an unknown account answers as a known one
    does, locks included; so does an account that was registered with an address nobody verified. Where the address or
    the number is not verified yet, the verification is sent again as `options` say, within the limits; None sends
    nothing. `suppress_webhook` sends no event.

    Raises:
        TooManyRequests: the address or the tenant reached its limit.
        UnknownAccount: no such account, and the tenant does not hide that.
        WrongCredentials: the password does not match.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: too many failures.
        WrongCaptcha, WrongQuestionOrAnswer and others of `locks.solve`: the solution does not open the lock.
        PasswordBreached, PasswordResetMailed: the password is right, and is in a list of breached passwords.
        LoginDisabled, EmailUnverified, PhoneUnverified, TooManySessions: the password is right, but the account may
        not sign in.
        MailLimitReached, SmsLimitReached, SharedSmsLimitReached, NoSmsConfiguration: the verification that `options`
            ask for could not be sent; programs get this error, hosted pages do not.
    """
    settings = context.tenant.settings
    _spend_limits(context)
    identifiers.refuse_disabled_kind(settings, identifier.kind)
    lookup = account_lookup.find(context, identifier, is_hidden=hides_unknown)
    account = lookup.account
    lock = account_lookup.lock_of(context, lookup)
    context.work.release_connection()
    is_answered = lock is not None and _solve_lock(context, lookup, lock, proof)
    is_match = context.hashing.is_match(account.password_hash if account else None, password)
    if account is None or not is_match:
        raise _wrong_credentials(context, lookup, lock if is_answered else None)
    new_hash = None
    if account.password_hash and context.hashing.is_stale(account.password_hash):
        new_hash = context.hashing.hash(password)
    _refuse_disallowed(context, lookup, identifier, lock if is_answered else None, options)
    breached_password.refuse_breached(context, account, password)
    risks.refuse_new_origin(context, account)
    required = risks.required_factor(context, account)
    is_admitted = _record_login(
        context, account, password, new_hash, answered=is_answered, is_complete=required is None
    )
    if not is_admitted:
        context.audit.record("sign_in.refused", uid=account.uid, reason="changed meanwhile")
        raise _present_lock_refusal(context, lookup, is_answered) or e.WrongCredentials()
    is_secure = new_password.meets_policy(settings.password_policy, password, new_password.profile_words(account))
    account = accounts.record_password_strength(context, account, is_secure=is_secure)
    if required is None:
        notify_sign_in(context, account, suppress_webhook=suppress_webhook)
    return PasswordVerified(account, required, is_answered)


def _record_login(
    context: Context, account: Account, password: str, new_hash: str | None, *, answered: bool, is_complete: bool
) -> bool:
    """Record the sign-in on the account; return False where the account changed meanwhile and no longer admits it.

    Where two sign-ins renew a stale hash at the same moment, the second verifies the password against the hash of the
    first.
    """
    more: dict[str, Any] = {"is_lock_solved": answered, "is_complete": is_complete}
    if login_records.record_login(
        context.work, account.uid, account.password_hash, context.now, new_hash=new_hash, **more
    ):
        return True
    if new_hash is None:
        return False
    context.work.rollback()
    renewed = accounts.by_uid(context, account.uid)
    context.work.release_connection()
    if renewed is None or not context.hashing.is_match(renewed.password_hash, password):
        return False
    return login_records.record_login(
        context.work, renewed.uid, renewed.password_hash, context.now, new_hash=None, **more
    )


def notify_sign_in(context: Context, account: Account, *, suppress_webhook: bool) -> None:
    """Emit the login event and remember the origin of a complete, recorded sign-in."""
    events.emit(context, "Login", account, suppress_webhook)
    risks.remember_origin(context, account)


def can_sign_in(context: Context, account: Account, kind: str = "email") -> bool:
    """Return whether an account may sign in by an identifier of this kind."""
    return not account.is_locked_now and sign_in_refusal(context, account, Identifier(kind, "")) is None


def try_complete_sign_in(
    context: Context, account: Account, kind: str = "email", *, suppress_webhook: bool = False
) -> bool:
    """Record a complete sign-in that used no password; return False where the account may not sign in."""
    if not can_sign_in(context, account, kind):
        return False
    if not login_records.record_login(
        context.work, account.uid, account.password_hash, context.now, is_lock_solved=False, new_hash=None
    ):
        return False
    notify_sign_in(context, account, suppress_webhook=suppress_webhook)
    return True


def complete_sign_in(context: Context, account: Account, kind: str, *, suppress_webhook: bool = False) -> None:
    """Record a complete sign-in. Raises why the account may not sign in: 991, 1130, 1194, 1338 and others."""
    one_time_tokens.refuse_locked(context, account)
    if (refusal := sign_in_refusal(context, account, Identifier(kind, ""))) is not None:
        raise refusal
    if not login_records.record_login(
        context.work, account.uid, account.password_hash, context.now, is_lock_solved=False, new_hash=None
    ):
        raise e.AccountBlocked
    notify_sign_in(context, account, suppress_webhook=suppress_webhook)


def issue_tokens(
    context: Context, account: Account, methods: tuple[str, ...] = (PASSWORD,), **more: object
) -> IssuedTokens:
    """Return the tokens of an API sign-in. `methods` are its `amr` (RFC 8176); `more` is stored with the token."""
    facts = {"provider": "Email", "agent": context.agent, "address": context.address, "amr": list(methods), **more}
    facts["auth_time"] = int(context.now.timestamp())
    return tokens.issue(context, uid=account.uid, facts=facts)


def _is_over_session_limit(context: Context, account: Account) -> bool:
    """Return whether the account has as many live sessions as it may have."""
    limit = account.sessions_allowed
    if not limit:
        return False
    gives_way = sessions.current_of(context, account.uid)
    held = [
        one
        for one in sessions.of_account(context, account.uid)
        if one.client_id is None and (gives_way is None or one.session_id != gives_way.session_id)
    ]
    return len(held) + tokens.count_program_sessions(context, account.uid) >= limit


def _spend_limits(context: Context) -> None:
    limits = context.tenant.settings.limits
    if limits.sign_in_per_minute_per_address:
        context.spend("sign_in", Rate(limits.sign_in_per_minute_per_address, 60), context.network)
    if limits.sign_in_per_minute:
        context.spend("sign_in_tenant", Rate(limits.sign_in_per_minute, 60))


def _solve_lock(context: Context, lookup: AccountLookup, lock: Lock, proof: LockSolution) -> bool:
    """Return True where the solution opens the lock; else raise the refusal, and count a wrong security answer."""
    if locks.solve(context, lookup, lock, proof):
        return True
    account_lookup.count_failure(context, lookup)
    context.audit.record("sign_in.refused", **_audit_uid(lookup), reason="security answer")
    raise locks.with_lock_challenge(context, lookup, lock, e.WrongQuestionOrAnswer())


def _audit_uid(lookup: AccountLookup) -> dict[str, str]:
    return {"uid": lookup.account.uid} if lookup.account else {}


def _present_lock_refusal(context: Context, lookup: AccountLookup, is_answered: bool) -> ApiError | None:
    """Return the lock's error where other requests used up the tries while this password was being verified."""
    if is_answered:
        return None
    present = accounts.by_uid(context, lookup.account.uid) if lookup.account else None
    lock = login_records.lock_of(present) if present else unknown_identifiers.lock_of(context, lookup.name_hashes)
    return locks.lock_refusal(context, lookup, lock) if lock else None


def _wrong_credentials(context: Context, lookup: AccountLookup, answered: Lock | None) -> ApiError:
    """Count the failure. A wrong password after the last try answers as a right one would, so it reveals nothing."""
    if lookup.account is None and not lookup.is_hidden:
        context.audit.record("sign_in.refused", reason="unknown")
        return e.UnknownAccount()
    lockout = context.tenant.settings.lockout
    failure = account_lookup.count_failure(context, lookup)
    reason = "password" if lookup.account else "unknown"
    context.audit.record("sign_in.refused", **_audit_uid(lookup), reason=reason, attempts=failure.attempts)
    is_late = failure.is_locked and failure.attempts > lockout.maximum_failed_attempts
    if is_late and (late := _present_lock_refusal(context, lookup, answered is not None)):
        return late
    if failure.is_locked and lookup.account and answered is None:
        context.audit.record("account.locked", uid=lookup.account.uid, lock=lockout.type)
    if not lookup.is_hidden and lockout.maximum_failed_attempts and lockout.type != "none":
        left = max(0, lockout.maximum_failed_attempts - failure.attempts)
        return e.WrongCredentials(f"Identifier and password do not match. Attempts left: {left}.")
    return _with_lock_challenge(context, lookup, answered, failure, e.WrongCredentials())


def _with_lock_challenge(
    context: Context, lookup: AccountLookup, answered: Lock | None, failure: Failure, refusal: ApiError
) -> ApiError:
    """Add the lock that the next try meets, so that hosted pages can show it at once."""
    if context.visit is None or not failure.is_locked:
        return refusal
    return locks.with_lock_challenge(
        context, lookup, answered or Lock(login_records.LOCK_TYPES[context.tenant.settings.lockout.type]), refusal
    )


def _refuse_disallowed(
    context: Context,
    lookup: AccountLookup,
    identifier: Identifier,
    answered: Lock | None,
    options: VerificationOptions | None,
) -> None:
    """Raise why the account may not sign in although the password is right; a lock set meanwhile comes first."""
    refusal = sign_in_refusal(context, lookup.account, identifier) if lookup.account else None
    if refusal is not None:
        late = _present_lock_refusal(context, lookup, answered is not None)
        if late is None and lookup.account and options is not None:
            unsent = verification.send_after_refusal(context, lookup.account, refusal, options)
            late = (
                unsent if context.visit is None and not lookup.is_hidden else None
            )  # 970 and 1066 state that a message was sent
        raise late or (
            locks.with_lock_challenge(context, lookup, answered, refusal) if answered and context.visit else refusal
        )
    context.work.release_connection()


def sign_in_refusal(context: Context, account: Account, identifier: Identifier) -> ApiError | None:
    """Return why an account may not sign in by an identifier of this kind; None where it may."""
    if account.is_deleted and account.leaves_at is not None and account.is_active and context.visit is not None:
        return deletion_revert.refusal(context, account)
    if not account.is_active or account.is_deleted:
        return e.AccountBlocked()
    if account.login_disabled:
        return e.LoginDisabled()
    if identifier.kind == "phone" and not account.phone_verified:
        return e.PhoneUnverified()
    needs_email = identifier.kind != "phone" and context.tenant.settings.email_verification == "required"
    if needs_email and account.email and not account.email_verified:
        return e.EmailUnverified()
    return e.TooManySessions() if _is_over_session_limit(context, account) else None
