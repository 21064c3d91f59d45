"""The range of schemas that code serves, and the effect of a migration on concurrent users."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from click.testing import CliRunner
from sqlalchemy import create_engine, inspect, text

from app.cli import cli
from app.identity.assembly import health
from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.migrate import HEAD, LockRetries
from app.identity.platform.store.migrations.ddl import add_index, drop_index
from app.identity.platform.store.schema_state import SchemaState, read_schema_state, store_oldest_code
from app.settings import Settings, SettingsError
from tests.support.database.migration_rules import COMMIT, breaks_older_code, keeps_writers_out
from tests.support.services.identity_service import migrated_sqlite
from tests.support.services.servers import RUNTIME, PostgresUrls

LATER = "9999"
SHORT = LockRetries(lock_seconds=0.2, tries=3, pause_seconds=0.05)
BEFORE = "0012"  # 0013 changes the table `tenants`


@pytest.mark.parametrize(
    ("stands", "is_served"),
    [
        (SchemaState("0015", "0010"), True),
        (SchemaState("0014", "0014"), True),
        (SchemaState("0016", "0015"), True),
        (SchemaState("0016", "0009"), True),
        (SchemaState("0016", "0016"), False),
        (SchemaState("0016"), False),
        (SchemaState("0013", "0010"), False),
        (SchemaState(None), False),
    ],
)
def test_code_serves_within_its_schema_range(stands: SchemaState, is_served: bool) -> None:
    assert (stands.incompatibility("0015", "0014") is None) is is_served


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE sessions", "ALTER TABLE sessions DROP COLUMN agent", "ALTER TABLE sessions RENAME TO visits",
        "ALTER TABLE sessions RENAME COLUMN agent TO browser", "ALTER TABLE sessions ALTER COLUMN agent TYPE TEXT",
        "ALTER TABLE sessions ALTER COLUMN agent SET NOT NULL", "ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL",
        "ALTER TABLE sessions ADD CONSTRAINT one UNIQUE (agent)", "CREATE UNIQUE INDEX one ON sessions (agent)",
        "DROP INDEX one", "DELETE FROM sessions", "ALTER TABLE sessions DROP CONSTRAINT one",
    ],
)  # fmt: skip
def test_breaking_statement_is_found(statement: str) -> None:
    assert breaks_older_code([statement])


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE sessions ADD COLUMN agent TEXT", "ALTER TABLE sessions ADD COLUMN n INTEGER DEFAULT '0' NOT NULL",
        "CREATE INDEX CONCURRENTLY one ON sessions (agent)", "UPDATE sessions SET agent = ''",
    ],
)  # fmt: skip
def test_additive_statement_is_accepted(statement: str) -> None:
    assert breaks_older_code([statement]) == []


SWAP = [
    "ALTER TABLE sessions RENAME TO sessions_before", "ALTER INDEX pk_sessions RENAME TO pk_sessions_before",
    "ALTER INDEX one RENAME TO one_before",
    "CREATE TABLE sessions (LIKE sessions_before INCLUDING DEFAULTS, CONSTRAINT pk_sessions PRIMARY KEY (a)) PARTITION BY RANGE (a)",
    "CREATE INDEX one ON sessions (a)", COMMIT,
]  # fmt: skip


def test_name_recreated_in_the_transaction_is_accepted() -> None:
    assert breaks_older_code(SWAP) == []


@pytest.mark.parametrize("left_out", [3, 4])
def test_name_that_is_not_recreated_is_found(left_out: int) -> None:
    assert breaks_older_code([*SWAP[:left_out], *SWAP[left_out + 1 :]])


@pytest.mark.parametrize("at", [1, 2, 3])
def test_name_recreated_after_a_commit_is_found(at: int) -> None:
    assert breaks_older_code([*SWAP[:at], COMMIT, *SWAP[at:]])


def test_table_recreated_in_another_shape_is_found() -> None:
    assert breaks_older_code(["ALTER TABLE sessions RENAME TO visits", "CREATE TABLE sessions (a TEXT)"])


def test_constraint_passes_only_if_named_and_dropped_again() -> None:
    added, dropped = "ALTER TABLE a ADD CONSTRAINT c CHECK (x < 'y') NOT VALID", "ALTER TABLE b DROP CONSTRAINT c"
    assert breaks_older_code([added, COMMIT, dropped], passing={"c"}) == []
    assert breaks_older_code([added, COMMIT, dropped])
    assert breaks_older_code([added], passing={"c"})
    assert breaks_older_code([dropped], passing={"c"})


def test_index_on_a_new_table_blocks_no_writes() -> None:
    made = ["CREATE TABLE visits (tenant_id TEXT)", "CREATE INDEX one ON visits (tenant_id)"]
    assert keeps_writers_out(made) == []
    assert keeps_writers_out(made[1:]) == made[1:]


@pytest.fixture(params=["sqlite", "postgres"])
def installed(request: pytest.FixtureRequest) -> Settings:
    """A database at this code's schema."""
    if request.param == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        url, owner = f"sqlite:///{shutil.copy(migrated_sqlite(), folder / 'gatehouse.db')}", ""
    else:
        urls = request.getfixturevalue("copied_postgres")
        url, owner = (
            item.replace("postgresql:", "postgresql+psycopg:") for item in (urls.runtime_url, urls.migrate_url)
        )
    return Settings(database_url=url, migrate_url=owner, secrets=(b"x" * 32,))


