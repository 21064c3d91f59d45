"""The worker creates and drops the monthly partitions of the audit trail, and row security holds in each partition."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import psycopg
import pytest

from app.identity.assembly.clean_up import audit_retention
from app.identity.assembly.clean_up.expired_rows import Cleaner
from app.identity.platform.audit import AuditLog, audit, of_account
from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import SystemClock
from tests.support.database.audit_trails import (
    DENIED,
    Connected,
    add,
    beside,
    down,
    keep,
    moment,
    month,
    none,
    old,
    parts,
    places,
    rows,
    state,
    up,
)
from tests.support.services.servers import BACKUP, RUNTIME, Postgres, PostgresUrls


def test_worker_creates_coming_months_and_drops_old_ones(
    partitioned: PostgresUrls, owner: Connected, runtime: Connected, audit_database: Database
) -> None:
    migrate.upgrade(partitioned.migrate_url, runtime_role=RUNTIME)  # the cleaner reads tables of today
    state(owner, acme=30, globex=400)
    old(owner, audit_older=(600, 500.01), audit_old=(500, 450.01), audit_mid=(450, 380))
    retained = [add(runtime, "globex", moment(-390)), add(runtime, "globex", moment(0))]
    add(runtime, "acme", moment(-460))
    owner.execute("DELETE FROM audit_other")
    owner.commit()
    Cleaner(audit_database).turn(SystemClock().now())
    months = {month(ahead) for ahead in range(1, 4)}
    assert months <= parts(owner) <= months | {month(0), "audit_mid", "audit_other"}
    assert "audit_mid" in parts(owner)
    assert [entry_id for _, entry_id in rows(runtime, "globex")] == retained
    stored = parts(owner)
    keep(audit_database)
    assert parts(owner) == stored
    add(runtime, "acme", moment(62))
    assert places(runtime, "acme")[-1] in months


def test_longest_retention_of_all_tenants_decides(
    partitioned: PostgresUrls, owner: Connected, runtime: Connected, audit_database: Database
) -> None:
    state(owner, acme=1, globex=600)
    old(owner, audit_old=(500, 450))
    add(runtime, "globex", moment(-460))
    keep(audit_database)
    assert places(runtime, "globex") == ["audit_old"]
    state(owner, globex=449)
    keep(audit_database)
    assert "audit_old" not in parts(owner)


def test_tenant_without_retention_setting_gets_the_default(
    partitioned: PostgresUrls, owner: Connected, audit_database: Database
) -> None:
    state(owner, acme=1, globex=0)
    old(owner, audit_old=(420, 366.51), audit_mid=(366.5, 363.5))
    with psycopg.connect(partitioned.runtime_url) as worker:
        worker.execute("SELECT gatehouse_audit_drop(now(), 400)")
        assert "audit_old" in parts(owner)
        worker.commit()
    keep(audit_database)
    assert {"audit_old", "audit_mid"} & parts(owner) == {"audit_mid"}


def test_nothing_is_dropped_while_no_tenant_is_visible(
    partitioned: PostgresUrls, owner: Connected, audit_database: Database
) -> None:
    old(owner, audit_old=(5000, 4000))
    keep(audit_database)
    assert "audit_old" in parts(owner)


def test_one_clock_ahead_drops_nothing(partitioned: PostgresUrls, owner: Connected, audit_database: Database) -> None:
    state(owner, acme=30)
    old(owner, audit_old=(60, 20), audit_mid=(90, 60.01))
    keep(audit_database, days=-40)
    assert {"audit_old", "audit_mid"} <= parts(owner)
    keep(audit_database, days=4000)
    assert {"audit_old", "audit_mid"} & parts(owner) == {"audit_old"}


def test_partition_in_use_is_dropped_by_the_next_run(
    partitioned: PostgresUrls, owner: Connected, audit_database: Database
) -> None:
    state(owner, acme=30)
    old(owner, audit_old=(500, 450))
    with psycopg.connect(partitioned.runtime_url) as reader:
        reader.execute("SELECT set_config('gatehouse.tenant', 'acme', true)")
        reader.execute("SELECT FROM audit WHERE entry_id = %s", (moment(-460),))  # takes a lock on this partition alone
        keep(audit_database)
        assert {"audit_old", month(3)} <= parts(owner), "the months that were made stay"
    keep(audit_database)
    assert "audit_old" not in parts(owner)


def test_no_later_month_is_created_before_a_blocked_one(
    partitioned: PostgresUrls, owner: Connected, audit_database: Database
) -> None:
    old(owner)
    with psycopg.connect(partitioned.runtime_url) as reader:
        reader.execute("SELECT count(*) FROM audit")
        keep(audit_database)
        assert parts(owner) == {"audit_other"}
    keep(audit_database)
    assert {month(ahead) for ahead in range(1, 4)} <= parts(owner)


def test_month_with_rows_in_the_default_partition_is_skipped(
    partitioned: PostgresUrls, owner: Connected, runtime: Connected, audit_database: Database
) -> None:
    """As where no worker ran for months: its rows are found and removed as all others, and the coming months are made."""
    state(owner, acme=30)
    old(owner)
    add(runtime, "acme", moment(0))
    keep(audit_database)
    assert parts(owner) == {"audit_other", *(month(ahead) for ahead in range(1, 4))}
    assert places(runtime, "acme") == ["audit_other"]


def test_rows_outside_all_months_are_found_and_removed(
    partitioned: PostgresUrls, owner: Connected, runtime: Connected, audit_database: Database
) -> None:
    old(owner, audit_old=(500, 450))
    for days in (-1000, -440, 4000):
        add(runtime, "acme", moment(days))
    add(runtime, "globex", moment(-1000))
    assert places(runtime, "acme") == ["audit_other"] * 3
    work = UnitOfWork(audit_database, "acme")
    assert len(of_account(work, "u", 10)) == 3
    work.rollback()
    assert audit_retention.delete_expired(audit_database, "acme", moment(-365)) == 2
    assert [len(rows(runtime, item)) for item in ("acme", "globex")] == [1, 1]


def test_concurrent_purges_and_writes_do_not_deadlock(
    partitioned: PostgresUrls, owner: Connected, audit_database: Database
) -> None:
    state(owner, acme=1)
    old(owner, **{f"audit_p{n}": (500 - 10.0 * n, 490.01 - 10.0 * n) for n in range(8)})
    log = AuditLog(SystemClock())

    def write() -> None:
        log.record("something.happened", uid="u")
        with UnitOfWork(audit_database, "acme").separate_transaction() as work:
            log.write(work)
            work.run(audit.select().limit(1))

    with (
        psycopg.connect(partitioned.runtime_url) as writer,
        beside(
            write,
            lambda: none(add(writer, "acme", moment(-425))),
            lambda: none(audit_retention.delete_expired(audit_database, "acme", moment(-400))),
            lambda: none(audit_retention.delete_expired(audit_database, "acme", moment(-1))),
        ),
    ):
        until = time.monotonic() + 60
        while any(name.startswith("audit_p") for name in parts(owner)) and time.monotonic() < until:
            keep(audit_database)
    assert not any(name.startswith("audit_p") for name in parts(owner))


def test_partition_hides_rows_of_other_tenants(
    partitioned: PostgresUrls,
    postgres_server: Postgres,
    owner: Connected,
    runtime: Connected,
    audit_database: Database,
) -> None:
    keep(audit_database)
    near, far = "audit_before", month(3)
    for days in (0, 200):
        add(runtime, "acme", moment(days))
    add(runtime, "acme", f"{int(datetime.strptime(far, 'audit_%Y%m').replace(tzinfo=UTC).timestamp() * 1000) + 5:012x}")
    assert places(runtime, "acme") == [near, far, "audit_other"]
    for part in (near, far, "audit_other"):
        assert rows(owner, "globex", part) == [], "the owner"
        with pytest.raises(DENIED):
            rows(runtime, "acme", part)
        runtime.rollback()
        postgres_server.execute(f"GRANT SELECT ON {part} TO {RUNTIME}", partitioned.migrate_url.rsplit("/", 1)[1])
        assert rows(runtime, "globex", part) == [], "though an operator granted it"
    assert rows(runtime, "globex") == []
    up(partitioned)
    with pytest.raises(DENIED):
        rows(runtime, "acme", far)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE audit_before", "TRUNCATE audit_before", "DELETE FROM audit_other", "ALTER TABLE audit DETACH PARTITION audit_other",
        "CREATE TABLE audit_mine PARTITION OF audit FOR VALUES FROM ('f') TO ('g')", "CREATE TABLE mine (n int)",
        "INSERT INTO audit_other SELECT * FROM audit", "SELECT gatehouse_audit_shut('audit_other')", "SELECT gatehouse_audit_uppers()",
    ],
)  # fmt: skip
def test_runtime_role_cannot_change_partitions_itself(
    partitioned: PostgresUrls, runtime: Connected, statement: str
) -> None:
    with pytest.raises(DENIED):
        runtime.execute(statement.encode())


def test_other_roles_may_not_call_the_owner_functions(partitioned: PostgresUrls, postgres_server: Postgres) -> None:
    granted = postgres_server.value(
        "SELECT array_agg(DISTINCT a.grantee::regrole::text) FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a"
        " WHERE proname LIKE 'gatehouse_audit%' AND a.grantee <> p.proowner",
        partitioned.migrate_url.rsplit("/", 1)[1],
    )
    assert granted == [RUNTIME]


def test_backup_role_reads_every_partition(
    unpartitioned: PostgresUrls, postgres_server: Postgres, runtime: Connected, audit_database: Database
) -> None:
    """Also where no default privileges grant it the new ones: pg_dump reads each by itself."""
    name = unpartitioned.migrate_url.rsplit("/", 1)[1]
    url = postgres_server.backup_url(name)
    grant = "ALTER DEFAULT PRIVILEGES FOR ROLE gatehouse_owner IN SCHEMA public"
    postgres_server.execute(f"{grant} REVOKE SELECT ON TABLES FROM {BACKUP}", name)
    add(runtime, "acme", moment(0))
    up(unpartitioned)
    keep(audit_database)
    with psycopg.connect(url) as backup:
        for part in sorted(parts(backup) | {"audit"}):
            backup.execute(f"SELECT count(*) FROM {part}".encode())
        assert backup.execute("SELECT count(*) FROM audit").fetchone() == (1,)
    with psycopg.connect(url) as backup:
        backup.execute("SET default_transaction_read_only = off")
        backup.commit()
        with pytest.raises(DENIED):
            backup.execute("DELETE FROM audit")
    down(unpartitioned)
    with psycopg.connect(url) as backup:
        assert backup.execute("SELECT count(*) FROM audit").fetchone() == (1,)
