"""Database engines and connections for SQLite and PostgreSQL."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool

from app.identity.platform.store.compiled_statements import DriverStatement, Parameters, Rows
from app.identity.platform.store.connection_pool import Borrowed, IdlePool
from app.identity.platform.store.first_statement import FirstStatement
from app.kit.clock import monotonic
from app.kit.limits import time_budget
from app.kit.observability.health import DiskWatch, disk_of
from app.kit.settings.database_url import own_parameters

PATIENCE_SECONDS = 30.0
"""The time limit of commands and background jobs for PostgreSQL; requests have their own time budget."""
LOCK_SECONDS = 10.0
"""How long commands and background jobs wait for another process's write lock on the SQLite file."""
_LOCK_SHARE = 0.8
"""The share of its time budget that a request may wait for the file's write lock."""
_POOL_SECONDS = 2.0
_RECYCLE_SECONDS = 900
"""The age at which a connection to PostgreSQL is closed."""
_CACHED_STATEMENTS = 2_000
"""How many statements that are built where they run SQLAlchemy keeps compiled."""
SYNCHRONOUS = "full"
"""SQLite syncs to disk at each commit, so acknowledged changes survive a power failure; `?synchronous=normal` does not."""
_DISK_FULL = "53100"  # PostgreSQL's disk_full
_CONTENDED = frozenset({"40P01", "40001"})  # PostgreSQL's deadlock_detected and serialization_failure


class StoreUnavailable(Exception):
    """The database cannot be reached or written: responds 503; nothing was partly written."""

    unavailable_status = 503


class DiskFull(StoreUnavailable):
    """The disk is full: the database is read, not written. Its `DiskWatch` records that."""


class StoreContended(StoreUnavailable):
    """A deadlock, or a change while the transaction was suspended: it was rolled back and may be retried."""


class _Pool(QueuePool):
    """SQLAlchemy's pool, whose wait for a connection that is given back ends with the request's time budget."""

    @property
    def _timeout(self) -> float:
        return min(_POOL_SECONDS, time_budget.remaining_seconds(_POOL_SECONDS))

    @_timeout.setter
    def _timeout(self, _: float) -> None:
        """Leave it as it is: SQLAlchemy sets its default."""

    __module__ = QueuePool.__module__  # names the logger


