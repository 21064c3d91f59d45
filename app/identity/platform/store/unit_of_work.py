"""The unit of work of one request: the statements of one tenant in one transaction.

The first write begins the transaction; the server commits it on a response and rolls it back on an error.
`release_connection` returns the connection to the pool before hashing or HTTP calls, `suspended` also where something was written.
`separate_transaction` commits on its own what must survive an error. Only the worker and the commands call `switch_tenant`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, NamedTuple

from sqlalchemy.engine import CursorResult, Row
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.sql import Executable

from app.identity.platform.store.compiled_statements import Compiled, DriverStatement, Parameters, Rows, changed_table
from app.identity.platform.store.connection_pool import Borrowed
from app.identity.platform.store.database import (
    Database,
    StoreContended,
    StoreUnavailable,
    is_contended,
    translate,
    unavailable,
)
from app.identity.platform.store.first_statement import FirstStatement

_SAFE_ID = re.compile(r"[0-9A-Za-z_-]{1,64}\Z")
_FAILED = "A statement had failed, so the transaction can only be rolled back."
_MAX_REPEATED = 1_000
"""Statements of a transaction that may be suspended; commands write more, and suspend none."""


@dataclass
class Cost:
    """The cost of a request, for the budgets that `make bench` prints."""

    statements: int = 0
    commits: int = 0
    hashes: int = 0
    hash_microseconds: int = 0
    """CPU time of password hashes, which have a budget of their own."""
    signatures: int = 0

    def header_value(self) -> str:
        """Return the value of X-Gatehouse-Cost."""
        counts = {"sql": self.statements, "commits": self.commits, "hashes": self.hashes}
        counts |= {"hash_us": self.hash_microseconds, "signatures": self.signatures}
        return "; ".join(["api=1", *(f"{name}={count}" for name, count in counts.items())])


class _Executed(NamedTuple):
    """A statement of the open transaction, and what it found."""

    statement: Executable | Compiled
    parameters: Parameters | None
    found: Rows


class UnitOfWork:
    """A transaction of one tenant."""

    def __init__(self, database: Database, tenant_id: str, cost: Cost | None = None) -> None:
        if not _SAFE_ID.match(tenant_id):
            raise ValueError("not a tenant id")
        self.tenant_id = tenant_id
        self.cost = cost or Cost()
        self.locked: dict[str, bool] = {}
        """Account ids that this transaction has locked (True) or found missing (False)."""
        self.changed_tables: set[str] = set()
        """The names of the tables with uncommitted writes."""
        self._database = database
        self._borrowed: Borrowed | None = None
        self._is_begun = False
        self._is_writing = False
        self._has_failed = False
        """Whether a statement of the transaction has failed: SQLite would commit what was before it, PostgreSQL refuses."""
        self._executed: list[_Executed] = []
        """The statements since the write transaction began, for `suspended`."""

    @property
    def is_writing(self) -> bool:
        """Whether there are uncommitted writes."""
        return self._is_writing

    @property
    def is_distributed(self) -> bool:
        """Whether the tables lie on several nodes, where Citus refuses some statements over all tenants."""
        return not self._database.is_sqlite and self._borrow().driver.is_distributed

    def run(self, statement: Executable | Compiled, parameters: Parameters | None = None) -> Rows:
        """Execute one statement.

        Raises:
            IntegrityError: a unique key is taken; the caller maps it to an error of the interface. The transaction can then only be
                rolled back, on both databases, as PostgreSQL has it.
            StoreUnavailable: the database is unreachable, full or read-only.
        """
        if (changed := changed_table(statement)) is not None:
            self.begin()
            self.changed_tables.add(changed.name)
        found = self._execute(statement, parameters)
        if self._is_writing and len(self._executed) < _MAX_REPEATED:
            self._executed.append(_Executed(statement, parameters, found))
        return found

    def one(self, statement: Executable | Compiled, parameters: Parameters | None = None) -> Row[Any] | None:
        """Return the only row, or None."""
        row: Row[Any] | None = self.run(statement, parameters).one_or_none()
        return row

    def all(self, statement: Executable | Compiled, parameters: Parameters | None = None) -> Sequence[Row[Any]]:
        return self.run(statement, parameters).rows

    def changed(self, statement: Executable | Compiled, parameters: Parameters | None = None) -> int:
        """Execute a statement and return the number of changed rows."""
        return self.run(statement, parameters).rowcount

    def begin(self) -> None:
        """Begin the write transaction early, so that rows read before the first write cannot change."""
        if self._is_writing:
            return
        if self._database.is_sqlite:
            self._database.begin_write(self._release, self._begin_immediately)
        self._is_writing = True  # PostgreSQL's transaction begins with its first statement

    def switch_tenant(self, tenant_id: str) -> None:
        """Continue the transaction as another tenant: for commands that change several, such as `gatehouse apply`."""
        if not _SAFE_ID.match(tenant_id):
            raise ValueError("not a tenant id")
        self.tenant_id = tenant_id
        self.locked.clear()
        if self._is_begun:
            self._command("SET LOCAL gatehouse.tenant", lambda driver: driver.set_tenant(tenant_id))

    def release_connection(self) -> None:
        """Return the connection to the pool. Raises RuntimeError after a write."""
        if self._is_writing:
            raise RuntimeError("cannot release the connection of a transaction that has written")
        self._release()

    def commit(self) -> None:
        """Commit and return the connection to the pool. Raises StoreUnavailable after a statement that failed, and rolls back."""
        if self._has_failed:
            self.rollback()
            raise StoreUnavailable(_FAILED)
        if self._is_writing and self._borrowed is not None:
            self._finish("COMMIT")
            self.cost.commits += 1
        self._release()

    def rollback(self) -> None:
        """Roll back and return the connection to the pool."""
        if self._is_writing and self._borrowed is not None:
            try:
                self._finish("ROLLBACK")
            except Exception:  # noqa: BLE001 - after any error the connection must not be used again
                self._discard()
        self._release()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Hold neither a connection nor a lock within the block, which waits for another system and runs no statement (decision 0391).

        What this unit wrote is rolled back. After the block the same statements run again, and must find what they found before.

        Raises:
            StoreContended: another transaction changed that meanwhile. The request may be retried, as after a deadlock.
            RuntimeError: the transaction is too long.
        """
        if not self._is_writing:
            self.release_connection()
            yield
            return
        if len(self._executed) == _MAX_REPEATED:
            raise RuntimeError("the transaction has too many statements to be suspended")
        executed, locked, changed_tables = self._executed, dict(self.locked), set(self.changed_tables)
        self._executed = []
        self.rollback()
        try:
            yield
        finally:
            self._repeat(executed)
            self.locked, self.changed_tables = locked, changed_tables

    @contextmanager
    def separate_transaction(self) -> Iterator[UnitOfWork]:
        """Yield a separate transaction that is committed at the end; not allowed after this unit has written."""
        self.release_connection()
        separate = UnitOfWork(self._database, self.tenant_id, self.cost)
        try:
            yield separate
            separate.commit()
        except BaseException:
            separate.rollback()
            raise

    def _repeat(self, executed: Sequence[_Executed]) -> None:
        """Begin the write transaction again with these statements. Raises StoreContended where one finds something else."""
        self.begin()
        try:
            is_same = all(self._execute(item.statement, item.parameters) == item.found for item in executed)
        except IntegrityError:
            is_same = False
        if not is_same:
            self.rollback()
            raise StoreContended("Another transaction changed what a suspended one had found.")
        self._executed = list(executed)

    def _execute(self, statement: Executable | Compiled, parameters: Parameters | None) -> Rows:
        """Execute one statement; raises as `run`."""
        if self._has_failed:
            raise StoreUnavailable(_FAILED)
        self.cost.statements += 1
        try:
            if isinstance(statement, Compiled):
                driver_statement = statement.driver_statement(self._database.engine.dialect)
                if statement.is_deferred and self._is_begun:
                    return self._database.defer(self._borrow(), driver_statement, parameters or {})
                return self._run_driver_statement(driver_statement, parameters or {})
            result: CursorResult[Any] = self._begin().connection.execute(statement, parameters)
            return Rows(list(result) if result.returns_rows else [], result.rowcount)
        except DBAPIError as problem:
            self._has_failed = self._is_writing and not problem.connection_invalidated
            if isinstance(problem, IntegrityError):
                raise
            self._database.record_error(problem.orig)
            raise translate(problem, self._database.engine) from problem

    def _run_driver_statement(self, driver_statement: DriverStatement, parameters: Parameters) -> Rows:
        if self._database.is_sqlite or self._is_begun:
            return self._database.execute(self._borrowed or self._borrow(), driver_statement, parameters)
        begins = self._is_writing or driver_statement.locks_rows
        first = FirstStatement(self.tenant_id, begins)
        try:
            return self._run_first(driver_statement, parameters, first)
        except DBAPIError as problem:
            if not problem.connection_invalidated:
                raise
            self._database.record_error(problem.orig)
            self._renew()
            return self._run_first(driver_statement, parameters, first)

    def _run_first(self, driver_statement: DriverStatement, parameters: Parameters, first: FirstStatement) -> Rows:
        """Run the statement that begins a PostgreSQL transaction; a read before any write is a transaction of its own."""
        borrowed = self._borrow()
        self._is_begun = first.begins
        return self._database.execute(borrowed, driver_statement, parameters, first)

    def _borrow(self) -> Borrowed:
        if self._borrowed is None:
            self._borrowed = self._database.borrow()
        elif self._is_begun and self._borrowed.connection.invalidated:
            # SQLAlchemy would go on over a new connection, without the transaction and the tenant.
            raise StoreUnavailable("The connection to the database was lost within the transaction.")
        return self._borrowed

    def _begin(self) -> Borrowed:
        borrowed = self._borrow()
        if self._is_begun:
            self._command("the inserts before it", methodcaller("execute_deferred"))
        elif not self._database.is_sqlite:
            try:
                self._command("BEGIN", lambda driver: driver.begin(self.tenant_id))
            except StoreUnavailable:
                self._renew()
                borrowed = self._borrow()
                self._command("BEGIN", lambda driver: driver.begin(self.tenant_id))
            self._is_begun = True
        return borrowed

    def _renew(self) -> None:
        """Close all connections, which may be older than an outage; the caller then retries over a new one."""
        self._discard()
        self._database.dispose()

    def _begin_immediately(self, wait_ms: int) -> None:
        """Begin a SQLite transaction that may wait so long for another process."""
        borrowed = self._borrow()
        if borrowed.busy_ms != wait_ms:
            self._command(f"PRAGMA busy_timeout={wait_ms}")
            borrowed.busy_ms = wait_ms
        self._command("BEGIN IMMEDIATE")

    def _command(self, text: str, run: Callable[[Any], object] | None = None) -> None:
        """Run a command on the driver connection, without SQLAlchemy; `run` does it in another way.

        Raises:
            StoreContended: a deadlock ended the transaction; inserts that wait for COMMIT can meet one there.
            StoreUnavailable: any other error of the driver.
        """
        if self._borrowed is None:
            raise RuntimeError("no connection")
        raw = self._borrowed.driver
        try:
            if run is not None:
                run(raw)
            elif self._database.is_sqlite:
                raw.execute(text)
            else:
                raw.command(text)
        except self._database.driver_error as problem:
            self._database.record_error(problem)
            if getattr(raw, "closed", False):
                self._discard()
            refused = unavailable(problem, self._database.engine, f"The database refused {text}")
            raise StoreContended(str(refused)) if is_contended(problem) else refused from problem

    def _finish(self, command: str) -> None:
        try:
            if self._is_begun:
                self._command(command, methodcaller("end", command))
            elif self._database.is_sqlite:
                self._command(command)
        except BaseException:
            self._discard()
            raise
        finally:
            self._is_begun = self._has_failed = False
            self.locked.clear()
            self.changed_tables.clear()
            self._executed = []
            if self._is_writing:
                self._is_writing = False
                if self._database.is_sqlite:
                    self._database.writing.release()

    def _release(self) -> None:
        self.changed_tables.clear()
        self._is_writing = self._has_failed = False
        borrowed, self._borrowed = self._borrowed, None
        if borrowed is None:
            return
        if self._is_begun and not borrowed.connection.invalidated:
            try:
                borrowed.driver.command("COMMIT")
            except self._database.driver_error:
                borrowed.connection.invalidate()
        self._is_begun = False
        self._database.idle.give_back(borrowed)

    def _discard(self) -> None:
        borrowed, self._borrowed = self._borrowed, None
        self._is_begun = False
        self.locked.clear()
        if borrowed is not None:
            borrowed.discard()


def is_distributed(database: Database) -> bool:
    """Return whether the tables lie on several nodes. Raises StoreUnavailable."""
    work = UnitOfWork(database, "none")
    try:
        return work.is_distributed
    finally:
        work.rollback()
