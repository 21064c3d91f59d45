"""The database on a Citus cluster: `make test-citus URL=...` runs these and no other run does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import select

from app.identity.assembly import table_modules  # noqa: F401 - declares every table
from app.identity.directory.accounts import account_store
from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database
from app.identity.platform.store.distribution import LOCAL_TABLES, REFERENCE_TABLES
from app.identity.platform.store.tables import all_tables
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.settings import SettingsError
from tests.support.services.servers import RUNTIME, SUPERUSER, Postgres, PostgresUrls

_KINDS = """SELECT relname::text, partmethod::text FROM pg_class LEFT JOIN pg_dist_partition ON logicalrelid = pg_class.oid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"""


@pytest.fixture
def superuser(postgres_server: Postgres, copied_postgres: PostgresUrls) -> Iterator[psycopg.Connection[Any]]:
    """A superuser on the coordinator, in the database of the test."""
    url = postgres_server.url(
        SUPERUSER, postgres_server.superuser_password, copied_postgres.runtime_url.rpartition("/")[2]
    )
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def database(copied_postgres: PostgresUrls) -> Iterator[Database]:
    made = Database(copied_postgres.runtime_url.replace("postgresql:", "postgresql+psycopg:"))
    yield made
    made.dispose()


def test_migrate_distributes_every_table(superuser: psycopg.Connection[Any]) -> None:
    kinds = dict(superuser.execute(_KINDS).fetchall())
    assert {name for name, kind in kinds.items() if kind is None} == LOCAL_TABLES
    assert {name for name, kind in kinds.items() if kind == "n"} == REFERENCE_TABLES
    assert {name for name, kind in kinds.items() if kind == "h"} == all_tables().keys() - REFERENCE_TABLES


def test_distributed_database_is_accepted(database: Database) -> None:
    assert "distributed by Citus" in migrate.examine(database)


def test_local_table_is_refused(database: Database, superuser: psycopg.Connection[Any]) -> None:
    superuser.execute("CREATE TABLE later (tenant_id varchar(64) PRIMARY KEY)")
    with pytest.raises(SettingsError, match="aren't distributed: later"):
        migrate.examine(database)


def test_migrate_distributes_a_later_table(
    copied_postgres: PostgresUrls, database: Database, superuser: psycopg.Connection[Any]
) -> None:
    superuser.execute("SET ROLE gatehouse_owner")
    superuser.execute("CREATE TABLE later (tenant_id varchar(64) PRIMARY KEY)")
    assert migrate.upgrade(copied_postgres.migrate_url, runtime_role=RUNTIME).distributed == ("later",)
    assert dict(superuser.execute(_KINDS).fetchall())["later"] == "h"
    assert migrate.examine(database)


def test_migrate_restates_policies_of_a_restored_dump(
    copied_postgres: PostgresUrls, database: Database, superuser: psycopg.Connection[Any]
) -> None:
    """pg_dump spells the cast of the column out, and Citus then sees no tenant in a subquery: it refuses the statement."""
    superuser.execute(
        "ALTER POLICY own_tenant ON account_roles USING ((tenant_id)::text = current_setting('gatehouse.tenant', true))"
    )
    with pytest.raises(SettingsError, match="restored from a dump"):
        migrate.examine(database)
    migrate.upgrade(copied_postgres.migrate_url, runtime_role=RUNTIME)
    assert migrate.examine(database)
    work = UnitOfWork(database, "acme")
    assert account_store.accounts_from_file(work) == []
    work.rollback()


def test_owner_does_not_distribute_rows_it_cannot_see(
    copied_postgres: PostgresUrls, superuser: psycopg.Connection[Any]
) -> None:
    superuser.execute("SET ROLE gatehouse_owner")
    superuser.execute("CREATE TABLE later (tenant_id varchar(64) PRIMARY KEY)")
    superuser.execute("INSERT INTO later VALUES ('acme')")
    with pytest.raises(SettingsError, match="later has rows"):
        migrate.upgrade(copied_postgres.migrate_url, runtime_role=RUNTIME)


def test_role_without_the_setting_is_refused(database: Database, superuser: psycopg.Connection[Any]) -> None:
    name = superuser.info.dbname
    superuser.execute(f"ALTER ROLE {RUNTIME} IN DATABASE {name} SET citus.propagate_set_commands = 'none'".encode())
    with pytest.raises(SettingsError, match="doesn't pass the tenant on"):
        migrate.examine(database)


def test_nodes_show_no_row_of_another_tenant(database: Database, superuser: psycopg.Connection[Any]) -> None:
    superuser.execute("INSERT INTO account_roles (tenant_id, uid, context, role) VALUES ('acme', 'u', '', 'r')")
    roles = all_tables()["account_roles"]
    for tenant_id, count in (("acme", 1), ("globex", 0)):
        work = UnitOfWork(database, tenant_id)
        assert len(work.all(select(roles.c.uid).where(roles.c.tenant_id == "acme"))) == count
        work.rollback()
