"""One tenant's flood of sign-ins: other tenants' sign-ins are served in the first round, other requests do not wait.

GATEHOUSE_TESTS_NOISY_SECONDS runs the drill for that time and prints the others' latency without and with the flood.
"""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlencode

import pytest

from tests.load.flood import CLIENT, CLIENT_SECRET, DRILL_SECONDS, KEYS, QUIET_PER_SECOND, ask, paced, sign_in, tenant
from tests.support.event_loop import run_coroutine
from tests.support.processes.installation import Installation, installed

SHARE = 20
SLOW = {"memory_kib": 65_536, "iterations": 2}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Installation]:
    argon2 = {} if DRILL_SECONDS else SLOW
    with installed(tmp_path) as made:
        made.api_key = KEYS["acme"]
        made.state(tenant("acme", argon2), tenant("noisy", argon2))
        if not DRILL_SECONDS:
            made.environ["GATEHOUSE_HASHES_AT_ONCE"] = "1"
        made.start()
        yield made


async def token(port: int) -> tuple[int, bytes]:
    credentials = b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
    form = urlencode({"grant_type": "client_credentials", "scope": "report:read"})
    fields = ("Content-Type: application/x-www-form-urlencoded", f"Authorization: Basic {credentials}")
    return await ask(port, "acme", "/api/oidc/token", form.encode(), *fields)


def test_quiet_tenant_is_served_in_first_round(served: Installation) -> None:
    """One hash at a time, 14 queued sign-ins of one tenant, then one of another tenant and one token request."""
    order: list[str] = []

    async def record(kind: str, request: Awaitable[tuple[int, bytes]], *good: int) -> None:
        status, answer = await request
        assert status in good, (kind, answer)
        order.append(kind if status == 200 else "shed")

    async def flood() -> None:
        for name in KEYS:  # both tenants are known from now on
            await record("first", sign_in(served.port, name), 200)
        async with asyncio.TaskGroup() as group:
            for _ in range(14):
                group.create_task(record("noisy", sign_in(served.port, "noisy"), 200, 429, 503))
            while "noisy" not in order:
                await asyncio.sleep(0.01)
            order.append("begin")
            group.create_task(record("quiet", sign_in(served.port, "acme"), 200))
            group.create_task(record("token", token(served.port), 200))

    run_coroutine(flood())
    after_begin = order[order.index("begin") :]
    assert after_begin[: after_begin.index("quiet")].count("noisy") <= 6, after_begin
    assert after_begin[: after_begin.index("token")].count("noisy") <= 3, after_begin


def drill_tenant_at_twenty_times_its_share(served: Installation, capsys: pytest.CaptureFixture[str]) -> None:
    alone, _ = run_coroutine(measured(served.port, is_noisy=False))
    beside, answered = run_coroutine(measured(served.port, is_noisy=True))
    with capsys.disabled():
        print(f"\nanswers beside the flood: {dict(answered)}")
        for kind in alone:
            before, after = p95(alone[kind]), p95(beside[kind])
            print(f"{kind:<8} p95 alone {before:7.0f} ms, beside the flood {after:7.0f} ms ({after / before:.1f}x)")
    assert [kind for kind in answered if kind.endswith(" 500")] == []


if DRILL_SECONDS:
    test_drill = drill_tenant_at_twenty_times_its_share
    del test_quiet_tenant_is_served_in_first_round


async def measured(port: int, *, is_noisy: bool) -> tuple[dict[str, list[float]], Counter[str]]:
    """Return the milliseconds of the quiet tenant's requests, and the number of responses by requester and status."""
    latencies: dict[str, list[float]] = {"sign-in": [], "token": []}
    answered: Counter[str] = Counter()
    ends_at = time.monotonic() + DRILL_SECONDS

    async def timed(kind: str, request: Awaitable[tuple[int, bytes]]) -> None:
        started_at = time.monotonic()
        status, _ = await request
        latencies[kind].append((time.monotonic() - started_at) * 1000)
        answered[f"{kind} {status}"] += 1

    async def counted() -> None:
        status, _ = await sign_in(port, "noisy")
        answered[f"noisy {status}"] += 1

    async with asyncio.TaskGroup() as group:
        group.create_task(paced(ends_at, QUIET_PER_SECOND, lambda: timed("sign-in", sign_in(port, "acme"))))
        group.create_task(paced(ends_at, QUIET_PER_SECOND, lambda: timed("token", token(port))))
        if is_noisy:
            for _ in range(SHARE):
                group.create_task(repeated(ends_at, counted))
    return latencies, answered


async def repeated(ends_at: float, do: Callable[[], Awaitable[None]]) -> None:
    """Do it again as soon as it has ended."""
    while time.monotonic() < ends_at:
        await do()


def p95(milliseconds: list[float]) -> float:
    return quantiles(milliseconds, n=20)[-1]