class Database:
    """One database for all tenants.

    Connections are in autocommit mode; `unit_of_work.py` begins transactions explicitly, because a SQLite writer must use
    BEGIN IMMEDIATE and a PostgreSQL transaction must set the tenant.
    """

    def __init__(self, url: str, *, pool_size: int = 20, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self.engine = _sqlite(url, pool_size) if self.is_sqlite else _postgres(url, pool_size, patience_seconds)
        self.driver_error: Any = self.engine.dialect.loaded_dbapi.Error  # only one driver is loaded
        self.writing = threading.Lock()  # one SQLite writer at a time in this process: a queue instead of busy waiting
        self._circuit = time_budget.CircuitBreaker(self._probe)
        self.idle = IdlePool(self._checkout, pool_size, None if self.is_sqlite else _RECYCLE_SECONDS)

    def connect(self) -> Connection:
        """Check a connection out of SQLAlchemy's pool. Raises StoreUnavailable, immediately while the circuit breaker is open."""
        self._admit()
        return self._checkout()

    def borrow(self) -> Borrowed:
        """Return a connection for a unit of work, which gives it back to `idle`. Raises as `connect`."""
        self._admit()
        return self.idle.take()

    def _admit(self) -> None:
        """Raise StoreUnavailable without a query if the circuit is open or the request has no time left."""
        if self.is_sqlite:
            return
        if self._circuit.is_open:
            raise StoreUnavailable("The database hasn't responded recently.")
        if time_budget.remaining_seconds(1.0) <= 0:
            raise StoreUnavailable("The request has used up its time for the database.")

    def execute(
        self,
        borrowed: Borrowed,
        driver_statement: DriverStatement,
        parameters: Parameters,
        first: FirstStatement | None = None,
    ) -> Rows:
        """Run a compiled statement on the driver's connection; raises as SQLAlchemy does, DBAPIError and IntegrityError.

        `first`: the statement is the first one, or the only one, of a PostgreSQL transaction.
        """
        dialect = self.engine.dialect
        raw = borrowed.driver
        try:
            if type(parameters) is dict or isinstance(parameters, Mapping):  # the first is fast
                values = driver_statement.parameters(parameters)
                if self.is_sqlite:
                    cursor = raw.execute(driver_statement.sql, values)
                    return Rows(driver_statement.rows(cursor.fetchall()), cursor.rowcount)
                fetched, count = raw.rows(driver_statement.encoded, values, first)
                return Rows(driver_statement.rows(fetched), count)
            rows = [driver_statement.parameters(parameter) for parameter in parameters]
            if self.is_sqlite:
                return Rows([], raw.executemany(driver_statement.sql, rows).rowcount)
            return Rows([], raw.change_many(driver_statement.encoded, rows, first))
        except self.driver_error as problem:
            is_lost = dialect.is_disconnect(problem, raw, None)
            wrapped = DBAPIError.instance(
                driver_statement.sql,
                None,
                problem,
                self.driver_error,
                hide_parameters=True,
                connection_invalidated=is_lost,
                dialect=dialect,
            )
            if is_lost:
                borrowed.connection.invalidate(problem)
            raise wrapped from problem

    def defer(self, borrowed: Borrowed, driver_statement: DriverStatement, parameters: Parameters) -> Rows:
        """Let a compiled insert go to PostgreSQL with the next statement; return what it will have found."""
        each = [parameters] if isinstance(parameters, Mapping) else parameters
        borrowed.driver.defer(driver_statement.encoded, [driver_statement.parameters(row) for row in each])
        return Rows([], len(each))

    def record_error(self, problem: BaseException | None) -> None:
        """Report a driver error; a hanging server opens the circuit breaker, so that other requests do not wait."""
        is_hang = getattr(problem, "is_hang", None)
        if is_hang:
            self._circuit.record_timeout()
        elif is_hang is not None:
            self._circuit.record_doubt()

    def begin_write(self, before_wait: Callable[[], None], begin: Callable[[int], None]) -> None:
        """Acquire the process's SQLite write lock and let `begin` begin a transaction.

        The caller must release `writing` after the transaction; if `begin` raises, the lock is released.

        Args:
            before_wait: called if another thread holds the lock. It must return the caller's connection to the pool: else the
                waiting threads could hold every connection while the lock's next holder waits for one.
            begin: gets the `busy_timeout` in milliseconds for other processes' locks.

        Raises:
            StoreUnavailable: another thread or another process holds the lock for too long.
        """
        self._refuse_locked()
        if not self.writing.acquire(blocking=False):
            before_wait()
            with time_budget.Measured():
                is_acquired = self.writing.acquire(timeout=time_budget.remaining_seconds(6 * LOCK_SECONDS))
            if not is_acquired:
                raise StoreUnavailable("Another transaction has held the write lock longer than the request may wait.")
        started = monotonic()
        wait_seconds = min(LOCK_SECONDS, time_budget.remaining_seconds(LOCK_SECONDS / _LOCK_SHARE) * _LOCK_SHARE)
        try:
            self._refuse_locked()
            begin(int(wait_seconds * 4) * 250)  # in steps, so that few transactions have to change the setting
        except BaseException:
            self.writing.release()
            if monotonic() - started >= 1.0:  # only another process's lock can take that long
                self._circuit.record_timeout()
            raise
        finally:
            time_budget.subtract(monotonic() - started)

    def _refuse_locked(self) -> None:
        if self._circuit.is_open:
            raise StoreUnavailable("Another process is holding the write lock of the file.")

    @property
    def is_hanging(self) -> bool:
        """Whether the database has not answered recently."""
        return self._circuit.is_open

    def _probe(self) -> None:
        """Return if the database answers, if only with an error; while the circuit is open, over a new connection."""
        if self.is_sqlite:
            self._probe_lock()
            return
        if self._circuit.is_open:  # after mere doubt, what answers slowly keeps its connections
            self.dispose()
        try:
            with self.engine.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
        except DBAPIError as problem:
            if hasattr(problem.orig, "is_hang"):
                raise

    def _probe_lock(self) -> None:
        """Return if no other process holds the file's write lock."""
        with self.writing, self.engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(time_budget.PROBE_SECONDS * 1000)}")
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                connection.exec_driver_sql("ROLLBACK")
            finally:
                connection.invalidate()  # with its setting

    def _checkout(self) -> Connection:
        try:
            with time_budget.Measured():
                return self.engine.connect()
        except DBAPIError as problem:
            self.record_error(problem.orig)
            raise unavailable(problem.orig, self.engine) from problem
        except PoolTimeout as problem:
            raise StoreUnavailable("Every connection to the database is in use.") from problem

    def dispose(self) -> None:
        """Close the connections; borrowed ones when they are given back."""
        self.idle.clear()
        self.engine.dispose()


def refuse_unwritable(connection: Connection) -> None:
    """Raise StoreUnavailable if the database accepts no writes: a read-only or full disk, a PostgreSQL standby.

    On SQLite only a committed write can tell, so it writes the schema revision unchanged.
    """
    try:
        if connection.dialect.name == "postgresql":
            if connection.exec_driver_sql(_READ_ONLY).scalar():
                raise StoreUnavailable("The database doesn't accept writes.")
            return
        connection.exec_driver_sql("PRAGMA busy_timeout=500")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")  # in autocommit
    except DBAPIError as problem:
        if "locked" not in str(problem.orig):  # another process is writing, so writes work
            raise unavailable(problem.orig, connection.engine) from problem


