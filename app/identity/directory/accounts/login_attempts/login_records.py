"""Records failed and successful sign-ins of an account; passwords, codes and second factors share one failure counter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, bindparam, case, not_, or_, update

from app.contract.tenants.settings import TenantSettings
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import BLOCK, Account
from app.identity.directory.accounts.tables import accounts
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.unit_of_work import UnitOfWork

A = accounts.c


class LockKind(StrEnum):
    """How a locked account opens. The values are those of the column `lock_type` and of the API's LoginLockedType."""

    SUSPENSION = "None"  # it opens when its time is over
    CAPTCHA = "Captcha"
    SECURITY_QUESTION = "SecurityQuestion"
    BLOCK = BLOCK  # only an administrator opens it


LOCK_KINDS = {
    "suspend": LockKind.SUSPENSION,
    "captcha": LockKind.CAPTCHA,
    "security_question": LockKind.SECURITY_QUESTION,
    "block": LockKind.BLOCK,
}
"""The kind of lock for each `lockout.type` of a tenant that locks accounts."""
UNLOCKED: Final[Mapping[str, Any]] = MappingProxyType(
    {"is_locked": False, "lock_type": "None", "locked_until": None, "failed_attempts": 0}
)
"""The columns of an account without a lock and without failures."""
_IS_BLOCKED = and_(A.is_locked, A.lock_type == LockKind.BLOCK)


@dataclass(frozen=True)
class AccountLock:
    """A current lock."""

    kind: LockKind
    until: datetime | None = None


@dataclass(frozen=True)
class Failure:
    """The failure counter after an attempt."""

    attempts: int
    is_locked: bool


@dataclass(frozen=True)
class Attempt:
    """An attempt at a short code, counted as a failure before its code is compared. A right one is taken back.

    Taking it back also removes a lock caused by concurrent attempts: one of the counted attempts was this right one, so the
    wrong ones did not reach the limit. A lock below the limit is an administrator's, and stays.
    """

    uid: str
    limit: int
    """The number of failures that locks the account."""
    failure: Failure

    def take_back(self, work: UnitOfWork) -> None:
        """Take this attempt back; the failures before it stay counted."""
        self._release(work, A.failed_attempts - 1)

    def take_back_all(self, work: UnitOfWork) -> None:
        """Take it back with the failures before it, because its code completed an authentication."""
        self._release(work, 0)

    def _release(self, work: UnitOfWork, remaining: Any) -> None:
        opened = {"is_active": case((_IS_BLOCKED, True), else_=A.is_active), **UNLOCKED}
        values = {name: case((_is_exhausted(self.limit), value), else_=A[name]) for name, value in opened.items()}
        values["failed_attempts"] = remaining
        where = (*_where(work, self.uid), A.failed_attempts > 0, A.failed_attempts <= self.limit)
        work.run(update(accounts).where(*where).values(**values))


def lock_of(account: Account) -> AccountLock | None:
    """Return the account's lock, or None."""
    return AccountLock(LockKind(account.lock_type), account.locked_until) if account.is_locked_now else None


def count_failure(context: Context, account: Account) -> Failure:
    """Count a failure; at the tenant's threshold lock the account as configured. `context`: of a separate transaction."""
    uid, settings = account.uid, context.tenant.settings
    parameters = {"tenant": context.tenant.tenant_id, "account": uid, "now": context.now}
    row = context.work.one(_FAILED, parameters)
    attempts, lockout = int(row[0]) if row else 0, settings.lockout
    if row is None or lockout.type == "none" or not 0 < lockout.maximum_failed_attempts <= attempts:
        return Failure(attempts, False)
    if row.is_locked and row.lock_type == LockKind.BLOCK:  # which no weaker lock replaces
        return Failure(attempts, True)
    locked = account_store.change(context, uid, _lock(account, settings, context.now))
    if locked is not None and not row.is_locked:
        _report_lock(context, locked)
    return Failure(attempts, True)


def count_attempt(context: Context, account: Account) -> Attempt | None:
    """Count an attempt at a short code before the comparison, so that concurrent attempts cannot exceed the limit.

    Returns None and locks the account if no attempts are left. After a wrong code call `lock_if_exhausted`. `context`: of a
    separate transaction.
    """
    limit = _attempt_limit(context.tenant.settings)
    parameters = {"tenant": context.tenant.tenant_id, "account": account.uid, "now": context.now, "most": limit}
    row = context.work.one(_TRIED, parameters)
    if row is None:
        lock_if_exhausted(context, account)
        return None
    return Attempt(account.uid, limit, Failure(int(row[0]), int(row[0]) >= limit))


def lock_if_exhausted(context: Context, account: Account) -> None:
    """Lock an account without attempts left, unless it is locked or a correct attempt came in between."""
    settings = context.tenant.settings
    if settings.lockout.type == "none":  # the account was deleted: attempts are unlimited
        return
    where = (*_where(context.work, account.uid), A.is_locked.is_(False), A.failed_attempts >= _attempt_limit(settings))
    is_changed = context.work.changed(update(accounts).where(*where).values(**_lock(account, settings, context.now)))
    if is_changed and (locked := account_store.by_uid(context, account.uid)) is not None:
        _report_lock(context, locked)


def _report_lock(context: Context, locked: Account) -> None:
    """Report in the transaction of the lock: that of the request is rolled back with its refusal."""
    context.audit.record("account.locked", uid=locked.uid, lock=context.tenant.settings.lockout.type)
    events.emit(context, "BlockAccount", locked)


def _attempt_limit(settings: TenantSettings) -> int:
    """Return the number of failures that lock an account; a huge number without a lockout."""
    lockout = settings.lockout
    is_limited = lockout.type != "none" and lockout.maximum_failed_attempts > 0
    return lockout.maximum_failed_attempts if is_limited else _UNLIMITED


