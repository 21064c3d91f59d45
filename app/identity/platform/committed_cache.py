"""A cache of committed database values: uncommitted values serve only their own request."""

from __future__ import annotations

from sqlalchemy import Table

from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.caching.lru_cache import Key, LruCache, Value


class CommittedCache(LruCache[Key, Value]):
    """The most recently used values, up to `most`. Thread-safe."""

    def put(self, key: Key, value: Value, read_by: UnitOfWork, *tables: Table) -> None:  # type: ignore[override]  # never without the unit that read it
        """Keep a value, unless the transaction that read it has changed its tables, or any if none are named."""
        changed = read_by.changed_tables
        if changed.isdisjoint(table.name for table in tables) if tables else not changed:
            super().put(key, value)
