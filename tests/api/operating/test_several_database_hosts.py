"""A database URL with several hosts: a dead host is skipped, a promoted standby takes over from the primary."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.settings import read
from tests.support.accounts.registering import REGISTER, primary
from tests.support.processes.installation import Installation, eventually, installed, migrated
from tests.support.services.servers import Postgres, PostgresUrls, free_port
from tests.support.tenants.tenant_server import PASSWORD

LOGIN, SOTT = "/identity/v2/auth/login", "/identity/v2/manage/account/sott"


def in_authority(url: str, *ports: int) -> str:
    """Return the URL with a list of hosts and ports before the path."""
    user = urlsplit(url).netloc.rpartition("@")[0]
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"postgresql://{user}@{hosts}{urlsplit(url).path}?target_session_attrs=read-write"


def in_query(url: str, *ports: int) -> str:
    """Return the URL with hosts and ports as query parameters."""
    user = urlsplit(url).netloc.rpartition("@")[0]
    hosts, port_list = ",".join(["127.0.0.1"] * len(ports)), ",".join(str(port) for port in ports)
    return f"postgresql://{user}@{urlsplit(url).path}?host={hosts}&port={port_list}&target_session_attrs=read-write"


@pytest.mark.parametrize("url_with_hosts", [in_authority, in_query])
def test_dead_host_is_skipped(url_with_hosts: Any, postgres_server: Postgres, fresh_postgres: PostgresUrls) -> None:
    dead, alive = free_port(), postgres_server.port
    settings = read(
        {
            "GATEHOUSE_DATABASE_URL": url_with_hosts(fresh_postgres.runtime_url, dead, alive),
            "GATEHOUSE_MIGRATE_URL": url_with_hosts(fresh_postgres.migrate_url, dead, alive),
            "GATEHOUSE_SECRET_KEY": "a-secret-of-the-tests-that-is-long-enough",
        }
    )
    migrate.migrate(settings)
    database = Database(settings.database)
    work = UnitOfWork(database, "tenant")
    assert work.run(text("SELECT current_user")).scalar_one() == "gatehouse_runtime"
    work.rollback()
    database.dispose()


@contextmanager
def replicated(primary_server: Postgres) -> Iterator[Postgres]:
    standby = primary_server.standby()
    try:
        yield standby
    finally:
        standby.remove()


def register(ours: Installation, email: str) -> int:
    sott = ours.send("GET", SOTT, with_secret=True)
    if sott.status_code != 200:
        return int(sott.status_code)
    body = {"Email": primary(email), "Password": PASSWORD}
    return int(ours.send("POST", REGISTER, body, sott=sott.json()["Sott"]).status_code)


def can_sign_in(ours: Installation, email: str) -> bool:
    return bool(ours.send("POST", LOGIN, {"email": email, "password": PASSWORD}).status_code == 200)


def test_promoted_standby_takes_over_without_restart(
    own_postgres: Postgres, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = migrated(own_postgres.database("gatehouse"))
    with replicated(own_postgres) as standby, installed(tmp_path, urls) as ours:
        ours.environ["GATEHOUSE_DATABASE_URL"] = in_authority(urls.runtime_url, own_postgres.port, standby.port)
        ours.tenant(email_verification="optional", email_login=True)
        ours.start()
        assert register(ours, "ada@example.test") == 200
        eventually(lambda: is_in_sync(own_postgres, standby), "the standby has replayed all changes")
        own_postgres.stop()
        assert register(ours, "early@example.test") == 503, "no host accepts writes yet"
        standby.execute("SELECT pg_promote()")
        promoted_at = time.monotonic()
        eventually(lambda: can_sign_in(ours, "ada@example.test"), "the account signs in at the other host")
        takeover_seconds = time.monotonic() - promoted_at
        assert register(ours, "grace@example.test") == 200
    with capsys.disabled():
        print(f"\n  the primary died; {takeover_seconds:.2f} s after the standby was promoted, sign-ins worked")


def is_in_sync(server: Postgres, standby: Postgres) -> bool:
    return bool(server.value("SELECT pg_current_wal_lsn()") == standby.value("SELECT pg_last_wal_replay_lsn()"))
