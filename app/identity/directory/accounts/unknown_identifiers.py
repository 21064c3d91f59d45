"""Failure counters of identifiers that no account has: they lock as accounts do, so that a lock does not reveal an account.

Stored in the database like an account's failures: exact under concurrency, and as expensive.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, case, select
from sqlalchemy.dialects import postgresql, sqlite

from app.contract.configuration import Lockout
from app.identity.directory.accounts import login_records
from app.identity.directory.accounts.login_records import Failure, Lock
from app.identity.directory.accounts.tables import strangers
from app.identity.platform.context import Context

T = strangers.c
_RETENTION = timedelta(days=7)  # accounts stay locked longer, so after a week the two can be distinguished


def lock_of(context: Context, name_hashes: Sequence[str]) -> Lock | None:
    """Return the current lock of an identifier by its digests, one for each secret."""
    lockout = context.tenant.settings.lockout
    rows = [row for row in context.work.all(_counted(context, name_hashes)) if row.expires_at > context.now]
    if not rows or not _is_limited(lockout) or sum(row.failures for row in rows) < lockout.maximum_failed_attempts:
        return None
    ends_at = max(row.expires_at for row in rows)
    return Lock(login_records.LOCK_TYPES[lockout.type], ends_at if lockout.type == "suspend" else None)


def count(context: Context, name_hashes: Sequence[str]) -> Failure:
    """Count a failure in a separate transaction under the first digest; failures under the others are included."""
    lockout, now = context.tenant.settings.lockout, context.now
    limit = lockout.maximum_failed_attempts
    locked = now + (timedelta(seconds=lockout.suspend_seconds) if lockout.type == "suspend" else _RETENTION)
    given = {
        "tenant_id": context.tenant.tenant_id,
        "name_hash": name_hashes[0],
        "failures": 1,
        "expires_at": locked if limit <= 1 else now + _RETENTION,
        "now": now,
        "most": limit,
        "locked": locked,
    }
    with context.work.separate_transaction() as work:
        failures = int(work.run(_ADDED[context.services.database.is_sqlite], given).scalar_one())
        if older_hashes := name_hashes[1:]:
            failures += sum(row.failures for row in work.all(_counted(context, older_hashes)) if row.expires_at > now)
    return Failure(failures, _is_limited(lockout) and failures >= limit)


def _counted(context: Context, name_hashes: Sequence[str]) -> Any:
    return select(T.failures, T.expires_at).where(T.tenant_id == context.tenant.tenant_id, T.name_hash.in_(name_hashes))


def _addition(dialect: Any) -> Any:
    """Build the statement of `count`; built once, because building takes as long as executing."""
    is_over = T.expires_at <= bindparam("now", type_=T.expires_at.type)
    inserted = dialect.insert(strangers).values({name: bindparam(name) for name in _COLUMNS})
    counted = case((is_over, 1), else_=T.failures + 1)
    is_locked = T.failures + 1 >= bindparam("most", type_=T.failures.type)
    locked = bindparam("locked", type_=T.expires_at.type)
    until = case((is_over, inserted.excluded.expires_at), (is_locked, locked), else_=T.expires_at)
    return inserted.on_conflict_do_update(
        index_elements=[T.tenant_id, T.name_hash], set_={"failures": counted, "expires_at": until}
    ).returning(T.failures)


_COLUMNS = ("tenant_id", "name_hash", "failures", "expires_at")
_ADDED = {True: _addition(sqlite), False: _addition(postgresql)}


def _is_limited(lockout: Lockout) -> bool:
    return lockout.type != "none" and lockout.maximum_failed_attempts > 0