def newer(settings: Settings, oldest_code: str) -> None:
    """Bring the database where a later version's `gatehouse migrate` leaves it."""
    engine = create_engine(settings.migrate_url or settings.database)
    with engine.begin() as connection:
        store_oldest_code(connection, oldest_code)
        connection.execute(text("UPDATE alembic_version SET version_num = :later"), {"later": LATER})
    engine.dispose()


@contextmanager
def opened(settings: Settings) -> Iterator[Database]:
    database = Database(settings.database, pool_size=1)
    try:
        yield database
    finally:
        database.dispose()


def test_compatible_newer_schema_is_served(installed: Settings) -> None:
    newer(installed, HEAD)
    with opened(installed) as database:
        migrate.ready(installed, database)
    health.checks(installed)["database"]()
    assert migrate.migrate(installed).revision == LATER


def test_incompatible_newer_schema_is_refused(installed: Settings) -> None:
    newer(installed, LATER)
    with opened(installed) as database, pytest.raises(SettingsError, match="Start a newer version"):
        migrate.ready(installed, database)
    with pytest.raises(StoreUnavailable, match=LATER):
        health.checks(installed)["database"]()
    with pytest.raises(SettingsError, match="Start a newer version"):
        migrate.migrate(installed)


def test_older_version_does_not_downgrade_a_newer_schema(installed: Settings) -> None:
    newer(installed, HEAD)
    with pytest.raises(SettingsError, match="newer version"):
        migrate.downgrade(installed.migrate_url or installed.database, revision=BEFORE)


def test_migrate_command_of_an_older_version_succeeds(installed: Settings) -> None:
    newer(installed, HEAD)
    secret = {"GATEHOUSE_SECRET_KEY": "x" * 32}
    environ = {**secret, "GATEHOUSE_DATABASE_URL": installed.database, "GATEHOUSE_MIGRATE_URL": installed.migrate_url}
    result = CliRunner().invoke(cli, ["migrate"], env=environ)
    assert (result.exit_code, result.output.partition(" at schema ")[2][:4]) == (0, LATER)


def test_downgrade_restores_the_oldest_compatible_code(installed: Settings) -> None:
    migrate.downgrade(installed.migrate_url or installed.database, revision=BEFORE)
    with opened(installed) as database, database.connect() as connection:
        assert read_schema_state(connection) == SchemaState(BEFORE, BEFORE)


@pytest.fixture
def behind(fresh_postgres: PostgresUrls) -> PostgresUrls:
    migrate.upgrade(fresh_postgres.migrate_url, runtime_role=RUNTIME, revision=BEFORE)
    return fresh_postgres


def test_blocked_migration_lets_other_statements_through(behind: PostgresUrls) -> None:
    """With a long transaction on the table, later readers wait no longer than the migration's lock timeout."""
    tried = threading.Thread(target=lambda: migrate.upgrade(behind.migrate_url, retries=LockRetries(0.5, 100, 0.1)))
    with psycopg.connect(behind.runtime_url) as long, psycopg.connect(behind.runtime_url, autocommit=True) as others:
        long.execute("SELECT * FROM tenants")
        tried.start()
        others.execute("SET statement_timeout = '20s'")  # a hang is a failure
        for _ in range(20):
            others.execute("SELECT count(*) FROM tenants")
        assert tried.is_alive()
    tried.join(60)
    with psycopg.connect(behind.migrate_url) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)


def test_migration_that_never_gets_its_lock_reports_why(behind: PostgresUrls) -> None:
    with psycopg.connect(behind.runtime_url) as long:
        long.execute("SELECT * FROM tenants")
        with pytest.raises(StoreUnavailable, match=r"A long transaction holds a table.*after 3 tries.*nothing is half"):
            migrate.upgrade(behind.migrate_url, retries=SHORT)
    assert migrate.upgrade(behind.migrate_url).revision == HEAD


def test_two_concurrent_migrations_run_one_after_another(fresh_postgres: PostgresUrls) -> None:
    """Building an index waits for every older snapshot, so a waiting migration must hold none."""
    with ThreadPoolExecutor(3) as threads:
        each = [threads.submit(migrate.upgrade, fresh_postgres.migrate_url) for _ in range(3)]
        assert [item.result(60).revision for item in each] == [HEAD] * 3


def test_index_is_built_outside_a_transaction(fresh_postgres: PostgresUrls) -> None:
    """It also recovers from an interrupted run, which leaves an invalid index."""
    migrate.upgrade(fresh_postgres.migrate_url, runtime_role=RUNTIME)

    def run(change: Callable[[], None]) -> bool:
        with migrate.connected(fresh_postgres.migrate_url) as connection:
            connection.exec_driver_sql("SET statement_timeout = '20s'")  # a hang is a failure
            connection.commit()
            context = MigrationContext.configure(connection, opts={"transaction_per_migration": True})
            with Operations.context(context), context.begin_transaction(_per_migration=True):
                change()
            return "ix_slow" in {index["name"] for index in inspect(connection).get_indexes("outbox")}

    assert [run(lambda: add_index("ix_slow", "outbox", ["tenant_id", "kind"])) for _ in range(2)] == [True, True]
    assert [run(lambda: drop_index("ix_slow", "outbox")) for _ in range(2)] == [False, False]
