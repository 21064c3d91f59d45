"""The schema's history, up and down on both databases, and the second lock around a tenant's rows."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, insert, inspect, select, text
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.engine.reflection import Inspector

from app.identity.assembly.table_modules import metadata
from app.identity.platform.outbox import claims
from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database
from app.identity.platform.store.schema_state import SchemaState, read_schema_state
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from app.settings import SettingsError
from tests.support.database.migration_rules import breaks_older_code, keeps_writers_out, recorded_statements
from tests.support.fakes.smtp_server import mailbox
from tests.support.services.identity_service import migrated_sqlite
from tests.support.services.servers import PostgresUrls
from tests.support.tenants.posting import VAULT, row, worker

FIRST_ONLINE = "0013"
"""Migrations up to this one were no step of an upgrade while people were served: each of them raises `oldest_code`."""
PASSING = {"0018": {"ck_audit_before"}}
"""Rules that an online migration adds for its own time; older code writes beside them (see test_audit_partitions.py)."""
PARTITIONS = {"audit_before", "audit_other"}
"""Partitions that the migrations make; the schema in code knows their table alone."""
OF_ONE_DATABASE = {"ix_identifiers_prefix", "ix_accounts_last_login", "last_login_key"}
"""Indexes and a column whose SQL differs between the databases: migration 0040 has it."""
NOW = datetime(2026, 1, 1, tzinfo=UTC)
outbox, outbox_queues, consents, tenants, applications = (
    metadata.tables[name] for name in ("outbox", "outbox_queues", "consents", "tenants", "applications")
)


def dialect(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    if "sqlite" in request.param:
        path: Path = request.getfixturevalue("tmp_path") / "gatehouse.db"
        if "migrated" in request.param:
            shutil.copy(migrated_sqlite(), path)
        return f"sqlite:///{path}"
    name = "copied_postgres" if "migrated" in request.param else "fresh_postgres"
    return str(request.getfixturevalue(name).migrate_url)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(dialect(database_url))
    yield engine
    engine.dispose()


@pytest.fixture
def services(copied_postgres: PostgresUrls) -> Iterator[Database]:
    """PostgreSQL as it serves: migrated by the owner, opened by the runtime role."""
    database = Database(dialect(copied_postgres.runtime_url))
    for name in ("acme", "globex"):
        work = UnitOfWork(database, name)
        work.run(insert(consents).values(tenant_id=name, uid="u", client_id="shop", scopes=[], given_at=NOW))
        work.run(insert(outbox).values(**queued_message(name)))
        work.run(insert(outbox_queues).values(tenant_id=name, queue="hook"))
        work.run(insert(tenants).values(**tenant(name)))
        work.run(insert(applications).values(tenant_id=name, client_id="c", name="c", settings={}, created_at=NOW))
        work.commit()
    yield database
    database.dispose()


def queued_message(tenant_id: str, message_id: str = "m") -> dict[str, object]:
    times = {"due_at": NOW, "created_at": NOW}
    return {
        "tenant_id": tenant_id,
        "message_id": message_id,
        "kind": "mail",
        "payload": {},
        "state": "waiting",
        **times,
    }


def tenant(name: str) -> dict[str, object]:
    empty: dict[str, object] = {"settings": {}, "brand": {}}
    return {"tenant_id": name, "name": name, "api_key": name, "api_secret": b"", "created_at": NOW, **empty}


def seen(database: Database, as_tenant: str, table: str) -> set[str]:
    work = UnitOfWork(database, as_tenant)
    try:
        return {row.tenant_id for row in work.all(select(metadata.tables[table].c.tenant_id))}
    finally:
        work.rollback()


def test_migrations_end_at_the_schema_in_code(database_url: str, engine: Engine) -> None:
    migrate.upgrade(database_url)
    with engine.connect() as connection:
        hidden = partitions(connection)
        left_out = {*hidden, *OF_ONE_DATABASE}
        seen = MigrationContext.configure(connection, opts={"include_name": lambda name, *_: name not in left_out})
        assert compare_metadata(seen, metadata) == []
        assert hidden == (PARTITIONS if connection.dialect.name == "postgresql" else set())
        assert read_schema_state(connection) == SchemaState(migrate.HEAD, oldest_code_of(migrate.HEAD))


def partitions(connection: Connection) -> set[str]:
    """Return what the database itself knows as a part of another table."""
    if connection.dialect.name != "postgresql":
        return set()
    found = connection.execute(
        text("SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE relkind = 'r'")
    )
    return set(found.scalars())


def test_partitions_have_columns_and_indexes_of_their_table(services: Database) -> None:
    """They have its columns in its order, and its indexes; the comparison with the schema in code leaves them out."""
    with services.connect() as connection:
        seen = inspect(connection)
        complete = shape(seen, "audit")
        assert complete["indexes"]
        assert partitions(connection) == PARTITIONS
        for partition in partitions(connection):
            assert shape(seen, partition) == complete


def shape(seen: Inspector, table: str) -> dict[str, Any]:
    columns = [
        (column["name"], str(column["type"]), column["nullable"], column["default"])
        for column in seen.get_columns(table)
    ]
    indexes = sorted((tuple(index["column_names"]), index["unique"]) for index in seen.get_indexes(table))
    return {"columns": columns, "indexes": indexes, "key": seen.get_pk_constraint(table)["constrained_columns"]}


@pytest.mark.parametrize("database_url", ["migrated sqlite", "migrated postgres"], indirect=True)
def test_downgrade_to_base_leaves_nothing(database_url: str, engine: Engine) -> None:
    migrate.downgrade(database_url)
    assert set(inspect(engine).get_table_names()) - {"alembic_version"} == set()
    migrate.upgrade(database_url)
    assert set(metadata.tables) <= set(inspect(engine).get_table_names())


@pytest.mark.parametrize("database_url", ["migrated sqlite", "migrated postgres"], indirect=True)
def test_second_upgrade_changes_nothing(database_url: str, engine: Engine) -> None:
    """Neither the schema, nor its history, nor a row, nor on PostgreSQL the locks and the grants around them."""
    database = Database(dialect(database_url))
    with UnitOfWork(database, "acme").separate_transaction() as work:
        work.run(insert(outbox).values(**queued_message("acme")))
    database.dispose()
    before = schema_and_rows(engine)
    assert before["rows"]["outbox"]
    migrate.upgrade(database_url)
    assert schema_and_rows(engine) == before


def schema_and_rows(engine: Engine) -> dict[str, Any]:
    """Return everything that a migration could change, as tenant acme's rows show it."""
    is_postgres = engine.dialect.name == "postgresql"
    of_tables = (
        "SELECT relname, relrowsecurity, relforcerowsecurity, relacl::text FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace ORDER BY relname"
        if is_postgres
        else "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
    )
    seen = inspect(engine)
    with engine.connect() as connection:
        if is_postgres:
            connection.execute(text("SELECT set_config('gatehouse.tenant', 'acme', true)"))
        tables = {name: sorted(str(column) for column in seen.get_columns(name)) for name in seen.get_table_names()}
        rows = {name: connection.execute(text(f"SELECT * FROM {name}")).all() for name in sorted(tables)}
        return {"tables": tables, "rows": rows, "stated": connection.execute(text(of_tables)).all()}


