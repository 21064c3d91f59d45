"""A hanging database or Redis (SIGSTOP), or a locked SQLite file: every request is answered, and the service recovers."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from tests.support.installation import eventually
from tests.support.outages import (
    ASKING_SECONDS,
    HANG_SECONDS,
    ask_during,
    frozen,
    kinds,
    print_results,
    serving,
    wait_for_recovery,
    wings_apart,
)
from tests.support.servers import Postgres, Redis


def test_hanging_database_answers_503(
    own_postgres: Postgres, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path, own_postgres) as ours:
        with frozen(own_postgres):
            seen = ask_during(kinds(ours), ASKING_SECONDS)
        print_results("PostgreSQL", seen, wait_for_recovery(ours), capsys)
    assert all(one.has_retry_after for one in seen.values())
    assert {kind: set(one.statuses) for kind, one in seen.items()} == {
        **dict.fromkeys(("sign-in", "authorize", "unknown tenant", "ready"), frozenset({503})),
        **dict.fromkeys(("page", "live", "jwks", "discovery"), frozenset({200})),
    }


def test_hanging_redis_answers_503(own_redis: Redis, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, None, own_redis) as ours:
        with frozen(own_redis):
            seen = ask_during(kinds(ours), ASKING_SECONDS)
        print_results("Redis", seen, wait_for_recovery(ours), capsys)
    assert {kind: set(seen[kind].statuses) for kind in ("sign-in", "ready", "live", "page")} == {
        **dict.fromkeys(("sign-in", "ready"), frozenset({503})),  # no sign-in without rate limits
        **dict.fromkeys(("live", "page"), frozenset({200})),
    }


def test_locked_sqlite_file_answers_503_for_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, None) as ours:
        other = sqlite3.connect(tmp_path / "gatehouse.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(HANG_SECONDS, other.rollback)
        timer.start()
        seen = ask_during(kinds(ours), ASKING_SECONDS)
        timer.join()
        other.close()
        print_results("the SQLite file", seen, wait_for_recovery(ours), capsys)
    assert {kind: set(seen[kind].statuses) for kind in ("sign-in", "ready", "live", "page", "jwks")} == {
        "sign-in": {503},
        **dict.fromkeys(("ready", "live", "page", "jwks"), frozenset({200})),  # reads go on
    }


def test_hub_answers_503_while_identity_service_hangs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with wings_apart(tmp_path) as (ours, identity):
        asks = {
            kind: ask for kind, ask in kinds(ours).items() if kind in {"authorize", "page", "live", "unknown tenant"}
        }
        before = {kind: asks[kind]().status for kind in ("authorize", "page")}
        with frozen(identity):
            seen = ask_during(asks, ASKING_SECONDS)
        begun = time.monotonic()
        eventually(lambda: asks["authorize"]().status == before["authorize"], "it recovers")
        print_results("the identity service", seen, time.monotonic() - begun, capsys)
    assert all(one.has_retry_after for one in seen.values())
    assert {kind: set(one.statuses) for kind, one in seen.items()} == {
        **dict.fromkeys(("authorize", "unknown tenant"), frozenset({503})),
        **dict.fromkeys(("page", "live"), frozenset({200})),
    }


def test_separate_hub_answers_503_while_redis_hangs(
    own_redis: Redis, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with wings_apart(tmp_path, own_redis) as (ours, _):
        asks = {
            kind: ask for kind, ask in kinds(ours).items() if kind in {"authorize", "page", "live", "unknown tenant"}
        }
        before = {kind: asks[kind]().status for kind in ("authorize", "page")}
        with frozen(own_redis):
            seen = ask_during(asks, ASKING_SECONDS)
        begun = time.monotonic()
        eventually(lambda: asks["authorize"]().status == before["authorize"], "it recovers")
        print_results("Redis behind a separate identity service", seen, time.monotonic() - begun, capsys)
