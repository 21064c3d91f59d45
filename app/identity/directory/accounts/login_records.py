"""What sign-in writes on an account: failures, locks and successes. One counter for password, code and second factor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from sqlalchemy import Update, and_, bindparam, case, or_, select, update

from app.contract.configuration import TenantSettings
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit import UnitOfWork

A = accounts.c
LOCK_TYPES = {"suspend": "None", "captcha": "Captcha", "security_question": "SecurityQuestion", "block": "Block"}


@dataclass(frozen=True)
class Lock:
    """A lock as it stands."""

    kind: str  # as LoginLockedType; None is a suspension
    until: datetime | None = None


@dataclass(frozen=True)
class Failure:
    """The counter after one more failure."""

    attempts: int
    is_locked: bool


def lock_of(account: Account) -> Lock | None:
    """Return the account's lock, where one holds."""
    return Lock(account.lock_type, account.locked_until) if account.is_locked_now else None


def count_failure(work: UnitOfWork, account: Account, settings: TenantSettings, now: datetime) -> Failure:
    """Add one failure; at the tenant's threshold the account locks in the tenant's way (interface user.md section 2.1)."""
    uid, lockout = account.uid, settings.lockout
    given = {"tenant": work.tenant_id, "account": uid, "now": now}
    row = work.run(_FAILED, given).one_or_none()
    attempts = int(row[0]) if row else 0
    if lockout.type == "none" or not 0 < lockout.maximum_failed_attempts <= attempts:
        return Failure(attempts, False)
    work.run(update(accounts).where(*_where(work, uid)).values(**_lock(account, settings, now)))
    return Failure(attempts, True)


def reserve_attempt(work: UnitOfWork, account: Account, settings: TenantSettings, now: datetime) -> Failure | None:
    """Count a try at a short code before it is compared, so that of many at once no more are compared than may be.

    None where the tries are used up: the account is locked then. A wrong one is told to `fail`, a right one to `was_right`.
    """
    most = _most(settings)
    given = {"tenant": work.tenant_id, "account": account.uid, "now": now, "most": most}
    row = work.run(_TRIED, given).one_or_none()
    if row is None:
        lock_if_exhausted(work, account, settings, now)
        return None
    return Failure(int(row[0]), int(row[0]) >= most)


def lock_if_exhausted(work: UnitOfWork, account: Account, settings: TenantSettings, now: datetime) -> None:
    """Lock an account whose tries are used up, unless it is locked or a right one came in between."""
    values, is_used_up = _lock(account, settings, now), A.failed_attempts >= _most(settings)
    work.run(update(accounts).where(*_where(work, account.uid), A.is_locked.is_(False), is_used_up).values(**values))


def release_attempt(work: UnitOfWork, uid: str, settings: TenantSettings, *, is_complete: bool) -> None:
    """Take back what `count_try` counted for a proof that was right; where the sign-in `is_whole` by it, all that was counted.

    With it goes the lock of those who came while it was weighed: there were fewer wrong ones than lock, as one was this.
    """
    is_its_lock = and_(A.is_locked, A.lock_type == LOCK_TYPES["block"])
    values = {
        "failed_attempts": 0 if is_complete else A.failed_attempts - 1,
        "is_active": case((is_its_lock, True), else_=A.is_active),
        "is_locked": False,
        "lock_type": "None",
        "locked_until": None,
    }
    where = (*_where(work, uid), A.failed_attempts > 0, A.failed_attempts <= _most(settings))
    work.run(update(accounts).where(*where).values(**values))


def _most(settings: TenantSettings) -> int:
    """Return how many wrong tries lock an account; where nothing locks it, more than there can be."""
    lockout = settings.lockout
    is_limited = lockout.type != "none" and lockout.maximum_failed_attempts > 0
    return lockout.maximum_failed_attempts if is_limited else _NO_END


def _lock(account: Account, settings: TenantSettings, now: datetime) -> dict[str, Any]:
    lockout = settings.lockout
    values: dict[str, Any] = {"is_locked": True, "lock_type": LOCK_TYPES[lockout.type]}
    if lockout.type == "suspend" or _is_unanswerable(account, settings):
        values["locked_until"] = now + timedelta(seconds=lockout.suspend_seconds)
    if lockout.type == "block":
        values["is_active"] = False
    return values