_READ_ONLY = "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"


def is_contended(error: object) -> bool:
    """Whether the driver's error is a deadlock or a failed serialization: the transaction is rolled back, and may run again."""
    return getattr(error, "sqlstate", None) in _CONTENDED


def translate(problem: DBAPIError, engine: Engine) -> Exception:
    """Map a driver error: StoreUnavailable for a lost, full or read-only database, StoreContended for a deadlock."""
    if is_contended(problem.orig):
        return StoreContended(str(unavailable(problem.orig, engine)))
    text = str(problem.orig).lower()
    is_lost = problem.connection_invalidated or isinstance(problem, OperationalError)
    if is_lost or "readonly" in text or "read-only" in text or "disk" in text:
        return unavailable(problem.orig, engine)
    return problem


def unavailable(error: object, engine: Engine, otherwise: str = "The database isn't responding") -> StoreUnavailable:
    """Return the exception for an error of the driver: DiskFull if a full disk refused a write."""
    said = str(error).splitlines()[0] if str(error) else type(error).__name__
    sentence = _write_fault(error, engine) or f"{otherwise}: {said}"
    if not _is_full(error, engine):
        return StoreUnavailable(sentence)
    disk_watch(engine.url).record_full()
    return DiskFull(sentence)


def disk_watch(url: URL) -> DiskWatch:
    """Return the watch of a database's disk."""
    return disk_of(f"{url.host}:{url.port}/{url.database}")


def _write_fault(error: object, engine: Engine) -> str:
    """Return why the database can't be written; empty for any other driver error."""
    file, code = engine.url.database, getattr(error, "sqlite_errorname", "")
    if _is_full(error, engine):
        return f"The database can't be written: the disk of {file if code else 'its server'} is full."
    if file and code.startswith("SQLITE_READONLY"):
        return f"The database can't be written: {file} or its folder is read-only."
    if file and code.startswith("SQLITE_IOERR"):
        return f"The database can't be read or written: the disk of {file} fails ({error})."
    return ""


def _is_full(error: object, engine: Engine) -> bool:
    """SQLite reports a full disk as an I/O error if a file beside it can't grow."""
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith("SQLITE_IOERR") and engine.url.database:
        with suppress(OSError):
            return os.statvfs(Path(engine.url.database).parent).f_bavail == 0
    return code == "SQLITE_FULL" or getattr(error, "sqlstate", None) == _DISK_FULL


def _json(value: Any) -> str:
    return to_json(value).decode()


def create_private(file: Path) -> None:
    """Create a SQLite file, and its folder, that only its owner can read; an existing file keeps its mode.

    SQLite gives the files beside it, `-wal` and `-shm`, the same mode. If this fails, opening the database says why.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _sqlite(url: str, pool_size: int) -> Engine:
    address, options = own_parameters(url)
    file = make_url(address).database
    if file and file != ":memory:":
        create_private(Path(file))
    synchronous = options.get("synchronous", SYNCHRONOUS)
    engine = create_engine(
        address,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,  # error texts are logged, and parameters contain personal data
        poolclass=_Pool,
        json_serializer=_json,
        json_deserializer=from_json,
        pool_size=pool_size,
        max_overflow=20,
        pool_reset_on_return=None,
        query_cache_size=_CACHED_STATEMENTS,
        connect_args={"check_same_thread": False, "timeout": LOCK_SECONDS, "cached_statements": 512},
    )

    @event.listens_for(engine, "connect")
    def tune(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={int(LOCK_SECONDS * 1000)}",
            "journal_mode=WAL",
            f"synchronous={synchronous}",
            "foreign_keys=ON",
            "temp_store=MEMORY",
            "cache_size=-8000",
            "wal_autocheckpoint=2000",
            "secure_delete=ON",  # overwrites deleted rows in the file, such as tokens of sent mails
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _postgres(url: str, pool_size: int, patience_seconds: float) -> Engine:
    from app.identity.platform.store import postgres

    address, options = own_parameters(url)
    engine = create_engine(
        address,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        poolclass=_Pool,
        json_serializer=_json,
        json_deserializer=from_json,
        pool_size=pool_size,
        max_overflow=20,
        pool_reset_on_return=None,
        query_cache_size=_CACHED_STATEMENTS,
        pool_recycle=_RECYCLE_SECONDS,
        connect_args=postgres.connect_parameters(address, prepares=options.get("prepare") != "off"),
    )
    postgres.use_bounded_connections(engine, patience_seconds)
    return engine
