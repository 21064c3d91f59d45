"""Removes what is over, in small batches, tenant by tenant: nobody waits for it, and the row-level lock stays shut."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Table, and_, delete, select, tuple_

from app.identity.store.database import Database
from app.identity.store.schema import metadata
from app.identity.store.unit import UnitOfWork
from app.identity.tenants import changes
from app.identity.tenants.store import NOBODY

BATCH = 500
KEPT = {"codes": timedelta(hours=1), "refresh_tokens": timedelta(days=1)}
"""How long after its end a row is kept: a code or token that comes a second time must still be known as used."""
SENT_KEPT = timedelta(days=7)
_PAGE = 500


def clean(database: Database, now: datetime) -> int:
    """Remove what is over in every tenant; returns how many rows."""
    return sum(_clean_tenant(database, tenant_id, now) for tenant_id in _tenants(database))


def _tenants(database: Database) -> Iterator[str]:
    """Yield the ids of all tenants, page by page."""
    last = ""
    while True:
        work = UnitOfWork(database, NOBODY)
        try:
            page = changes.ids_after(work, last, _PAGE)
        finally:
            work.rollback()
        yield from page
        if len(page) < _PAGE:
            return
        last = page[-1]


def _clean_tenant(database: Database, tenant_id: str, now: datetime) -> int:
    removed = 0
    for name, table in metadata.tables.items():
        if name == "outbox":
            over: Any = and_(table.c.state == "sent", table.c.finished_at < now - SENT_KEPT)
        elif "expires_at" in table.c:
            over = table.c.expires_at < now - KEPT.get(name, timedelta())
        else:
            continue
        removed += _clean_table(database, table, tenant_id, over)
    return removed


def _clean_table(database: Database, table: Table, tenant_id: str, over: Any) -> int:
    removed = 0
    keys = tuple(table.primary_key.columns)
    found = select(*keys).where(table.c.tenant_id == tenant_id, over).limit(BATCH)
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            rows = work.all(found)
            if rows:
                removed += work.changed(delete(table).where(tuple_(*keys).in_([tuple(row) for row in rows]), over))
                work.commit()
        finally:
            work.rollback()
        if len(rows) < BATCH:
            return removed