def _lock(account: Account, settings: TenantSettings, now: datetime) -> dict[str, Any]:
    lockout = settings.lockout
    values: dict[str, Any] = {"is_locked": True, "lock_type": LOCK_KINDS[lockout.type]}
    if lockout.type == "suspend" or _is_unanswerable(account, settings):
        values["locked_until"] = now + timedelta(seconds=lockout.suspend_seconds)
    if lockout.type == "block":
        values["is_active"] = False
    return values


def _is_unanswerable(account: Account, settings: TenantSettings) -> bool:
    """Return whether the lock asks a security question that the account has no answer to, so that it must expire.

    Never with hidden accounts, because the expiry would reveal that the account exists.
    """
    is_answered = bool(settings.security_questions.keys() & account.security_answers.keys())
    return settings.lockout.type == "security_question" and not is_answered and not settings.hide_unknown_accounts


def _failure(*, is_reservation: bool = False) -> Compiled:
    """Build the first statement of `count_failure` or `count_attempt`."""
    now = bindparam("now", type_=A.locked_until.type)
    is_past = and_(A.locked_until.is_not(None), A.locked_until <= now)  # an expired suspension starts a new count
    counted = case((is_past, 1), else_=A.failed_attempts + 1)
    values = {"failed_attempts": counted, "locked_until": case((is_past, None), else_=A.locked_until)}
    values["is_locked"] = case((is_past, False), else_=A.is_locked)
    where = [A.tenant_id == bindparam("tenant"), A.uid == bindparam("account")]
    if is_reservation:
        where.append(or_(is_past, and_(A.is_locked.is_(False), A.failed_attempts < bindparam("most"))))
    return Compiled(
        update(accounts).where(*where).values(**values).returning(A.failed_attempts, A.is_locked, A.lock_type)
    )


_FAILED, _TRIED = _failure(), _failure(is_reservation=True)
_UNLIMITED = 1_000_000_000


def record_login(
    work: UnitOfWork,
    uid: str,
    verified_hash: str | None,
    now: datetime,
    *,
    is_lock_solved: bool,
    new_hash: str | None,
    is_complete: bool = True,
    attempt: Attempt | None = None,
) -> bool:
    """Record a successful sign-in. Return False if the account was locked, closed or got another password in the meantime.

    An incomplete sign-in, which still needs a second factor, does not reset the failure counter; otherwise a known password
    would allow unlimited guesses at the second factor.

    `attempt`: the attempt that completed the sign-in, which the same statement takes back with all failures.

    The guard makes the threshold exact under concurrency: a correct guess after the last allowed failure is refused. A solved lock
    is none of the type Block.
    """
    parameters: dict[str, Any] = {"tenant": work.tenant_id, "account": uid, "verified": verified_hash, "now": now}
    if new_hash is not None:
        parameters["hash"] = new_hash
    if attempt is not None:
        parameters["most"] = attempt.limit
    switches = (is_lock_solved, new_hash is not None, is_complete, attempt is not None)
    return work.changed(_login(*switches), parameters) > 0


@cache
def _login(is_lock_solved: bool, is_rehashed: bool, is_complete: bool, is_counted: bool) -> Compiled:
    """Build the statement of `record_login`."""
    now = bindparam("now", type_=A.locked_until.type)
    where = [A.tenant_id == bindparam("tenant"), A.uid == bindparam("account"), A.is_deleted.is_(False)]
    where.append(A.password_hash.is_not_distinct_from(bindparam("verified")))
    is_open: Any = A.is_active
    if is_lock_solved:
        is_open = and_(is_open, not_(_IS_BLOCKED))
    else:
        is_open = and_(is_open, or_(A.is_locked.is_(False), and_(A.locked_until.is_not(None), A.locked_until <= now)))
    if is_counted:
        is_open = or_(is_open, and_(_is_exhausted(bindparam("most")), or_(A.is_active, _IS_BLOCKED)))
    where.append(is_open)
    values: dict[str, Any] = {
        **UNLOCKED,
        "logins": A.logins + 1,
        "last_login_at": now,
        "modified_at": now,
    }
    if not is_complete:
        values = {"failed_attempts": A.failed_attempts}
    if is_counted:
        values["is_active"] = True
    if is_rehashed:
        values["password_hash"] = bindparam("hash")
    return Compiled(update(accounts).where(*where).values(**values))


def recorded(account: Account, now: datetime) -> Account:
    """Return the account as `record_login` changed it, without another query."""
    return replace(account, logins=account.logins + 1, last_login_at=now, modified_at=now, **UNLOCKED)


def reset_failures(work: UnitOfWork, uid: str, *, is_lock_solved: bool = False) -> None:
    """Reset the failure counter after a successful authentication; a lock stays unless it was just solved, and never Block."""
    may_reset = not_(_IS_BLOCKED) if is_lock_solved else A.is_locked.is_(False)
    work.run(update(accounts).where(*_where(work, uid), A.failed_attempts > 0, may_reset).values(**UNLOCKED))


def replace_hash(work: UnitOfWork, uid: str, stored: str, new: str) -> bool:
    """Replace one hash of a password by another of the same password; return False where the account has a third one."""
    where = [*_where(work, uid), A.password_hash == stored]
    return work.changed(update(accounts).where(*where).values(password_hash=new)) > 0


def _is_exhausted(limit: Any) -> ColumnElement[bool]:
    """Return whether the attempts are used up, so that a lock comes from them: each was counted only below the limit."""
    exhausted: ColumnElement[bool] = A.failed_attempts == limit
    return exhausted


def _where(work: UnitOfWork, uid: str) -> tuple[Any, Any]:
    return A.tenant_id == work.tenant_id, A.uid == uid
