"""Upgrades and downgrades the schema with Alembic, which is imported only when needed."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError
from sqlalchemy.pool import NullPool

from app.identity.platform.store import distribution
from app.identity.platform.store.database import Database, StoreUnavailable, create_private
from app.identity.platform.store.schema_state import SchemaState, read_schema_state
from app.kit.clock import sleep
from app.kit.settings.database_url import normalized, own_parameters
from app.settings import Settings, SettingsError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0049"
"""The newest revision, checked by a unit test, so that a start need not load the revisions."""
OLDEST_SCHEMA = HEAD
"""The oldest schema that this code can serve: later revisions only remove columns and tables that it no longer uses."""
_SCRIPTS = Path(__file__).parent / "migrations"
_ROLE = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}\Z")
_BYPASSES_RLS = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_GRANTS = (
    'GRANT USAGE ON SCHEMA public TO "{}"',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{}"',
    'REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON alembic_version FROM "{}"',
)
# The runtime role may use partitions only through their table, whose policy applies to it.
_PARTITION_TABLES = """SELECT oid::regclass::text FROM pg_class
              WHERE relispartition AND relnamespace = 'public'::regnamespace AND relkind = 'r'"""
_PARTITION_FUNCTIONS = """SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
              AND proname IN ('gatehouse_audit_make', 'gatehouse_audit_drop')"""
_MIGRATION_LOCK = 4_017_203  # an arbitrary advisory lock key, held during a migration
_PARTITIONS = 4_017_204  # held while a partition of `audit` is made or dropped, or grants change (revision 0018)
_LOCK_POLL_SECONDS = 0.2
_NO_LOCK = "55P03"  # PostgreSQL's lock_not_available
_NO_PRIVILEGE = "42501"  # PostgreSQL's insufficient_privilege

log = logging.getLogger("gatehouse.migrate")


@dataclass(frozen=True)
class LockRetries:
    """How often and how long DDL waits for a table lock: briefly, because other users queue behind the waiting DDL."""

    lock_seconds: float = 1.0
    tries: int = 30
    pause_seconds: float = 2.0


LOCK_RETRIES = LockRetries()


@dataclass(frozen=True)
class Upgraded(SchemaState):
    """The state of a database after an upgrade."""

    distributed: tuple[str, ...] = ()
    """The tables that the upgrade distributed over the nodes of Citus."""


def migrate(settings: Settings) -> Upgraded:
    """Upgrade the installation's database as the owner of its tables. Raises SettingsError, StoreUnavailable."""
    role = make_url(settings.database).username if not settings.is_sqlite else None
    return upgrade(settings.migrate_url or settings.database, runtime_role=role)


def current(database_url: str) -> SchemaState:
    """Return the state of a database, which need not exist yet on SQLite. Raises StoreUnavailable."""
    with connected(database_url) as connection:
        return _read_state(connection)


def upgrade(
    database_url: str, *, runtime_role: str | None = None, revision: str = "head", retries: LockRetries = LOCK_RETRIES
) -> Upgraded:
    """Upgrade a database and return its state; a newer schema that this code can serve is left unchanged.

    Args:
        database_url: on PostgreSQL the URL of the tables' owner.
        runtime_role: the PostgreSQL role of the serving processes, which gets the privileges it needs. None or the owner
            itself: no grants.

    Raises:
        SettingsError: the runtime role does not exist, the role in the URL may not change the schema, or the schema is newer
            and this code cannot serve it.
        StoreUnavailable: the database cannot be reached or written, or its tables stay locked.
    """
    from alembic import command

    with connected(database_url, retries) as connection:
        state = _read_state(connection)
        if revision == "head" and (state.revision or "") > HEAD:
            if refusal := incompatibility_of(state):
                raise SettingsError(refusal)
            return Upgraded(state.revision, state.oldest_code)
        _run_with_retries(connection, retries, lambda: command.upgrade(config_of(connection), revision))
        if runtime_role and connection.dialect.name == "postgresql" and runtime_role != connection.engine.url.username:
            _run_with_retries(connection, retries, lambda: _grant(connection, runtime_role))
        distributed: list[str] = []
        if connection.dialect.name == "postgresql" and revision == "head":
            _run_with_retries(connection, retries, lambda: distributed.extend(distribution.distribute(connection)))
        state = _read_state(connection)
        return Upgraded(state.revision, state.oldest_code, tuple(distributed))


