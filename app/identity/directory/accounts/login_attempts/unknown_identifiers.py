"""Failure counters of identifiers that no account has: they lock as accounts do, so that a lock does not reveal an account.

Stored in the database like an account's failures: exact under concurrency, and as expensive.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from sqlalchemy import and_, bindparam, case, null, or_, select, type_coerce, union_all, update
from sqlalchemy.engine import Row

from app.contract.tenants.settings import Lockout
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.login_records import LOCK_KINDS, AccountLock, Failure
from app.identity.directory.accounts.tables import identifiers, unknown_identifier_failures
from app.identity.platform.context import Context
from app.identity.platform.store import upserts
from app.identity.platform.store.compiled_statements import Compiled

T, I = unknown_identifier_failures.c, identifiers.c  # noqa: E741 - short names of columns, as in all stores
_RETENTION = timedelta(days=7)  # accounts stay locked longer, so after a week the two can be distinguished


def find(
    context: Context, kind: str, value: str, name_hashes: Sequence[str]
) -> tuple[Account | None, Sequence[Row[Any]]]:
    """Return the account with this normalized identifier, and the identifier's counters for `lock_of`.

    One statement for both, whether there is an account or not.
    """
    parameters = {f"name_{at}": name_hash for at, name_hash in enumerate(name_hashes)}
    parameters |= {"tenant": context.tenant.tenant_id, "held_as": kind, "held": value}
    rows = context.work.all(_with_failures(len(name_hashes)), parameters)
    found = next((row for row in rows if row.failures is None), None)
    account = account_store.account_in(context, found) if found is not None else None
    return account, [row for row in rows if row.failures is not None]


def lock_of(
    context: Context, name_hashes: Sequence[str], counted: Sequence[Row[Any]] | None = None
) -> AccountLock | None:
    """Return the lock of an identifier by its digests, one for each secret.

    Args:
        counted: the counters that `find` returned; by default they are read now.
    """
    lockout = context.tenant.settings.lockout
    if counted is None:
        counted = context.work.all(_counted(context, name_hashes))
    rows = [row for row in counted if row.expires_at > context.now]
    if not rows or not _is_limited(lockout) or sum(row.failures for row in rows) < lockout.maximum_failed_attempts:
        return None
    ends_at = max(row.expires_at for row in rows)
    return AccountLock(LOCK_KINDS[lockout.type], ends_at if lockout.type == "suspend" else None)


def count(context: Context, name_hashes: Sequence[str]) -> Failure:
    """Count a failure in a separate transaction under the first digest; failures under the others are included."""
    lockout, now = context.tenant.settings.lockout, context.now
    limit = lockout.maximum_failed_attempts
    locked = now + (timedelta(seconds=lockout.suspend_seconds) if lockout.type == "suspend" else _RETENTION)
    parameters = {
        "tenant_id": context.tenant.tenant_id,
        "name_hash": name_hashes[0],
        "failures": 1,
        "expires_at": locked if limit <= 1 else now + _RETENTION,
        "now": now,
        "most": limit,
        "locked": locked,
    }
    with context.work.separate_transaction() as work:
        failures = int(work.run(_addition(is_sqlite=context.services.database.is_sqlite), parameters).scalar_one())
        if older_hashes := name_hashes[1:]:
            failures += sum(row.failures for row in work.all(_counted(context, older_hashes)) if row.expires_at > now)
    return Failure(failures, _is_limited(lockout) and failures >= limit)


def take_back(context: Context, name_hashes: Sequence[str]) -> None:
    """Take back the last failure that was counted; `context`: of a separate transaction."""
    where = (T.tenant_id == context.tenant.tenant_id, T.name_hash == name_hashes[0], T.failures > 0)
    context.work.run(update(unknown_identifier_failures).where(*where).values(failures=T.failures - 1))


def _counted(context: Context, name_hashes: Sequence[str]) -> Any:
    return select(T.failures, T.expires_at).where(T.tenant_id == context.tenant.tenant_id, T.name_hash.in_(name_hashes))


@cache
def _with_failures(secrets: int) -> Compiled:
    """Build the statement of `find` for the digests under so many secrets: a row for the account, and one for each counter.

    Both parts run, whichever has rows. An outer join from a row that always exists is refused by Citus.
    """
    stored = and_(I.tenant_id == bindparam("tenant"), I.kind == bindparam("held_as"), I.value == bindparam("held"))
    nothing = (type_coerce(null(), column.type).label(column.name) for column in (T.failures, T.expires_at))
    account = account_store.of_identifier(select(*nothing)).where(stored)
    names = or_(*(T.name_hash == bindparam(f"name_{at}") for at in range(secrets)))
    empty = (null() for _ in range(len(account.selected_columns) - 2))
    counters = select(T.failures, T.expires_at, *empty).where(T.tenant_id == bindparam("tenant"), names)
    return Compiled(union_all(account, counters))


@cache
def _addition(*, is_sqlite: bool) -> Compiled:
    """Build the statement of `count`."""
    is_over = T.expires_at <= bindparam("now", type_=T.expires_at.type)
    inserted = upserts.insert(unknown_identifier_failures, is_sqlite=is_sqlite).values(
        {name: bindparam(name) for name in _COLUMNS}
    )
    counted = case((is_over, 1), else_=T.failures + 1)
    is_locked = T.failures + 1 >= bindparam("most", type_=T.failures.type)
    locked = bindparam("locked", type_=T.expires_at.type)
    until = case((is_over, inserted.excluded.expires_at), (is_locked, locked), else_=T.expires_at)
    counting = inserted.on_conflict_do_update(
        index_elements=[T.tenant_id, T.name_hash], set_={"failures": counted, "expires_at": until}
    )
    return Compiled(counting.returning(T.failures))


_COLUMNS = ("tenant_id", "name_hash", "failures", "expires_at")


def _is_limited(lockout: Lockout) -> bool:
    return lockout.type != "none" and lockout.maximum_failed_attempts > 0