@pytest.mark.parametrize("is_encrypted_first", [False, True])
def test_mail_queued_unencrypted_by_older_code_is_delivered(database_url: str, is_encrypted_first: bool) -> None:
    migrate.upgrade(database_url, revision="0008")
    database = Database(dialect(database_url))
    payload = {"to": "ada@example.com", "subject": "Hello", "text": "Your code is 123456"}
    with UnitOfWork(database, "acme").separate_transaction() as work:
        work.run(insert(outbox).values({**queued_message("acme"), "payload": payload, "attempts": 0}))
    migrate.upgrade(database_url)
    if is_encrypted_first:
        assert claims.reencrypt(database, VAULT) == 1
        assert "123456" not in str(row(database, "m").payload)
    with mailbox() as server:
        worker(database, FixedClock(NOW), f"smtp://127.0.0.1:{server.port}").deliver_due()
        assert [mail.get_content().strip() for mail in server.mails] == ["Your code is 123456"]
    database.dispose()


def test_known_head_is_the_newest_revision() -> None:
    assert history().get_heads() == [migrate.HEAD]


@cache
def history() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    return ScriptDirectory.from_config(config)


def oldest_code_of(revision: str) -> str:
    return str(getattr(history().get_revision(revision).module, "oldest_code", ""))


REVISIONS = sorted(script.revision for script in history().walk_revisions())


@pytest.mark.parametrize(("before", "revision"), list(pairwise(["", *REVISIONS])))
def test_each_migration_states_its_oldest_compatible_code(before: str, revision: str) -> None:
    """`oldest_code` is no later than the revision itself and no earlier than that of the previous migration."""
    stated = oldest_code_of(revision)
    assert (oldest_code_of(before) if before else "0001") <= stated <= revision, f"{revision} states {stated!r}"
    assert stated in REVISIONS


