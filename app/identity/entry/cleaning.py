"""Removes what is over, in small batches, tenant by tenant: nobody waits for it, and the row-level lock stays shut.

A round goes through all tenants, a few in each turn, so that ten thousand of them make no burst. One statement asks a
tenant's tables whether anything is over; most of the time nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from sqlalchemy import Table, and_, bindparam, delete, exists, literal, select, tuple_, union_all

from app.identity.directory.tenants import changes
from app.identity.directory.tenants.store import LOOKUP_TENANT
from app.identity.entry import audit_partitions, audit_retention, deleted_accounts
from app.identity.entry.tables import metadata
from app.identity.platform.store import removal
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork

BATCH = 500
KEPT = {
    "codes": timedelta(hours=1), "refresh_tokens": timedelta(days=1), "proofs": timedelta(days=7),
    "waiting_accounts": timedelta(days=7), "tickets": timedelta(days=1),
}  # fmt: skip
"""How long after its end a row is kept: a code or token that comes a second time must still be known as used, and a link that is
over can be replaced by a new one."""
SENT_KEPT = timedelta(days=7)
EVERY = timedelta(minutes=10)
"""From the beginning of one round to that of the next, at the least."""
TENANTS_A_TURN = 25
_PAGE = 500


class Cleaner:
    """Goes round the tenants, some in each turn; before each round, sees to the months of the audit trail."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._left: Iterator[str] | None = None
        self._begins_at: datetime | None = None

    def turn(self, now: datetime) -> int:
        """Clean the next tenants, where a round is on or due; returns how many rows were removed."""
        if self._left is None:
            if self._begins_at is not None and now < self._begins_at:
                return 0
            self._left, self._begins_at = _tenants(self._database), now + EVERY
            audit_partitions.keep(self._database, now)
        some = list(islice(self._left, TENANTS_A_TURN))
        if len(some) < TENANTS_A_TURN:
            self._left = None
        return sum(_clean_tenant(self._database, tenant_id, now) for tenant_id in some)


def clean(database: Database, now: datetime) -> int:
    """Remove what is over in every tenant at once; returns how many rows."""
    return sum(_clean_tenant(database, tenant_id, now) for tenant_id in _tenants(database))


def _tenants(database: Database) -> Iterator[str]:
    """Yield the ids of all tenants, page by page."""
    last = ""
    while True:
        work = UnitOfWork(database, LOOKUP_TENANT)
        try:
            page = changes.ids_after(work, last, _PAGE)
        finally:
            work.rollback()
        yield from page
        if len(page) < _PAGE:
            return
        last = page[-1]


def _over(table: Table) -> Any:
    """The condition under which a row of the table is over, at the time bound to the table's name."""
    if table.name == "outbox":
        return and_(
            table.c.state == "sent", table.c.finished_at < bindparam(table.name, type_=table.c.finished_at.type)
        )
    return table.c.expires_at < bindparam(table.name, type_=table.c.expires_at.type)


_KEPT: Final = {
    name: SENT_KEPT if name == "outbox" else KEPT.get(name, timedelta())
    for name, table in metadata.tables.items()
    if name == "outbox" or "expires_at" in table.c
}
_TABLES: Final = {name: metadata.tables[name] for name in _KEPT}
_FULL: Final = union_all(
    *(
        select(literal(name).label("name")).where(
            exists().where(table.c.tenant_id == bindparam("tenant"), _over(table))
        )
        for name, table in _TABLES.items()
    ),
    select(literal(deleted_accounts.TABLE)).where(
        exists().where(deleted_accounts.is_due(bindparam("tenant"), bindparam(deleted_accounts.TABLE)))
    ),
    select(literal(audit_retention.TABLE)).where(
        exists().where(audit_retention.is_over(bindparam("tenant"), bindparam(audit_retention.TABLE)))
    ),
)


def _clean_tenant(database: Database, tenant_id: str, now: datetime) -> int:
    ends = {name: now - kept for name, kept in _KEPT.items()}
    work = UnitOfWork(database, tenant_id)
    try:
        first_kept = audit_retention.first_kept(work, now)
        bounds = {"tenant": tenant_id, deleted_accounts.TABLE: now, audit_retention.TABLE: first_kept, **ends}
        full = [row.name for row in work.run(_FULL, bounds)]
    finally:
        work.rollback()
    left = sum(_clean_table(database, _TABLES[name], tenant_id, ends[name]) for name in full if name in _TABLES)
    if audit_retention.TABLE in full:
        left += audit_retention.remove(database, tenant_id, first_kept)
    return left + (deleted_accounts.remove(database, tenant_id, now) if deleted_accounts.TABLE in full else 0)


def _clean_table(database: Database, table: Table, tenant_id: str, end: datetime) -> int:
    removed = 0
    keys, over = tuple(table.primary_key.columns), _over(table)
    found = select(*keys).where(table.c.tenant_id == tenant_id, over).limit(BATCH)
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            rows = work.run(found, {table.name: end}).all()
            if rows and table.name == "waiting_accounts":
                removal.delete_orphaned_passkeys(work, [row.uid for row in rows])
            if rows:
                gone = delete(table).where(tuple_(*keys).in_([tuple(row) for row in rows]), over)
                removed += work.run(gone, {table.name: end}).rowcount
                work.commit()
        finally:
            work.rollback()
        if len(rows) < BATCH:
            return removed
