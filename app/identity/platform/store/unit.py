"""The unit of work of one operation.

Reads go out at once. The first write begins the transaction, in which all later statements stand; the server commits it
on a response and rolls it back on an error. `pause` gives the connection back before hashing or calling out.
`apart` is a short transaction of its own for what must outlive a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Connection, CursorResult, Row
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.sql import Executable

from app.identity.platform.store.database import Database, StoreUnavailable, translate

_SAFE_ID = re.compile(r"[0-9A-Za-z_-]{1,64}\Z")


@dataclass
class Cost:
    """What a request spent, for the budgets of design section 6."""

    statements: int = 0
    commits: int = 0
    hashes: int = 0
    hash_microseconds: int = 0
    """CPU of the password hashes, which are budgeted by themselves."""
    signatures: int = 0

    def told(self) -> str:
        """Return the value of X-Gatehouse-Cost."""
        counts = {"sql": self.statements, "commits": self.commits, "hashes": self.hashes}
        counts |= {"hash_us": self.hash_microseconds, "signatures": self.signatures}
        return "; ".join(["api=1", *(f"{name}={count}" for name, count in counts.items())])


class UnitOfWork:
    """Statements of one tenant, all or nothing."""

    def __init__(self, database: Database, tenant_id: str, cost: Cost | None = None) -> None:
        if not _SAFE_ID.match(tenant_id):
            raise ValueError("not a tenant id")
        self.tenant_id = tenant_id
        self.cost = cost or Cost()
        self.locked: dict[str, bool] = {}
        """The accounts that this transaction has locked, or found missing."""
        self._database = database
        self._connection: Connection | None = None
        self._is_begun = False
        self._is_writing = False

    @property
    def is_writing(self) -> bool:
        """Whether something was written that is not committed yet."""
        return self._is_writing

    def run(
        self, statement: Executable, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> CursorResult[Any]:
        """Execute one statement.

        Raises:
            IntegrityError: a unique key is taken; the caller says which error of the interface that is.
            StoreUnavailable: the database is gone, full or read-only.
        """
        if getattr(statement, "is_dml", False):
            self._begin_write()
        connection = self._ready()
        self.cost.statements += 1
        try:
            return (
                connection.execute(statement, parameters) if parameters is not None else connection.execute(statement)
            )
        except IntegrityError:
            raise
        except DBAPIError as problem:
            self._database.note(problem.orig)
            raise translate(problem) from problem

    def one(self, statement: Executable) -> Row[Any] | None:
        """Return the only row, or None."""
        return self.run(statement).one_or_none()

    def all(self, statement: Executable) -> Sequence[Row[Any]]:
        return self.run(statement).all()

    def changed(self, statement: Executable) -> int:
        """Return how many rows the statement changed."""
        return self.run(statement).rowcount

    def begin(self) -> None:
        """Begin the transaction before its first write, so that what is read until then cannot change any more."""
        self._begin_write()

    def enter(self, tenant_id: str) -> None:
        """Go on as another tenant, in the same transaction: for what touches several, such as `gatehouse apply`."""
        if not _SAFE_ID.match(tenant_id):
            raise ValueError("not a tenant id")
        self.tenant_id = tenant_id
        self.locked.clear()
        if self._is_begun:
            self._driver(f"SELECT set_config('gatehouse.tenant', '{tenant_id}', true)")

    def release_connection(self) -> None:
        """Give the connection back; nothing may have been written yet."""
        if self._is_writing:
            raise RuntimeError("no pause inside a transaction that has written")
        self._release()

    def commit(self) -> None:
        """Commit what was written; without writes only the connection is given back."""
        if self._is_writing and self._connection is not None:
            self.cost.commits += 1
            self._finish("COMMIT")
        self._release()

    def rollback(self) -> None:
        """Undo what was written."""
        if self._is_writing and self._connection is not None:
            try:
                self._finish("ROLLBACK")
            except Exception:  # noqa: BLE001 - whatever it is, the connection is not to be used again
                self._drop()
        self._release()

    @contextmanager
    def separate_transaction(self) -> Iterator[UnitOfWork]:
        """Give a transaction of its own, committed at the end; only while nothing of this unit is written."""
        self.release_connection()
        other = UnitOfWork(self._database, self.tenant_id, self.cost)
        try:
            yield other
            other.commit()
        except BaseException:
            other.rollback()
            raise

    def _ready(self) -> Connection:
        if self._connection is None:
            self._connection = self._database.connect()
        if not self._is_begun and not self._database.is_sqlite:
            try:
                self._driver(self._beginning(self._connection))
            except StoreUnavailable:  # the pool's connections may be from before an outage: once more over a new one
                self._drop()
                self._database.dispose()
                self._connection = self._database.connect()
                self._driver(self._beginning(self._connection))
            self._is_begun = True
        return self._connection

    def _beginning(self, connection: Connection) -> str:
        """Return what begins a PostgreSQL transaction: its tenant and its timeouts, which end with it."""
        raw: Any = connection.connection.driver_connection
        return f"BEGIN; SELECT set_config('gatehouse.tenant', '{self.tenant_id}', true), {raw.timeouts()}"

    def _begin_write(self) -> None:
        if self._is_writing:
            return
        if self._database.is_sqlite:
            with self._database.write_lock() as wait_ms:
                connection = self._ready()
                if connection.info.get("busy_ms") != wait_ms:
                    connection.info["busy_ms"] = wait_ms
                    self._driver(f"PRAGMA busy_timeout={wait_ms}")
                self._driver("BEGIN IMMEDIATE")
        else:
            self._ready()
        self._is_writing = True

    def _driver(self, text: str) -> None:
        """Speak to the driver itself: SQLAlchemy would wrap and the driver might prepare what must stay plain."""
        if self._connection is None:
            raise RuntimeError("no connection to speak to")
        raw: Any = self._connection.connection.driver_connection
        try:
            raw.execute(text) if self._database.is_sqlite else raw.execute(text, prepare=False)
        except self._database.driver_error as problem:
            self._database.note(problem)
            if getattr(raw, "closed", False):
                self._drop()
            raise StoreUnavailable(f"The database refused {text.split(';')[0]}: {problem}") from problem

    def _finish(self, word: str) -> None:
        try:
            self._driver(word)
        except BaseException:
            self._drop()
            raise
        finally:
            self._is_begun = False
            self.locked.clear()
            if self._is_writing:
                self._is_writing = False
                if self._database.is_sqlite:
                    self._database.writing.release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if (
            self._is_begun and not connection.invalidated
        ):  # an invalidated one has no driver any more, and nothing to end
            try:
                raw: Any = connection.connection.driver_connection
                raw.execute("COMMIT")
            except self._database.driver_error:
                connection.invalidate()
        self._is_begun = False
        connection.close()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._is_begun = False
        self.locked.clear()
        if connection is not None:
            connection.invalidate()
            connection.close()