def test_no_migration_breaks_its_oldest_compatible_code(fresh_postgres: PostgresUrls) -> None:
    """What takes something away raises `oldest_code` to the first code that does not use it any more (CONTRIBUTING.md)."""
    migrate.upgrade(fresh_postgres.migrate_url, revision=FIRST_ONLINE)
    for before, revision in pairwise([item for item in REVISIONS if item >= FIRST_ONLINE]):
        with recorded_statements() as statements:
            migrate.upgrade(fresh_postgres.migrate_url, revision=revision)
        if oldest_code_of(revision) == oldest_code_of(before):
            assert breaks_older_code(statements, PASSING.get(revision, ())) == []
        assert keeps_writers_out(statements) == [], "use migrations/ddl.py"


def test_code_serves_without_contracting_revisions() -> None:
    """Only revisions that raise `oldest_code` may lie between `OLDEST_SCHEMA` and `HEAD`: all others add what the code uses."""
    behind = [revision for revision in REVISIONS if revision > migrate.OLDEST_SCHEMA]
    assert all(oldest_code_of(revision) > oldest_code_of(migrate.OLDEST_SCHEMA) for revision in behind)


def test_missing_role_is_named(fresh_postgres: PostgresUrls) -> None:
    with pytest.raises(SettingsError, match="unknown_role"):
        migrate.upgrade(fresh_postgres.migrate_url, runtime_role="unknown_role")


def test_every_table_forces_row_security_even_for_its_owner(services: Database) -> None:
    with psycopg.connect(services.url.replace("+psycopg", "")) as connection:
        rows = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity, relispartition,"
            " has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE') FROM pg_class"
            " WHERE relkind IN ('r', 'p', 'm', 'f') AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'"
        ).fetchall()
    assert {name: is_locked for name, is_locked, is_part, _ in rows if not is_part} == dict.fromkeys(
        metadata.tables, True
    )
    assert {row for row in rows if row[2]} == {(name, True, True, False) for name in PARTITIONS}


@pytest.mark.parametrize("table", ["consents", "outbox", "tenants"])
def test_query_without_tenant_filter_sees_only_its_tenant(services: Database, table: str) -> None:
    assert seen(services, "acme", table) == {"acme"}
    assert seen(services, "absent", table) == set()


def test_connection_without_a_tenant_sees_nothing(services: Database) -> None:
    with services.connect() as connection:
        assert [connection.execute(select(table)).all() for table in metadata.tables.values()] == [[]] * len(
            metadata.tables
        )


def test_row_of_another_tenant_is_neither_added_nor_moved(services: Database) -> None:
    for statement in (
        "INSERT INTO consents VALUES ('globex', 'v', 'shop', '[]', now())",
        "UPDATE consents SET tenant_id = 'globex', uid = 'v'",
    ):
        with psycopg.connect(services.url.replace("+psycopg", "")) as connection:
            connection.execute("SELECT set_config('gatehouse.tenant', 'acme', true)")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_tenant_lookup_sees_only_tenants_and_clients(services: Database) -> None:
    views = {name: seen(services, "lookup", name) for name in metadata.tables}
    assert {name for name, rows in views.items() if rows} == {"tenants", "applications"}
    assert views["tenants"] == {"acme", "globex"}


def test_outbox_claim_sees_only_messages_and_queues(services: Database) -> None:
    views = {name: seen(services, "outbox", name) for name in metadata.tables}
    assert {name for name, rows in views.items() if rows} == {"outbox", "outbox_queues"}


def test_outbox_claim_cannot_change_a_queue(services: Database) -> None:
    work = UnitOfWork(services, "outbox")
    assert work.changed(outbox_queues.update().values(failures=9)) == 0
    work.rollback()


@pytest.mark.parametrize(("as_tenant", "table"), [("lookup", "tenants"), ("outbox", "outbox")])
def test_neither_exemption_can_delete_a_row(services: Database, as_tenant: str, table: str) -> None:
    work = UnitOfWork(services, as_tenant)
    assert work.changed(metadata.tables[table].delete()) == 0
    work.rollback()


def test_tenant_lookup_cannot_change_a_tenant(services: Database) -> None:
    work = UnitOfWork(services, "lookup")
    assert work.changed(tenants.update().values(name="stolen")) == 0
    work.rollback()


def test_runtime_role_cannot_rewrite_the_schema_version(services: Database) -> None:
    with psycopg.connect(services.url.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (migrate.HEAD,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM alembic_version")
