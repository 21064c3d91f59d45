"""Sign-in with a password: who it is, whether the account may, and the books that survive a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from app.contract import errors as e
from app.identity.accounts import gate
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.passwords import answers
from app.identity.sign_in import identifiers, sessions
from app.identity.sign_in.identifiers import Identifier
from app.identity.tasks import events
from app.identity.tokens import service as tokens
from app.identity.tokens.service import Issued
from app.kit.clock import iso
from app.kit.errors import ApiError
from app.kit.limits import OverLimit, Rate
from app.kit.randomness import digest

PASSWORD = "pwd"  # RFC 8176


@dataclass(frozen=True)
class Proof:
    """What the person showed beside the password, to open a lock."""

    security_answer: Mapping[str, str] | None = None
    captcha: str | None = None


def verify(call: Call, identifier: Identifier, password: str, proof: Proof, *, hides_unknown: bool) -> Account:
    """Return the account that this password opens; the sign-in is recorded on it.

    Spends one hash whether or not the account exists. With `hides_unknown` an unknown account answers as a known one
    does, locks included.

    Raises:
        TooManyRequests: the address or the tenant used up its tries.
        UnknownAccount: no such account, and the tenant does not hide that.
        WrongCredentials: the password does not match.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: too many failures.
        LoginDisabled, EmailUnverified, PhoneUnverified, TooManySessions: the password is right, the account may not.
    """
    settings = call.tenant.settings
    _spend(call)
    identifiers.refuse_kind(settings, identifier.kind)
    account = identifiers.account_of(call, identifier)
    call.work.pause()
    if account is None:
        _refuse_unknown(call, identifier, password, hides_unknown)
        raise AssertionError("unreachable")
    answered = _open_lock(call, account, proof)
    if not call.hashing.is_match(account.password_hash, password):
        raise _counted(call, account, answered, hides_unknown)
    new_hash = None
    if account.password_hash and call.hashing.is_stale(account.password_hash):
        new_hash = call.hashing.hash(password)
    _refuse_closed(call, account, identifier, answered)
    is_admitted = gate.admit(
        call.work, account.uid, account.password_hash, call.now, answered=answered, new_hash=new_hash
    )
    if not is_admitted:
        call.ledger.record("sign_in.refused", uid=account.uid, reason="changed meanwhile")
        raise _locked_meanwhile(call, account, answered) or e.WrongCredentials()
    events.emit(call, "Login", account, False)
    return account


def issue(call: Call, account: Account) -> Issued:
    """Return the tokens of the interface's own sign-in."""
    return tokens.issue(
        call, uid=account.uid, facts={"provider": "Email", "agent": call.agent, "address": call.address}
    )


def _is_over_session_limit(call: Call, account: Account) -> bool:
    """Return whether the account has as many live sessions as it may (its own limit wins over the tenant's)."""
    limit = account.session_limit or call.tenant.settings.session_limit
    return bool(limit) and len(sessions.of_account(call, account.uid)) >= limit


def _spend(call: Call) -> None:
    limits = call.tenant.settings.limits
    if limits.sign_in_per_minute_per_address:
        call.spend("sign_in", Rate(limits.sign_in_per_minute_per_address, 60), call.address)
    if limits.sign_in_per_minute:
        call.spend("sign_in_tenant", Rate(limits.sign_in_per_minute, 60))


def _open_lock(call: Call, account: Account, proof: Proof) -> bool:
    """Return whether the account's lock was answered; raises the lock's error where it was not."""
    if account.is_locked and account.lock_type == gate.LOCK_TYPES["security_question"] and proof.security_answer:
        if answers.check(call, account.security_answers, proof.security_answer):
            return True
        with call.work.apart() as own:
            gate.count_failure(own, account.uid, call.tenant.settings.lockout, call.now)
        raise e.WrongQuestionOrAnswer
    if account.is_locked and account.lock_type == gate.LOCK_TYPES["captcha"] and proof.captcha:
        raise e.WrongCaptcha
    if account.is_locked and not (account.locked_until and account.locked_until <= call.now):
        raise _lock_error(call, account)
    return False


