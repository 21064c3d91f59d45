"""Brings a database to the schema that this code knows, or back. Alembic is imported only when there is something to do."""

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
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.standing import Standing, standing_of
from app.kit.clock import sleep
from app.kit.database_address import normalized, own_parameters
from app.settings import Settings, SettingsError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0019"
"""The newest revision; a unit test keeps it true, so that a start need not read the history."""
NEEDS = HEAD
"""The oldest schema that this code can serve. Revisions after it only take away what this code no longer uses."""
_SCRIPTS = Path(__file__).parent / "migrations"
_ROLE = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}\Z")
_RULES_ALL = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_GRANTS = (
    'GRANT USAGE ON SCHEMA public TO "{}"',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{}"',
    'REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON alembic_version FROM "{}"',
)
# The runtime role reaches partitions by way of their table, whose policy binds it.
_PARTS = "SELECT oid::regclass::text FROM pg_class WHERE relispartition AND relnamespace = 'public'::regnamespace AND relkind = 'r'"
_TENDING = """SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
              AND proname IN ('gatehouse_audit_make', 'gatehouse_audit_drop')"""
_ONE_AT_A_TIME = 4_017_203  # any number; two migrations that start together then follow one another
_PARTITIONS = 4_017_204  # held while a partition of `audit` is made or dropped, or grants change (revision 0018)
_TURN_SECONDS = 0.2
_NO_LOCK = "55P03"  # PostgreSQL's lock_not_available

log = logging.getLogger("gatehouse.migrate")


@dataclass(frozen=True)
class Patience:
    """How long a change of a table waits for those who use it: behind it everybody else waits too, so it waits briefly, and often."""

    lock_seconds: float = 1.0
    tries: int = 30
    pause_seconds: float = 2.0


PATIENCE = Patience()


def migrate(settings: Settings) -> Standing:
    """Bring the installation's database up to date, as the owner of its tables; raises SettingsError, StoreUnavailable."""
    role = make_url(settings.database).username if not settings.is_sqlite else None
    return upgrade(settings.migrate_url or settings.database, runtime_role=role)


def upgrade(
    database_url: str, *, runtime_role: str | None = None, revision: str = "head", patience: Patience = PATIENCE
) -> Standing:
    """Bring a database up to a revision, and return where it stands; a newer one that this code may serve stays as it is.

    Args:
        database_url: on PostgreSQL the owner's address.
        runtime_role: the PostgreSQL role that serves; it is granted what it needs and no more. None or the owner
            itself: nothing to grant.

    Raises:
        SettingsError: the role does not exist, or the database is of a newer version that this one cannot serve beside.
        StoreUnavailable: the database cannot be reached or written, or its tables are in use all the time.
    """
    from alembic import command  # noqa: PLC0415 - costs 0.2 s that a server's start does not have

    with connected(database_url, patience) as connection:
        stands = _standing(connection)
        if revision == "head" and (stands.revision or "") > HEAD:
            if refusal := refusal_of(stands):
                raise SettingsError(refusal)
            return stands
        _patiently(connection, patience, lambda: command.upgrade(config_of(connection), revision))
        if runtime_role and connection.dialect.name == "postgresql" and runtime_role != connection.engine.url.username:
            _patiently(connection, patience, lambda: _grant(connection, runtime_role))
        return _standing(connection)


def downgrade(database_url: str, *, revision: str = "base", patience: Patience = PATIENCE) -> None:
    """Take a database back to an older revision; what the newer one added is lost.

    Raises:
        SettingsError: the database is of a newer version, whose migrations are not here.
        StoreUnavailable: as for `upgrade`.
    """
    from alembic import command  # noqa: PLC0415 - as above

    with connected(database_url, patience) as connection:
        stands = _standing(connection)
        if (stands.revision or "") > HEAD:
            raise SettingsError(f"Schema {stands.revision} is of a newer version: go back with that version's command.")
        _patiently(connection, patience, lambda: command.downgrade(config_of(connection), revision))


def is_known(revision: str) -> bool:
    """Return whether the history has this revision."""
    return revision == "base" or any(_SCRIPTS.glob(f"versions/{re.escape(revision)}_*.py"))


def refusal_of(stands: Standing) -> str | None:
    """Return why this code cannot serve a database that stands so, or None where it can."""
    return stands.refusal(HEAD, NEEDS)


