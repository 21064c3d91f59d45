"""Open connections that units of work borrow.

SQLAlchemy's pool opens them and bounds their number. Only its checkout for each unit of work is skipped: with its work
around a connection it takes as long as three compiled statements (decision 0286).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from app.kit.clock import monotonic


class Borrowed:
    """A connection: SQLAlchemy's, and the driver's for compiled statements."""

    __slots__ = ("busy_ms", "connection", "driver", "generation", "opened_at")

    def __init__(self, connection: Connection, generation: int) -> None:
        self.connection = connection
        self.driver: Any = connection.connection.driver_connection
        self.generation = generation
        self.opened_at = monotonic()
        self.busy_ms: int | None = None
        """SQLite's `busy_timeout`, where a unit of work has set it."""

    def discard(self) -> None:
        """Close the connection: after a failure, or because it is old or spare."""
        self.connection.invalidate()
        self.connection.close()


class IdlePool:
    """Connections that no unit of work has borrowed at the moment.

    Args:
        open_connection: takes a connection from SQLAlchemy's pool; waits where all are in use.
        most: how many stay open.
        recycle_seconds: the age at which a connection is closed; None: never.
    """

    def __init__(self, open_connection: Callable[[], Connection], most: int, recycle_seconds: float | None) -> None:
        self._open = open_connection
        self._most = most
        self._recycle_seconds = recycle_seconds
        self._lock = threading.Lock()
        self._idle: list[Borrowed] = []
        self._opening = 0
        self._generation = 0

    def take(self) -> Borrowed:
        """Return an open connection, the last one given back; else open one. Raises as `open_connection`."""
        while True:
            with self._lock:
                if not self._idle:
                    self._opening += 1
                    generation = self._generation
                    break
                found = self._idle.pop()
            if self._recycle_seconds is None or monotonic() - found.opened_at < self._recycle_seconds:
                return found
            found.discard()
        try:
            return Borrowed(self._open(), generation)
        finally:
            with self._lock:
                self._opening -= 1

    def give_back(self, borrowed: Borrowed) -> None:
        """Keep the connection for the next unit of work; if one waits for SQLAlchemy's pool, give it back there."""
        connection = borrowed.connection
        if (
            connection.in_transaction()
        ):  # SQLAlchemy began one when it ran a statement; the driver is in autocommit mode
            try:
                connection.rollback()
            except DBAPIError:
                connection.invalidate()
        with self._lock:
            is_usable = borrowed.generation == self._generation and not connection.invalidated
            is_awaited = self._opening > 0
            if is_usable and not is_awaited and len(self._idle) < self._most:
                self._idle.append(borrowed)
                return
        if is_usable and is_awaited:
            connection.close()
        else:
            borrowed.discard()

    def clear(self) -> None:
        """Close the idle connections at once and the borrowed ones when they come back."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._generation += 1
        for item in idle:
            item.discard()
