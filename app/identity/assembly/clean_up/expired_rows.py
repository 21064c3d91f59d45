"""Deletes expired rows in small batches, tenant by tenant, so that requests do not wait and row-level security stays on.

A round visits all tenants, a few in each turn, which spreads the load of thousands of tenants. One statement tells which
tables of a tenant have expired rows; usually none has.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from sqlalchemy import Select, Table, and_, bindparam, delete, exists, func, literal, select, tuple_, union_all

from app.identity.assembly.clean_up import audit_retention, deleted_accounts, queued_messages
from app.identity.assembly.table_modules import metadata
from app.identity.directory.accounts import identifiers
from app.identity.directory.tenants import tenant_writes, theme_files
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.store import removal
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork, is_distributed

BATCH = 500
RETENTION = {
    "codes": timedelta(hours=1), "refresh_tokens": timedelta(days=1), "proofs": timedelta(days=7),
    "waiting_accounts": timedelta(days=7), "tickets": timedelta(days=1),
}  # fmt: skip
"""How long expired rows are retained: a second use of a code or token must be recognized, and an expired link can be renewed."""
SENT_RETENTION = timedelta(days=7)
ROUND_INTERVAL = timedelta(minutes=10)
"""The minimum time between the starts of two rounds."""
MAX_UNANSWERED: Final = 100_000
"""Unanswered interactions of a tenant; the oldest go first, of the networks that hold most (decision 0333)."""
_SURPLUS: Final = "surplus"
_FILES: Final = "theme_files"
_FILES_BEFORE: Final[Any] = bindparam(_FILES, type_=theme_files.F.stored_at.type)
_INTERACTIONS: Final = metadata.tables["attempts"]
A = _INTERACTIONS.c
_FORMER_DOMAINS: Final = "former_domains"
_IDENTIFIERS: Final = metadata.tables["identifiers"]
I, D = _IDENTIFIERS.c, metadata.tables["organization_domains"].c  # noqa: E741 - short names of columns, as in all stores
TENANTS_PER_TURN = 25
_PAGE = 500


class Cleaner:
    """Visits some tenants in each turn; maintains the audit partitions before each round."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remaining: Iterator[str] | None = None
        self._next_round_at: datetime | None = None

    def turn(self, now: datetime) -> int:
        """Clean the next tenants of a running or due round. Return the number of deleted rows."""
        if self._remaining is None:
            if self._next_round_at is not None and now < self._next_round_at:
                return 0
            self._remaining, self._next_round_at = tenant_ids(self._database), now + ROUND_INTERVAL
            audit_retention.maintain_partitions(self._database, now)
        visited = list(islice(self._remaining, TENANTS_PER_TURN))
        if len(visited) < TENANTS_PER_TURN:
            self._remaining = None
        return sum(self._clean(tenant_id, now) for tenant_id in visited)

    def _clean(self, tenant_id: str, now: datetime) -> int:
        """Clean a tenant; on Citus, one whose node does not answer is left to the next round. Raises StoreUnavailable."""
        try:
            return _clean_tenant(self._database, tenant_id, now)
        except StoreUnavailable:
            if not is_distributed(self._database):
                raise
            return 0


def clean(database: Database, now: datetime) -> int:
    """Delete the expired rows of all tenants. Return their number."""
    return sum(_clean_tenant(database, tenant_id, now) for tenant_id in tenant_ids(database))


def tenant_ids(database: Database) -> Iterator[str]:
    """Yield the ids of all tenants, page by page."""
    last = ""
    while True:
        work = UnitOfWork(database, LOOKUP_TENANT)
        try:
            page = tenant_writes.ids_after(work, last, _PAGE)
        finally:
            work.rollback()
        yield from page
        if len(page) < _PAGE:
            return
        last = page[-1]


def _is_expired(table: Table) -> Any:
    """Return the condition for expired rows of a table; the cutoff time is the bind parameter of the table's name."""
    if table.name == "outbox":
        is_old = table.c.finished_at < bindparam(table.name, type_=table.c.finished_at.type)
        return and_(table.c.state == "sent", table.c.queue.is_(None), is_old)
    return table.c.expires_at < bindparam(table.name, type_=table.c.expires_at.type)


def _unanswered_beyond(tenant_id: Any, most: int) -> Select[Any]:
    """Return the query for an unanswered interaction that is one too many."""
    return select(A.interaction_hash).where(A.tenant_id == tenant_id, A.is_done.is_(False)).offset(most).limit(1)


def _is_unclaimed(tenant_id: Any) -> Any:
    """Return the condition for a domain of a former address that no organization claims: only claims make it matter."""
    claimed = select(D.domain).where(D.tenant_id == tenant_id)
    domain = func.substr(I.value, func.length(I.uid) + 2)
    return and_(I.tenant_id == tenant_id, I.kind == identifiers.FORMER_DOMAIN, domain.not_in(claimed))


