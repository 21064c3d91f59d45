"""A cache of what the database holds: nothing that may still be rolled back serves other requests."""

from __future__ import annotations

from typing import Generic

from sqlalchemy import Table

from app.identity.platform.store.unit import UnitOfWork
from app.kit.lru_cache import Key, LruCache, Value


class CommittedCache(Generic[Key, Value]):
    """The most recently used values, up to `most`. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._kept: LruCache[Key, Value] = LruCache(most)

    def get(self, key: Key) -> Value | None:
        return self._kept.get(key)

    def put(self, key: Key, value: Value, read_by: UnitOfWork, *tables: Table) -> None:
        """Keep a value, unless the transaction that read it has changed its tables, or any if none are named."""
        changed = read_by.changed_tables
        if changed.isdisjoint(table.name for table in tables) if tables else not changed:
            self._kept.put(key, value)

    def clear(self) -> None:
        self._kept.clear()