def downgrade(database_url: str, *, revision: str = "base", retries: LockRetries = LOCK_RETRIES) -> None:
    """Downgrade a database to an older revision; data in what newer revisions added is lost.

    Raises:
        SettingsError: the schema is newer than the migrations of this code.
        StoreUnavailable: as for `upgrade`.
    """
    from alembic import command

    with connected(database_url, retries) as connection:
        state = _read_state(connection)
        if (state.revision or "") > HEAD:
            raise SettingsError(
                f"Schema {state.revision} comes from a newer version. Downgrade with that version's 'gatehouse migrate'."
            )
        _run_with_retries(connection, retries, lambda: command.downgrade(config_of(connection), revision))


def is_known(revision: str) -> bool:
    """Return whether the revision exists."""
    return revision == "base" or any(_SCRIPTS.glob(f"versions/{re.escape(revision)}_*.py"))


def incompatibility_of(state: SchemaState) -> str | None:
    """Return why this code cannot serve a schema, or None if it can."""
    return state.incompatibility(HEAD, OLDEST_SCHEMA)


def ready(settings: Settings, database: Database) -> None:
    """Refuse a database that this code cannot serve; an older SQLite database is upgraded.

    Raises:
        SettingsError: the schema is too old or too new, or the role bypasses row-level security.
        StoreUnavailable: the database cannot be reached.
    """
    if database.is_sqlite:
        with database.connect() as connection:
            is_behind = (read_schema_state(connection).revision or "") < HEAD
        if is_behind:
            migrate(settings)
            return
    examine(database)


def examine(database: Database) -> str:
    """Return what a database is, in one sentence. Raises as `ready`, and changes nothing."""
    with database.connect() as connection:
        state = read_schema_state(connection)
        if refusal := incompatibility_of(state):
            raise SettingsError(refusal)
        if database.is_sqlite:
            return f"SQLite with schema {state.revision}."
        if connection.execute(text(_BYPASSES_RLS)).scalar():
            raise SettingsError(
                "The role in GATEHOUSE_DATABASE_URL is a superuser or bypasses row-level security. Use a plain role."
            )
        if fault := distribution.fault(connection):
            raise SettingsError(fault)
        return f"PostgreSQL with schema {state.revision}, {distribution.described(connection)}."


def unreachable_nodes(database: Database) -> list[str]:
    """Return the Citus nodes that the coordinator can't connect to in the name of the runtime role, as host:port."""
    if database.is_sqlite:
        return []
    with database.connect() as connection:
        return distribution.unreachable_nodes(connection)