def ready(settings: Settings, database: Database) -> None:
    """Refuse a database that this code cannot serve; an embedded one is brought up to date.

    Raises:
        SettingsError: the schema is too old or too new, or row-level security does not bind the role.
        StoreUnavailable: the database cannot be reached.
    """
    with database.connect() as connection:
        stands = standing_of(connection)
        is_behind = (stands.revision or "") < HEAD
        if not (database.is_sqlite and is_behind) and (refusal := refusal_of(stands)):
            raise SettingsError(refusal)
        if not database.is_sqlite and connection.execute(text(_RULES_ALL)).scalar():
            raise SettingsError(
                "The role of GATEHOUSE_DATABASE_URL is a superuser or bypasses row-level security; give it a plain one."
            )
    if database.is_sqlite and is_behind:
        migrate(settings)


def config_of(connection: Connection) -> Config:
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


@contextmanager
def connected(url: str, patience: Patience = PATIENCE) -> Iterator[Connection]:
    """Give a connection to change the schema over, alone: on SQLite within one transaction, on PostgreSQL with one for each revision."""
    engine = _engine(url)
    try:
        if engine.dialect.name == "sqlite":
            with engine.begin() as connection:
                yield connection
            return
        with _alone(engine), engine.connect() as connection:
            _wait_briefly(connection, patience)
            yield connection
    except OperationalError as problem:
        raise StoreUnavailable(f"The database cannot be migrated: {_first_line(problem)}") from problem
    finally:
        engine.dispose()


@contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    """Hold the lock of migrations in a transaction of its own, which stays where a pooler hands out connections by transaction.

    Neither who holds it nor who waits for it keeps a snapshot, as a statement that waits or has parameters would: an index
    that is built beside its users waits for all older snapshots.
    """
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        while not connection.execute(text(f"SELECT pg_try_advisory_xact_lock({_ONE_AT_A_TIME})")).scalar():
            sleep(_TURN_SECONDS)
        yield


def _wait_briefly(connection: Connection, patience: Patience) -> None:
    @event.listens_for(connection, "begin")
    def begun(begun: Connection) -> None:
        begun.exec_driver_sql(f"SET LOCAL lock_timeout = {int(patience.lock_seconds * 1000)}")


def _patiently(connection: Connection, patience: Patience, change: Callable[[], None]) -> None:
    """Run the migrations; where a table is in use, let its users through and go on later from the revision that stands."""
    if connection.dialect.name == "sqlite":
        change()
        return
    for left in reversed(range(patience.tries)):
        try:
            change()
        except OperationalError as problem:
            connection.rollback()
            if getattr(problem.orig, "sqlstate", None) != _NO_LOCK:
                raise
            if not left:
                raise StoreUnavailable(_in_use(connection, patience, problem)) from problem
            log.warning("migrate.waits", extra={"problem": _first_line(problem), "tries_left": left})
            sleep(patience.pause_seconds)
        else:
            connection.rollback()  # what was only read
            return


def _in_use(connection: Connection, patience: Patience, problem: OperationalError) -> str:
    stands = _standing(connection)
    return (
        f"A long transaction uses a table that the migration after {stands.revision or 'none'} changes ({_first_line(problem)}), "
        f"in each of {patience.tries} tries: end it (pg_stat_activity shows it) and run 'gatehouse migrate' again. "
        "Everything up to this revision stands, nothing is half done."
    )


def _standing(connection: Connection) -> Standing:
    stands = standing_of(connection)
    if connection.dialect.name != "sqlite":
        connection.rollback()
    return stands


def _first_line(problem: OperationalError) -> str:
    return str(problem.orig).splitlines()[0]


def _engine(url: str) -> Engine:
    address, _ = own_parameters(normalized(url))
    plain = {} if address.startswith("sqlite") else {"prepare_threshold": None}  # what is prepared: _alone
    engine = create_engine(address, poolclass=NullPool, connect_args=plain)
    if engine.dialect.name == "sqlite":
        if file := engine.url.database:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
        _whole_transactions(engine)
    return engine


def _whole_transactions(engine: Engine) -> None:
    """Make changes of a SQLite schema transactional: the driver would begin only before a change of rows."""

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
        raise SettingsError(f"GATEHOUSE_DATABASE_URL: {role!r} is not a plain role name.")
    with connection.begin():
        known = connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role})
        if known.one_or_none() is None:
            raise SettingsError(
                f"The role {role!r} of GATEHOUSE_DATABASE_URL does not exist; make it first (deploy/postgres-roles.sql)."
            )
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_PARTITIONS})"))
        for statement in _GRANTS:
            connection.execute(text(statement.format(role)))
        for partition in connection.execute(text(_PARTS)).scalars().all():
            connection.execute(text(f'REVOKE ALL ON {partition} FROM "{role}"'))
        for function in connection.execute(text(_TENDING)).scalars().all():
            connection.execute(text(f'GRANT EXECUTE ON FUNCTION {function} TO "{role}"'))
