"""A hanging database or Redis (SIGSTOP), or a locked SQLite file: every request is answered, and the service recovers."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path
from statistics import median

import pytest

from app.identity.directory.tenants.tenant_cache import FRESH_SECONDS
from tests.support.processes.installation import eventually
from tests.support.processes.outages import (
    ASKING_SECONDS,
    HANG_SECONDS,
    JWKS,
    ask_during,
    asking,
    frozen,
    kinds,
    print_results,
    serving,
    wait_for_recovery,
    wings_apart,
)
from tests.support.services.servers import Postgres, Redis

LONGER_SECONDS = 4.0
"""For tests of immediate refusals: most requests come after the first ones have waited."""


def test_hanging_database_answers_503(
    own_postgres: Postgres, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path, own_postgres) as ours:
        with frozen(own_postgres):
            seen = ask_during(kinds(ours), ASKING_SECONDS)
        print_results("PostgreSQL", seen, wait_for_recovery(ours), capsys)
    assert all(item.has_retry_after for item in seen.values())
    assert {kind: set(item.statuses) for kind, item in seen.items()} == {
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
        timer = threading.Timer(HANG_SECONDS + LONGER_SECONDS, other.rollback)
        timer.start()
        seen = ask_during(kinds(ours), ASKING_SECONDS + LONGER_SECONDS)
        timer.join()
        other.close()
        print_results("the SQLite file", seen, wait_for_recovery(ours), capsys)
    assert {kind: set(seen[kind].statuses) for kind in ("sign-in", "ready", "live", "page", "jwks")} == {
        "sign-in": {503},
        **dict.fromkeys(("ready", "live", "page", "jwks"), frozenset({200})),  # reads go on
    }
    assert median(seen["sign-in"].seconds) < 1, "most are refused at once"


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
    assert all(item.has_retry_after for item in seen.values())
    assert {kind: set(item.statuses) for kind, item in seen.items()} == {
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
        with frozen(own_redis, HANG_SECONDS + LONGER_SECONDS):
            seen = ask_during(asks, ASKING_SECONDS + LONGER_SECONDS)
        begun = time.monotonic()
        eventually(lambda: asks["authorize"]().status == before["authorize"], "it recovers")
        print_results("Redis behind a separate identity service", seen, time.monotonic() - begun, capsys)
    assert all(element.has_retry_after for element in seen.values())
    assert {kind: set(element.statuses) for kind, element in seen.items()} == {
        **dict.fromkeys(("authorize", "unknown tenant"), frozenset({503})),
        **dict.fromkeys(("page", "live"), frozenset({200})),
    }
    for kind, item in seen.items():
        assert max(item.seconds) < 3, kind
        assert median(item.seconds) < 1, f"{kind}: most are refused at once"


def test_key_sets_wait_for_no_hanging_database(
    own_postgres: Postgres, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No other request finds out first, and cached values grow old meanwhile."""
    with serving(tmp_path, own_postgres) as ours:
        asks = {kind: ask for kind, ask in kinds(ours).items() if kind in {"jwks", "discovery"}}
        asks["jwks with a query"] = asking(ours, f"{JWKS}?fresh=1")
        with frozen(own_postgres, HANG_SECONDS + FRESH_SECONDS):
            seen = ask_during(asks, HANG_SECONDS + FRESH_SECONDS - 1)
        print_results("PostgreSQL, for key sets alone,", seen, wait_for_recovery(ours), capsys)
    for kind, item in seen.items():
        assert set(item.statuses) == {200}, kind
        assert max(item.seconds) < 1, kind


@pytest.mark.parametrize("operation", ["sign-in", "authorize"])
def test_operation_alone_is_refused_at_once_after_a_while(
    own_redis: Redis, tmp_path: Path, operation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One client, whose own request opens the circuit: it waits once, and for no probe afterwards."""
    with serving(tmp_path, None, own_redis) as ours:
        ask = {operation: kinds(ours)[operation]}
        with frozen(own_redis):
            seen = ask_during(ask, ASKING_SECONDS, clients_each=1)
        print_results("Redis, for one client,", seen, wait_for_recovery(ours), capsys)
    assert set(seen[operation].statuses) == {503}
    assert sum(seconds > 0.5 for seconds in seen[operation].seconds) <= 1
