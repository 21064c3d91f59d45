"""Migrate the audit trail to partitions on PostgreSQL and back: no row is lost, and no statement waits long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.identity.platform.store import migrate
from app.identity.platform.store.migrate import LockRetries
from app.settings import SettingsError
from tests.support.database.audit_trails import (
    BEFORE,
    DENIED,
    REVISION,
    Connected,
    add,
    beside,
    down,
    moment,
    none,
    old,
    places,
    rows,
    up,
)
from tests.support.services.servers import Postgres, PostgresUrls


def test_rows_survive_upgrade_and_downgrade(unpartitioned: PostgresUrls, runtime: Connected) -> None:
    existing = {item: [add(runtime, item, moment(-days)) for days in (400, 30, 0)] for item in ("acme", "globex")}
    up(unpartitioned)
    for tenant, ids in existing.items():
        assert rows(runtime, tenant) == [("audit_before", item_id) for item_id in ids]
    existing["acme"] += [add(runtime, "acme", moment(days)) for days in (130, 4000)]
    assert places(runtime, "acme")[3:] == ["audit_other", "audit_other"]
    down(unpartitioned)
    for tenant, ids in existing.items():
        assert rows(runtime, tenant) == [("audit", item_id) for item_id in ids]
    runtime.execute("SELECT set_config('gatehouse.tenant', 'acme', true)")
    with pytest.raises(DENIED):
        runtime.execute("INSERT INTO audit VALUES ('globex', 'x', now(), 'e', null, null, null, null, '{}')")


def test_downgrade_restores_rows_without_the_first_partition(
    partitioned: PostgresUrls, owner: Connected, runtime: Connected
) -> None:
    old(owner, audit_old=(500, 450))
    ids = [add(runtime, "acme", moment(-days)) for days in (460, 100)]
    down(partitioned)
    assert rows(runtime, "acme") == [("audit", item_id) for item_id in ids]
    up(partitioned)
    assert rows(runtime, "acme") == [("audit_before", item_id) for item_id in ids]


def stored(connection: Connected, *names: str) -> list[Any]:
    found = connection.execute(
        "SELECT pg_relation_filenode(name::regclass) FROM unnest(%s::text[]) AS name", (list(names),)
    )
    existing = found.fetchall()
    connection.commit()
    return existing


def scans(server: Postgres, urls: PostgresUrls, table: str) -> int:
    return int(server.value(f"SELECT pg_stat_get_numscans('{table}'::regclass)", urls.migrate_url.rsplit("/", 1)[1]))


class BrokenOff(Exception):
    """The process is gone."""


@contextmanager
def broken_off(at: str) -> Iterator[None]:
    """Break a migration off before it sends a statement."""

    def fall(_: Any, __: Any, statement: str, *___: Any) -> None:
        if statement.startswith(at):
            raise BrokenOff

    event.listen(Engine, "before_cursor_execute", fall)
    try:
        with pytest.raises(BrokenOff):
            yield
    finally:
        event.remove(Engine, "before_cursor_execute", fall)


def test_exclusive_lock_covers_no_scan_and_no_index_build(
    unpartitioned: PostgresUrls, postgres_server: Postgres, owner: Connected, runtime: Connected
) -> None:
    """The CHECK that a run which broke off has left is enough for the next one, and nothing refuses a row meanwhile."""
    retained = [add(runtime, "acme", moment(-days)) for days in (400, 0)]
    files = stored(owner, "audit", "pk_audit", "ix_audit_uid")
    with broken_off("LOCK TABLE audit"):
        up(unpartitioned)
    retained.append(add(runtime, "acme", moment(1)))
    scanned = scans(postgres_server, unpartitioned, "audit")
    up(unpartitioned)
    assert scans(postgres_server, unpartitioned, "audit_before") == scanned
    assert stored(owner, "audit_before", "pk_audit_before", "ix_audit_before_uid") == files
    assert rows(runtime, "acme") == [("audit_before", item) for item in retained]


def test_later_run_moves_the_bound_forward(unpartitioned: PostgresUrls, owner: Connected, runtime: Connected) -> None:
    owner.execute(f"ALTER TABLE audit ADD CONSTRAINT ck_audit_before CHECK (entry_id < '{moment(5)}')".encode())
    owner.commit()
    up(unpartitioned)
    add(runtime, "acme", moment(6))
    assert places(runtime, "acme") == ["audit_before"]


@pytest.mark.parametrize(
    "at", ["ALTER TABLE audit VALIDATE", "LOCK TABLE", "CREATE TABLE audit_other", "UPDATE alembic"]
)
def test_interrupted_migration_can_run_again(unpartitioned: PostgresUrls, runtime: Connected, at: str) -> None:
    add(runtime, "acme", moment(0))
    with broken_off(at):
        up(unpartitioned)
    add(runtime, "acme", moment(0))
    assert places(runtime, "acme") == ["audit", "audit"]
    up(unpartitioned)
    assert places(runtime, "acme") == ["audit_before", "audit_before"]


def test_rows_with_a_future_time_stop_the_migration(
    unpartitioned: PostgresUrls, owner: Connected, runtime: Connected
) -> None:
    add(runtime, "acme", moment(1000))
    with pytest.raises(SettingsError, match="months ahead"):
        up(unpartitioned)
    add(runtime, "acme", moment(1000))
    assert places(runtime, "acme") == ["audit", "audit"]
    assert owner.execute("SELECT version_num FROM alembic_version").fetchone() == (BEFORE,)


def test_swap_retries_briefly_behind_a_long_read(unpartitioned: PostgresUrls, runtime: Connected) -> None:
    """Other writes pass meanwhile, and the migration continues after the read ends."""
    tried = threading.Thread(
        target=lambda: migrate.upgrade(unpartitioned.migrate_url, revision=REVISION, retries=LockRetries(0.3, 200, 0.1))
    )
    with psycopg.connect(unpartitioned.runtime_url) as long:
        long.execute("SELECT count(*) FROM audit")
        tried.start()
        runtime.execute("SET statement_timeout = '20s'")  # a hang is a failure
        for _ in range(10):
            add(runtime, "acme", moment(0))
        assert tried.is_alive()
    tried.join(60)
    assert places(runtime, "acme") == ["audit_before"] * 10


def test_concurrent_writes_and_reads_lose_nothing(unpartitioned: PostgresUrls) -> None:
    """They keep their connections and their prepared statements, as instances of the version before do."""
    wrote = list[str]()
    with (
        psycopg.connect(unpartitioned.runtime_url, prepare_threshold=0) as item,
        psycopg.connect(unpartitioned.runtime_url, prepare_threshold=0) as two,
        psycopg.connect(unpartitioned.runtime_url, prepare_threshold=0) as three,
    ):

        def more() -> None:
            had = len(wrote)
            while len(wrote) < had + 40:
                time.sleep(0.01)

        with beside(
            lambda: wrote.append(add(item, "acme", moment(0))),
            lambda: wrote.append(add(two, "acme", moment(0))),
            lambda: none(rows(three, "acme")),
        ):
            for step in (more, lambda: up(unpartitioned), more, lambda: down(unpartitioned), more):
                step()
        assert {entry_id for _, entry_id in rows(item, "acme")} == set(wrote)
        assert len(wrote) == len(set(wrote)) >= 120
