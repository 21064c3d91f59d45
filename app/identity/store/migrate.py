"""Brings a database to the schema that this code knows, or back. Alembic is imported only when there is something to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from app.identity.store.database import Database, StoreUnavailable
from app.settings import Settings, SettingsError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0013"
"""The newest revision; a unit test keeps it true, so that a start need not read the history."""
_SCRIPTS = Path(__file__).parent / "migrations"
_ROLE = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}\Z")
_RULES_ALL = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_ONE_AT_A_TIME = 4_017_203  # any number; two migrations that start together then follow one another


def migrate(settings: Settings) -> None:
    """Bring the installation's database up to date, as the owner of its tables; raises SettingsError, StoreUnavailable."""
    role = make_url(settings.database).username if not settings.is_sqlite else None
    upgrade(settings.migrate_url or settings.database, runtime_role=role)


def upgrade(database_url: str, *, runtime_role: str | None = None, revision: str = "head") -> None:
    """Bring a database up to a revision.

    Args:
        database_url: on PostgreSQL the owner's address.
        runtime_role: the PostgreSQL role that serves; it is granted what it needs and no more. None or the owner
            itself: nothing to grant.

    Raises:
        SettingsError: the role does not exist.
        StoreUnavailable: the database cannot be reached or written.
    """
    from alembic import command  # noqa: PLC0415 - costs 0.2 s that a server's start does not have

    with connected(database_url) as connection:
        command.upgrade(config_of(connection), revision)
        if runtime_role and connection.dialect.name == "postgresql" and runtime_role != connection.engine.url.username:
            _grant(connection, runtime_role)


def downgrade(database_url: str, *, revision: str = "base") -> None:
    """Take a database back to an older revision; what the newer one added is lost."""
    from alembic import command  # noqa: PLC0415 - as above

    with connected(database_url) as connection:
        command.downgrade(config_of(connection), revision)


def is_known(revision: str) -> bool:
    """Return whether the history has this revision."""
    return revision == "base" or any(_SCRIPTS.glob(f"versions/{re.escape(revision)}_*.py"))


def revision_of(connection: Connection) -> str | None:
    """Return the revision a database stands at; None where nothing was ever migrated."""
    try:
        row = connection.execute(text("SELECT version_num FROM alembic_version")).one_or_none()
    except DBAPIError:
        return None
    return str(row[0]) if row else None


def ready(settings: Settings, database: Database) -> None:
    """Refuse a database that this code cannot serve; an embedded one is brought up to date.

    Raises:
        SettingsError: the schema is older, or row-level security does not bind the role.
        StoreUnavailable: the database cannot be reached.
    """
    with database.connect() as connection:
        stands = revision_of(connection)
        if stands != HEAD and not database.is_sqlite:
            raise SettingsError(
                f"The database stands at schema {stands or 'none'}, this version needs {HEAD}: run 'gatehouse migrate'."
            )
        if not database.is_sqlite and connection.execute(text(_RULES_ALL)).scalar():
            raise SettingsError(
                "The role of GATEHOUSE_DATABASE_URL is a superuser or bypasses row-level security; give it a plain one."
            )
    if stands != HEAD:
        migrate(settings)


def config_of(connection: Connection) -> Config:
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = _engine(url)
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _ONE_AT_A_TIME})
            yield connection
    except OperationalError as problem:
        raise StoreUnavailable(f"The database cannot be migrated: {str(problem.orig).splitlines()[0]}") from problem
    finally:
        engine.dispose()


def _engine(url: str) -> Engine:
    if url.startswith(("postgres://", "postgresql://")):
        url = "postgresql+psycopg://" + url.partition("://")[2]
    engine = create_engine(url, poolclass=NullPool)
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
    if connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}).one_or_none() is None:
        raise SettingsError(
            f"The role {role!r} of GATEHOUSE_DATABASE_URL does not exist; make it first (deploy/postgres-roles.sql)."
        )
    for statement in (
        'GRANT USAGE ON SCHEMA public TO "{}"',
        'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{}"',
        'REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON alembic_version FROM "{}"',
    ):
        connection.execute(text(statement.format(role)))
