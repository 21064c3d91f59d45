"""The audit trail in PostgreSQL before and after its partitions, and the queries on it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import psycopg
import pytest

from app.identity.assembly.clean_up import audit_retention
from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database
from app.kit.clock import SystemClock
from tests.support.services.real_services import template
from tests.support.services.servers import RUNTIME, Postgres, PostgresUrls

BEFORE, REVISION = "0017", "0018"
DENIED = psycopg.errors.InsufficientPrivilege
NAMES = count()
Row = tuple[str, str]
Connected = psycopg.Connection[Any]


def moment(days: float) -> str:
    """Return the least entry id of so many days from now."""
    return f"{int((time.time() + days * 86_400) * 1000):012x}"


def month(ahead: int) -> str:
    """Return the name of the partition of a coming month."""
    now = datetime.now(UTC)
    years, index = divmod(now.month - 1 + ahead, 12)
    return f"audit_{now.year + years}{index + 1:02d}"


def up(urls: PostgresUrls) -> None:
    migrate.upgrade(urls.migrate_url, runtime_role=RUNTIME, revision=REVISION)


def down(urls: PostgresUrls) -> None:
    migrate.downgrade(urls.migrate_url, revision=BEFORE)


def add(connection: Connected, tenant: str, entry_id: str) -> str:
    connection.execute("SELECT set_config('gatehouse.tenant', %s, true)", (tenant,))
    values = (tenant, f"{entry_id}-{next(NAMES):08d}")
    connection.execute(
        "INSERT INTO audit (tenant_id, entry_id, at, event, uid, facts) VALUES (%s, %s, now(), 'e', 'u', '{}')", values
    )
    connection.commit()
    return values[1]


def rows(connection: Connected, tenant: str, table: str = "audit") -> list[Row]:
    """Return where each row of a tenant lies, and its id."""
    connection.execute("SELECT set_config('gatehouse.tenant', %s, true)", (tenant,))
    found = connection.execute(f"SELECT tableoid::regclass::text, entry_id FROM {table} ORDER BY entry_id".encode())
    stored = found.fetchall()
    connection.commit()
    return stored


def places(connection: Connected, tenant: str) -> list[str]:
    return [place for place, _ in rows(connection, tenant)]


def parts(connection: Connected) -> set[str]:
    found = connection.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'audit'::regclass"
    ).fetchall()
    connection.commit()
    return {name for (name,) in found}


def state(owner: Connected, **days: int) -> None:
    """Make these tenants, or change how long they keep their audit trail."""
    for name, audit_days in days.items():
        owner.execute("SELECT set_config('gatehouse.tenant', %s, true)", (name,))
        owner.execute(
            "INSERT INTO tenants (tenant_id, name, api_key, api_secret, created_at, settings, brand, version, is_active)"
            " VALUES (%s, %s, %s, '', now(), %s, '{}', 1, true)"
            " ON CONFLICT (tenant_id) DO UPDATE SET settings = excluded.settings",
            (name, name, name, f'{{"audit_days": {audit_days}}}' if audit_days else "{}"),
        )
    owner.commit()


def old(owner: Connected, **bounds: tuple[float, float]) -> None:
    """Put partitions of a past time in the place of the first one, as years of months leave them."""
    if "audit_before" in parts(owner):
        owner.execute("DROP TABLE audit_before")
    for name, (low, high) in bounds.items():
        owner.execute(
            f"CREATE TABLE {name} PARTITION OF audit FOR VALUES FROM ('{moment(-low)}') TO ('{moment(-high)}')".encode()
        )
        owner.execute(f"SELECT gatehouse_audit_shut('{name}')".encode())
    owner.commit()


@pytest.fixture(scope="session")
def audit_templates(postgres_server: Postgres) -> dict[str, str]:
    """A database before the revision and one after it, to be copied."""
    return {
        revision: template(
            postgres_server,
            f"audit_{revision}",
            partial(migrate.upgrade, runtime_role=RUNTIME, revision=revision),
        )
        for revision in (BEFORE, REVISION)
    }


@contextmanager
def copied(server: Postgres, source: str) -> Iterator[PostgresUrls]:
    name = f"{source}_{os.getpid()}_{next(NAMES)}"
    yield server.database(name, source)
    server.drop(name)


@pytest.fixture
def unpartitioned(audit_templates: dict[str, str], postgres_server: Postgres) -> Iterator[PostgresUrls]:
    with copied(postgres_server, audit_templates[BEFORE]) as urls:
        yield urls


@pytest.fixture
def partitioned(audit_templates: dict[str, str], postgres_server: Postgres) -> Iterator[PostgresUrls]:
    with copied(postgres_server, audit_templates[REVISION]) as urls:
        yield urls


@pytest.fixture
def audit_urls(request: pytest.FixtureRequest) -> PostgresUrls:
    """The database that the test began with."""
    name = "unpartitioned" if "unpartitioned" in request.fixturenames else "partitioned"
    made: PostgresUrls = request.getfixturevalue(name)
    return made


@pytest.fixture
def owner(audit_urls: PostgresUrls) -> Iterator[Connected]:
    with psycopg.connect(audit_urls.migrate_url) as connection:
        yield connection


@pytest.fixture
def runtime(audit_urls: PostgresUrls) -> Iterator[Connected]:
    with psycopg.connect(audit_urls.runtime_url) as connection:
        yield connection


@pytest.fixture
def audit_database(audit_urls: PostgresUrls) -> Iterator[Database]:
    """The database as a worker opens it."""
    made = Database(audit_urls.runtime_url.replace("postgresql:", "postgresql+psycopg:"))
    yield made
    made.dispose()


def keep(database: Database, days: float = 0) -> None:
    audit_retention.maintain_partitions(database, SystemClock().now() + timedelta(days=days))


@contextmanager
def beside(*each: Callable[[], None]) -> Iterator[None]:
    """Run these again and again, each in a thread of its own; what any of them raises is raised in the end."""
    done, wrong = threading.Event(), list[Exception]()

    def run(item: Callable[[], None]) -> None:
        try:
            while not done.is_set():
                item()
        except Exception as problem:  # noqa: BLE001 - raised again at the end
            wrong.append(problem)

    threads = [threading.Thread(target=run, args=(element,)) for element in each]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join(60)
    assert wrong == []


def none(_: object) -> None:
    """Do away with what came."""