def config_of(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


@contextmanager
def connected(url: str, retries: LockRetries = LOCK_RETRIES) -> Iterator[Connection]:
    """Yield a connection for exclusive schema changes: in one transaction on SQLite, in one per revision on PostgreSQL."""
    engine = _engine(url)
    try:
        if engine.dialect.name == "sqlite":
            with engine.begin() as connection:
                yield connection
            return
        with _migration_lock(engine), engine.connect() as connection:
            _set_lock_timeout(connection, retries)
            yield connection
    except OperationalError as problem:
        raise StoreUnavailable(f"Couldn't migrate the database: {_first_line(problem)}") from problem
    except ProgrammingError as problem:
        if getattr(problem.orig, "sqlstate", None) != _NO_PRIVILEGE:
            raise
        raise SettingsError(
            f"The role {engine.url.username!r} can't change the schema: {_first_line(problem)}. "
            "Set GATEHOUSE_MIGRATE_URL to the address of the owner's role."
        ) from problem
    finally:
        engine.dispose()


@contextmanager
def _migration_lock(engine: Engine) -> Iterator[None]:
    """Hold the advisory lock of migrations in a separate transaction, which works behind a transaction pooler too.

    Holder and waiters keep no snapshot (no waiting statement, no bound parameters), because CREATE INDEX CONCURRENTLY
    waits for all older snapshots.
    """
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        while not connection.execute(text(f"SELECT pg_try_advisory_xact_lock({_MIGRATION_LOCK})")).scalar():
            sleep(_LOCK_POLL_SECONDS)
        yield


def _set_lock_timeout(connection: Connection, retries: LockRetries) -> None:
    @event.listens_for(connection, "begin")
    def begun(begun: Connection) -> None:
        begun.exec_driver_sql(f"SET LOCAL lock_timeout = {int(retries.lock_seconds * 1000)}")


def _run_with_retries(connection: Connection, retries: LockRetries, change: Callable[[], object]) -> None:
    """Run the migrations; if a table is locked, retry later from the revision that was reached."""
    if connection.dialect.name == "sqlite":
        change()
        return
    for tries_left in reversed(range(retries.tries)):
        try:
            change()
        except OperationalError as problem:
            connection.rollback()
            if getattr(problem.orig, "sqlstate", None) != _NO_LOCK:
                raise
            if not tries_left:
                raise StoreUnavailable(_table_in_use(connection, retries, problem)) from problem
            log.warning("migrate.waits", extra={"problem": _first_line(problem), "tries_left": tries_left})
            sleep(retries.pause_seconds)
        else:
            connection.rollback()  # ends the read transaction
            return


def _table_in_use(connection: Connection, retries: LockRetries, problem: OperationalError) -> str:
    state = _read_state(connection)
    return (
        f"A long transaction holds a table that the next migration changes ({_first_line(problem)}); gave up after "
        f"{retries.tries} tries. Find it in pg_stat_activity, end it and run 'gatehouse migrate' again. The database is at schema "
        f"{state.revision or 'none'}; nothing is half done."
    )


def _read_state(connection: Connection) -> SchemaState:
    state = read_schema_state(connection)
    if connection.dialect.name != "sqlite":
        connection.rollback()
    return state


def _first_line(problem: DBAPIError) -> str:
    return str(problem.orig).splitlines()[0]


def _engine(url: str) -> Engine:
    address, _ = own_parameters(normalized(url))
    is_sqlite = address.startswith("sqlite")
    plain = {} if is_sqlite else {"prepare_threshold": None, "client_encoding": "UTF8"}  # see _migration_lock
    engine = create_engine(address, poolclass=NullPool, connect_args=plain)
    if not is_sqlite:
        _require_readable(engine)
    if engine.dialect.name == "sqlite":
        if file := engine.url.database:
            create_private(Path(file))
        _use_transactional_ddl(engine)
    return engine


def _require_readable(engine: Engine) -> None:
    from app.identity.platform.store.postgres import require_readable

    @event.listens_for(engine, "connect", insert=True)
    def connected(connection: Any, _record: Any) -> None:
        require_readable(connection)


def _use_transactional_ddl(engine: Engine) -> None:
    """Make SQLite DDL transactional: the driver would begin a transaction only before DML."""

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA busy_timeout=10000")
        connection.execute("PRAGMA journal_mode=WAL")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _grant(connection: Connection, role: str) -> None:
    if not _ROLE.match(role):
        raise SettingsError(
            f"GATEHOUSE_DATABASE_URL: {role!r} can't be used as a role name. Use letters, digits, _, $ and -."
        )
    with connection.begin():
        known = connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role})
        if known.one_or_none() is None:
            raise SettingsError(
                f"The role {role!r} in GATEHOUSE_DATABASE_URL doesn't exist. Create it first (deploy/postgres-roles.sql)."
            )
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_PARTITIONS})"))
        for statement in _GRANTS:
            connection.execute(text(statement.format(role)))
        for partition in connection.execute(text(_PARTITION_TABLES)).scalars().all():
            connection.execute(text(f'REVOKE ALL ON {partition} FROM "{role}"'))
        for function in connection.execute(text(_PARTITION_FUNCTIONS)).scalars().all():
            connection.execute(text(f'GRANT EXECUTE ON FUNCTION {function} TO "{role}"'))
