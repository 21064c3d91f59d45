"""Units of work borrow connections that stay open between them, within the bounds of SQLAlchemy's pool."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

from app.identity.platform.store import connection_pool
from app.identity.platform.store.connection_pool import IdlePool
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork

IDLE, MAX_CONNECTIONS = 2, 22
"""How many stay open, and how many there are with the overflow of twenty."""
READ = text("SELECT 1")


class Opened:
    """Counts the connections of an engine."""

    def __init__(self, engine: Engine) -> None:
        self.opened = self.closed = 0
        event.listen(engine, "connect", self._connected)
        event.listen(engine, "close", self._closed)

    @property
    def count(self) -> int:
        return self.opened - self.closed

    def _connected(self, *_: object) -> None:
        self.opened += 1

    def _closed(self, *_: object) -> None:
        self.closed += 1


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path / 'gatehouse.db'}", pool_size=IDLE)
    yield made
    made.dispose()


@pytest.fixture
def opened(database: Database) -> Opened:
    return Opened(database.engine)


def reading(database: Database) -> UnitOfWork:
    """Return a unit of work that holds a connection."""
    unit = UnitOfWork(database, "acme")
    unit.one(READ)
    return unit


def test_next_unit_of_work_borrows_the_same_connection(database: Database, opened: Opened) -> None:
    for _ in range(5):
        reading(database).rollback()
    assert (opened.opened, opened.count) == (1, 1)


def test_spare_connections_close(database: Database, opened: Opened) -> None:
    for unit in [reading(database) for _ in range(MAX_CONNECTIONS)]:
        unit.rollback()
    assert (opened.opened, opened.count) == (MAX_CONNECTIONS, IDLE)


def test_failed_connection_is_not_borrowed_again(database: Database, opened: Opened) -> None:
    unit = reading(database)
    unit._discard()
    assert opened.count == 0
    reading(database).rollback()
    assert (opened.opened, opened.count) == (2, 1)


def test_connection_that_was_invalidated_is_closed(database: Database, opened: Opened) -> None:
    borrowed = database.borrow()
    borrowed.connection.invalidate()
    database.idle.give_back(borrowed)
    assert opened.count == 0
    reading(database).rollback()


def test_disposed_database_closes_idle_and_returning_connections(database: Database, opened: Opened) -> None:
    busy = reading(database)
    reading(database).rollback()
    database.dispose()
    assert opened.count == 1
    busy.rollback()
    assert opened.count == 0
    reading(database).rollback()
    assert opened.count == 1


def test_old_connections_are_replaced(database: Database, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    idle = IdlePool(database._checkout, IDLE, recycle_seconds=900)
    first = idle.take()
    idle.give_back(first)
    assert idle.take() is first
    idle.give_back(first)
    later = first.opened_at + timedelta(minutes=16).total_seconds()
    monkeypatch.setattr(connection_pool, "monotonic", lambda: later)
    assert idle.take() is not first
    assert (opened.opened, opened.count) == (2, 1)


def test_more_threads_than_connections_take_turns(database: Database, opened: Opened) -> None:
    def read(_: int) -> int:
        unit = reading(database)
        try:
            row = unit.one(READ)
            return int(row[0]) if row else 0
        finally:
            unit.rollback()

    with ThreadPoolExecutor(2 * MAX_CONNECTIONS) as threads:
        assert sum(threads.map(read, range(2000))) == 2000
    assert opened.count <= MAX_CONNECTIONS
