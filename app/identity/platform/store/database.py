"""The engine: SQLite tuned so that it is never "locked", PostgreSQL with the tenant set per transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool

from app.kit import time_budget
from app.kit.clock import monotonic
from app.kit.database_address import own_parameters

PATIENCE_SECONDS = 30.0
"""How long commands and background jobs wait for PostgreSQL; a request waits as long as its budget says."""
LOCK_SECONDS = 10.0
"""How long commands and background jobs wait while another process writes into the SQLite file."""
_LOCK_SHARE = 0.8
"""A request waits for the file's lock no longer than this share of what it may wait at all."""
_POOL_SECONDS = 2.0
SYNCHRONOUS = "full"
"""SQLite syncs to disk at each commit, so acknowledged changes survive a power failure; `?synchronous=normal` does not."""
_CONTENDED = frozenset({"40P01", "40001"})  # PostgreSQL's deadlock_detected and serialization_failure


class StoreUnavailable(Exception):
    """The database cannot be reached or written: the answer is 503, and nothing was half written."""

    unavailable_status = 503


class StoreContended(StoreUnavailable):
    """Two transactions waited for one another and this one was given up: nothing of it was written, and it may run again."""


class Database:
    """One database for all tenants.

    Every connection stands in autocommit; transactions are begun by `unit.py` in so many words, because SQLite's
    writers must begin with BEGIN IMMEDIATE and PostgreSQL's must set the tenant.
    """

    def __init__(self, url: str, *, pool_size: int = 20, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self.engine = _sqlite(url, pool_size) if self.is_sqlite else _postgres(url, pool_size, patience_seconds)
        self.driver_error: type[Exception] = self.engine.dialect.loaded_dbapi.Error  # of the one driver that is loaded
        self.writing = threading.Lock()  # one writer at a time in this process: a queue instead of busy waiting

        self._circuit = time_budget.CircuitBreaker()

    def connect(self) -> Connection:
        """Return a connection of the pool; raises StoreUnavailable, at once while the server hangs."""
        if self.is_sqlite:
            return self._connected()
        try:
            is_trial = self._circuit.admit()
        except time_budget.CircuitOpen:
            raise StoreUnavailable("The database did not answer recently.") from None
        if time_budget.remaining_seconds(1.0) <= 0:
            raise StoreUnavailable("The request has used up its time for the database.")
        return self._tried() if is_trial else self._connected()

    def note(self, problem: BaseException | None) -> None:
        """Take note of a driver's error: of one that says that the server hangs, so that nobody else waits for it."""
        if getattr(problem, "is_hang", False):
            self._circuit.record_timeout()

    @contextmanager
    def write_lock(self) -> Iterator[int]:
        """Take the right to begin a SQLite transaction, and give the milliseconds to wait for other processes.

        The holder must call `release_write_lock` once the transaction has ended; if the block raises, it is released.

        Raises:
            StoreUnavailable: another thread has it for too long, or another process writes for longer than anybody waits.
        """
        with time_budget.measured():
            if not self.writing.acquire(timeout=time_budget.remaining_seconds(6 * LOCK_SECONDS)):
                raise StoreUnavailable("Another transaction holds the write lock for longer than the request may wait.")
        begun, is_trial = monotonic(), False
        patience = min(LOCK_SECONDS, time_budget.remaining_seconds(LOCK_SECONDS / _LOCK_SHARE) * _LOCK_SHARE)
        try:
            is_trial = self._circuit.admit()
            with time_budget.measured():
                yield int(patience * 4) * 250  # in steps, so that few transactions have to set it anew
            self._circuit.record_answer()
        except BaseException as problem:
            self.writing.release()
            if isinstance(problem, time_budget.CircuitOpen):
                raise StoreUnavailable("Another process is holding the write lock of the file.") from None
            if is_trial or monotonic() - begun >= 1.0:  # only another process's lock takes that long
                self._circuit.record_timeout()
            raise

    def release_write_lock(self) -> None:
        self.writing.release()

    def _tried(self) -> Connection:
        """Ask the server whether it answers, over a new connection; those from before are of no use any more."""
        self.engine.dispose()
        connection = self._connected()
        try:
            connection.exec_driver_sql("SELECT 1")
        except DBAPIError as problem:
            self._circuit.record_timeout()
            connection.close()
            raise StoreUnavailable(_sentence(problem)) from problem
        self._circuit.record_answer()
        return connection

    def _connected(self) -> Connection:
        try:
            return self.engine.connect()
        except DBAPIError as problem:
            self.note(problem.orig)
            raise StoreUnavailable(_sentence(problem)) from problem
        except PoolTimeout as problem:
            raise StoreUnavailable("Every connection to the database is in use.") from problem

    def dispose(self) -> None:
        self.engine.dispose()


def refuse_unwritable(connection: Connection) -> None:
    """Raise StoreUnavailable where the database takes no writes: a read-only or full disk, a PostgreSQL standby.

    On SQLite only a committed write tells: it states the schema's revision anew, as it stands.
    """
    try:
        if connection.dialect.name == "postgresql":
            if connection.exec_driver_sql(_READ_ONLY).scalar():
                raise StoreUnavailable("The database takes no writes.")
            return
        connection.exec_driver_sql("PRAGMA busy_timeout=500")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")  # in autocommit
    except DBAPIError as problem:
        if "locked" not in str(problem.orig):  # then somebody writes
            raise StoreUnavailable(_sentence(problem)) from problem


_READ_ONLY = "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"


def translate(problem: DBAPIError) -> Exception:
    """Return StoreUnavailable for a lost, full or read-only database, StoreContended for a deadlock, else the problem itself."""
    if getattr(problem.orig, "sqlstate", None) in _CONTENDED:
        return StoreContended(_sentence(problem))
    text = str(problem.orig).lower()
    gone = problem.connection_invalidated or isinstance(problem, OperationalError)
    if gone or "readonly" in text or "read-only" in text or "disk" in text:
        return StoreUnavailable(_sentence(problem))
    return problem


def _sentence(problem: DBAPIError) -> str:
    return f"The database does not answer as it should: {str(problem.orig).splitlines()[0] if str(problem.orig) else problem}"


def _json(value: Any) -> str:
    return to_json(value).decode()


def _sqlite(url: str, pool_size: int) -> Engine:
    address, ours = own_parameters(url)
    file = make_url(address).database
    if file and file != ":memory:":
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    synchronous = ours.get("synchronous", SYNCHRONOUS)
    engine = create_engine(
        address,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,  # an error's text goes to the log, and parameters are people's secrets
        poolclass=QueuePool,
        json_serializer=_json,
        json_deserializer=from_json,
        pool_size=pool_size,
        max_overflow=20,
        pool_reset_on_return=None,
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
            "secure_delete=ON",  # what was removed, tokens of mails above all, does not stay in the file
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _postgres(url: str, pool_size: int, patience_seconds: float) -> Engine:
    from app.identity.platform.store import postgres  # noqa: PLC0415 - loads the driver, which costs memory that SQLite need not pay

    address, ours = own_parameters(url)
    engine = create_engine(
        address,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        json_serializer=_json,
        json_deserializer=from_json,
        pool_size=pool_size,
        max_overflow=20,
        pool_reset_on_return=None,
        pool_recycle=900,
        pool_timeout=_POOL_SECONDS,
        connect_args=postgres.connect_parameters(address, prepares=ours.get("prepare") != "off"),
    )
    postgres.use_bounded_connections(engine, patience_seconds)
    return engine
