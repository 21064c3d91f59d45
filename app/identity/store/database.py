"""The engine: SQLite tuned so that it is never "locked", PostgreSQL with the tenant set per transaction."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import QueuePool

BUSY_MS = 10_000
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

    def __init__(self, url: str, *, pool_size: int = 20) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self.engine = _sqlite(url, pool_size) if self.is_sqlite else _postgres(url, pool_size)
        self.driver_error: type[Exception] = self.engine.dialect.loaded_dbapi.Error  # of the one driver that is loaded
        self.writing = threading.Lock()  # one writer at a time in this process: a queue instead of busy waiting

    def connect(self) -> Connection:
        """Return a connection of the pool; raises StoreUnavailable."""
        try:
            return self.engine.connect()
        except DBAPIError as problem:
            raise StoreUnavailable(_sentence(problem)) from problem

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
    file = make_url(url).database
    if file and file != ":memory:":
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,  # an error's text goes to the log, and parameters are people's secrets
        poolclass=QueuePool,
        json_serializer=_json,
        json_deserializer=from_json,
        pool_size=pool_size,
        max_overflow=20,
        pool_reset_on_return=None,
        connect_args={"check_same_thread": False, "timeout": BUSY_MS / 1000, "cached_statements": 512},
    )

    @event.listens_for(engine, "connect")
    def tune(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={BUSY_MS}",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "foreign_keys=ON",
            "temp_store=MEMORY",
            "cache_size=-8000",
            "wal_autocheckpoint=2000",
            "secure_delete=ON",  # what was removed, tokens of mails above all, does not stay in the file
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _postgres(url: str, pool_size: int) -> Engine:
    return create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        json_serializer=_json,
        json_deserializer=from_json,
        pool_size=pool_size,
        max_overflow=20,
        pool_reset_on_return=None,
        pool_recycle=900,
        pool_timeout=10,
        connect_args={"connect_timeout": 5, "application_name": "gatehouse", "prepare_threshold": 3},
    )