def _is_unanswerable(account: Account, settings: TenantSettings) -> bool:
    """Return whether the lock asks what its owner cannot answer, so that it ends as a suspension does; not where a stranger
    could tell by its end whose account there is.
    """
    is_answered = bool(settings.security_questions.keys() & account.security_answers.keys())
    return settings.lockout.type == "security_question" and not is_answered and not settings.hide_unknown_accounts


def _failure(*, is_try: bool = False) -> Any:
    """Return the first statement of `count_failure`, or of `count_try`: made once, as that of a stranger's failure is."""
    now = bindparam("now", type_=A.locked_until.type)
    over = and_(A.locked_until.is_not(None), A.locked_until <= now)  # a suspension that is past starts a new count
    counted = case((over, 1), else_=A.failed_attempts + 1)
    values = {"failed_attempts": counted, "locked_until": case((over, None), else_=A.locked_until)}
    values["is_locked"] = case((over, False), else_=A.is_locked)
    where = [A.tenant_id == bindparam("tenant"), A.uid == bindparam("account")]
    if is_try:
        where.append(or_(over, and_(A.is_locked.is_(False), A.failed_attempts < bindparam("most"))))
    return update(accounts).where(*where).values(**values).returning(A.failed_attempts)


_FAILED, _TRIED = _failure(), _failure(is_try=True)
_NO_END = 1_000_000_000


def record_login(
    work: UnitOfWork,
    uid: str,
    verified_hash: str | None,
    now: datetime,
    *,
    answered: bool,
    new_hash: str | None,
    is_complete: bool = True,
) -> bool:
    """Record a good sign-in, unless the account was locked, closed or got another password meanwhile.

    One that is not whole, as a second factor is still to come, counts for nothing: whoever has the password alone would
    begin the count of failures anew each time.

    The guard makes the threshold exact under concurrency: of many parallel guesses a right one that comes after the
    last allowed failure is refused.
    """
    given = {"tenant": work.tenant_id, "account": uid, "verified": verified_hash, "now": now}
    if new_hash is not None:
        given["hash"] = new_hash
    return work.run(_ADMISSIONS[answered, new_hash is not None, is_complete], given).rowcount > 0


def _admission(answered: bool, is_rehashed: bool, is_complete: bool) -> Update:
    """Return the statement of `admit`: made once, since to build it costs more than to run it."""
    now = bindparam("now", type_=A.locked_until.type)
    where = [A.tenant_id == bindparam("tenant"), A.uid == bindparam("account"), A.is_active, A.is_deleted.is_(False)]
    where.append(A.password_hash.is_not_distinct_from(bindparam("verified")))
    if not answered:
        where.append(or_(A.is_locked.is_(False), and_(A.locked_until.is_not(None), A.locked_until <= now)))
    values: dict[str, Any] = {
        "failed_attempts": 0,
        "is_locked": False,
        "lock_type": "None",
        "locked_until": None,
        "logins": A.logins + 1,
        "last_login_at": now,
        "modified_at": now,
    }
    if not is_complete:
        values = {"failed_attempts": A.failed_attempts}
    if is_rehashed:
        values["password_hash"] = bindparam("hash")
    return update(accounts).where(*where).values(**values)


_ADMISSIONS = {switches: _admission(*switches) for switches in product((False, True), repeat=3)}


def reset_failures(work: UnitOfWork, uid: str, *, is_lock_solved: bool = False) -> None:
    """Begin the count anew after a good proof; a lock stays unless it was just opened."""
    values: dict[str, Any] = {"failed_attempts": 0}
    where = [*_where(work, uid), A.failed_attempts > 0]
    if is_lock_solved:
        values |= {"is_locked": False, "lock_type": "None", "locked_until": None}
    else:
        where.append(A.is_locked.is_(False))
    work.run(update(accounts).where(*where).values(**values))


def failure_count(work: UnitOfWork, uid: str) -> int:
    """Return the counter as it stands."""
    row = work.one(select(A.failed_attempts).where(*_where(work, uid)))
    return int(row[0]) if row else 0


def _where(work: UnitOfWork, uid: str) -> tuple[Any, Any]:
    return A.tenant_id == work.tenant_id, A.uid == uid