_RETENTION: Final = {
    name: SENT_RETENTION if name == "outbox" else RETENTION.get(name, timedelta())
    for name, table in metadata.tables.items()
    if name == "outbox" or "expires_at" in table.c
}
_TABLES: Final = {name: metadata.tables[name] for name in _RETENTION}
_TABLES_WITH_EXPIRED_ROWS: Final = union_all(
    *(
        select(literal(name).label("name")).where(
            exists().where(table.c.tenant_id == bindparam("tenant"), _is_expired(table))
        )
        for name, table in _TABLES.items()
    ),
    select(literal(deleted_accounts.TABLE)).where(
        exists().where(deleted_accounts.is_due(bindparam("tenant"), bindparam(deleted_accounts.TABLE)))
    ),
    select(literal(audit_retention.TABLE)).where(
        exists().where(audit_retention.is_expired(bindparam("tenant"), bindparam(audit_retention.TABLE)))
    ),
    select(literal(_SURPLUS)).where(exists(_unanswered_beyond(bindparam("tenant"), MAX_UNANSWERED))),
    *queued_messages.due_work(),
    select(literal(_FILES)).where(exists().where(theme_files.is_old(bindparam("tenant"), _FILES_BEFORE))),
    select(literal(_FORMER_DOMAINS)).where(exists().where(_is_unclaimed(bindparam("tenant")))),
)


def _clean_tenant(database: Database, tenant_id: str, now: datetime) -> int:
    cutoffs = {name: now - retention for name, retention in _RETENTION.items()}
    work = UnitOfWork(database, tenant_id)
    try:
        first_retained = audit_retention.first_retained(work, now)
        bounds = {"tenant": tenant_id, deleted_accounts.TABLE: now, audit_retention.TABLE: first_retained, **cutoffs}
        bounds |= {**queued_messages.bounds(now), _FILES: now - theme_files.RETENTION}
        names = [row.name for row in work.run(_TABLES_WITH_EXPIRED_ROWS, bounds)]
    finally:
        work.rollback()
    deleted = sum(_clean_table(database, _TABLES[name], tenant_id, cutoffs[name]) for name in names if name in _TABLES)
    if audit_retention.TABLE in names:
        deleted += audit_retention.delete_expired(database, tenant_id, first_retained)
    if _SURPLUS in names:
        deleted += push_out_unanswered(database, tenant_id, MAX_UNANSWERED)
    if _FILES in names:
        deleted += theme_files.clean(database, tenant_id, now)
    if _FORMER_DOMAINS in names:
        deleted += delete_unclaimed_domains(database, tenant_id)
    deleted += queued_messages.clean(database, tenant_id, now, names)
    return deleted + (deleted_accounts.delete_due(database, tenant_id, now) if deleted_accounts.TABLE in names else 0)


def _clean_table(database: Database, table: Table, tenant_id: str, cutoff: datetime) -> int:
    deleted = 0
    keys, is_expired = tuple(table.primary_key.columns), _is_expired(table)
    expired = select(*keys).where(table.c.tenant_id == tenant_id, is_expired).limit(BATCH)
    if table.name == "applications":  # a request that uses an application to be removed waits
        expired = expired.with_for_update()
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            rows = work.run(expired, {table.name: cutoff}).all()
            if rows and table.name == "waiting_accounts":
                removal.delete_orphaned_passkeys(work, [row.uid for row in rows])
            if rows and table.name == "applications":
                removal.delete_client_rows(work, [row.client_id for row in rows])
            if rows:
                is_listed = tuple_(*keys).in_([tuple(row) for row in rows])
                batch = delete(table).where(table.c.tenant_id == tenant_id, is_listed, is_expired)
                deleted += work.run(batch, {table.name: cutoff}).rowcount
                work.commit()
        finally:
            work.rollback()
        if len(rows) < BATCH:
            return deleted


def delete_unclaimed_domains(database: Database, tenant_id: str) -> int:
    """Delete the domains of former addresses that no organization of the tenant claims, in batches; return how many."""
    deleted = 0
    unclaimed = select(I.value).where(_is_unclaimed(tenant_id)).limit(BATCH)
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            values = [row.value for row in work.all(unclaimed)]
            batch = delete(_IDENTIFIERS).where(_is_unclaimed(tenant_id), I.value.in_(values))
            deleted += work.run(batch).rowcount if values else 0
            work.commit()
        finally:
            work.rollback()
        if len(values) < BATCH:
            return deleted


def push_out_unanswered(database: Database, tenant_id: str, most: int) -> int:
    """Delete the interactions beyond a number, in batches; return how many.

    Each network keeps its newest applications, up to the limit for all networks, so that an attacker displaces their own first.
    """
    place = func.row_number().over(partition_by=A.network, order_by=A.created_at.desc())
    placed = (
        select(A.interaction_hash, A.created_at, place.label("place"))
        .where(A.tenant_id == tenant_id, A.is_done.is_(False))
        .subquery()
    )
    order = (placed.c.place, placed.c.created_at.desc())
    surplus = select(placed.c.interaction_hash).order_by(*order).offset(most).limit(BATCH)
    deleted = 0
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            batch = delete(_INTERACTIONS).where(A.tenant_id == tenant_id, A.interaction_hash.in_(surplus))
            number = work.run(batch).rowcount
            work.commit()
        finally:
            work.rollback()
        deleted += number
        if number < BATCH:
            return deleted