def _lock_error(call: Call, account: Account) -> ApiError:
    held = {"Captcha": e.LockedForCaptcha, "SecurityQuestion": e.LockedForSecurityQuestion, "Block": e.AccountBlocked}
    kind = held.get(account.lock_type)
    if kind is not None:
        return kind()
    until = account.locked_until or call.now + timedelta(seconds=call.tenant.settings.lockout.suspend_seconds)
    return e.LockedForAWhile(data={"LoginLockedTimeout": iso(until)})


def _locked_meanwhile(call: Call, account: Account, answered: bool) -> ApiError | None:
    """Return the lock's error where others used up the tries while this password was weighed."""
    present = None if answered else accounts.by_uid(call, account.uid)
    return _lock_error(call, present) if present is not None and present.is_locked_now else None


def _counted(call: Call, account: Account, answered: bool, hides_unknown: bool) -> ApiError:
    """Count the failure. One that comes too late is answered as a right password would be: the answer tells neither."""
    lockout = call.tenant.settings.lockout
    with call.work.apart() as own:
        failure = gate.count_failure(own, account.uid, lockout, call.now)
    call.ledger.record("sign_in.refused", uid=account.uid, reason="password", attempts=failure.attempts)
    is_late = failure.is_locked and failure.attempts > lockout.maximum_failed_attempts
    if is_late and (late := _locked_meanwhile(call, account, answered)):
        return late
    if failure.is_locked:
        call.ledger.record("account.locked", uid=account.uid, lock=lockout.type)
    if hides_unknown or not lockout.maximum_failed_attempts or lockout.type == "none":
        return e.WrongCredentials()
    left = max(0, lockout.maximum_failed_attempts - failure.attempts)
    return e.WrongCredentials(f"Identifier and password do not match. Attempts left: {left}.")


def _refuse_closed(call: Call, account: Account, identifier: Identifier, answered: bool) -> None:
    """Raise why the account may not sign in, though the password is right; a lock that came meanwhile goes first."""
    closed = _closed(call, account, identifier)
    if closed is not None:
        raise _locked_meanwhile(call, account, answered) or closed
    call.work.pause()


def _closed(call: Call, account: Account, identifier: Identifier) -> ApiError | None:
    if not account.is_active or account.is_deleted:
        return e.AccountBlocked()
    if account.login_disabled:
        return e.LoginDisabled()
    if identifier.kind == "phone" and not account.phone_verified:
        return e.PhoneUnverified()
    needs_email = identifier.kind != "phone" and call.tenant.settings.email_verification == "required"
    if needs_email and account.email and not account.email_verified:
        return e.EmailUnverified()
    return e.TooManySessions() if _is_over_session_limit(call, account) else None


def _refuse_unknown(call: Call, identifier: Identifier, password: str, hides_unknown: bool) -> None:
    """Refuse an unknown account at the price of a known one; where that is hidden it locks like one too."""
    lockout = call.tenant.settings.lockout
    who = digest(f"{identifier.kind} {accounts.normal(identifier.kind, identifier.value)}")
    is_limited = hides_unknown and lockout.maximum_failed_attempts and lockout.type != "none"
    if is_limited:
        _imitate_lock(call, who)
    call.hashing.is_match(None, password)
    call.ledger.record("sign_in.refused", reason="unknown", kind=identifier.kind)
    if hides_unknown:
        raise e.WrongCredentials
    raise e.UnknownAccount


def _imitate_lock(call: Call, who: str) -> None:
    lockout = call.tenant.settings.lockout
    try:
        rate = Rate(lockout.maximum_failed_attempts, lockout.suspend_seconds)
        call.house.limits.spend("nobody", rate, call.tenant.tenant_id, who)
    except OverLimit as over:
        if lockout.type == "suspend":
            until = call.now + timedelta(seconds=over.retry_after_seconds)
            raise e.LockedForAWhile(data={"LoginLockedTimeout": iso(until)}) from None
        kinds = {
            "captcha": e.LockedForCaptcha,
            "security_question": e.LockedForSecurityQuestion,
            "block": e.AccountBlocked,
        }
        raise kinds[lockout.type] from None
