"""One tenant's flood of sign-ins: the sign-ins of others come in the first round, and what hashes nothing waits for none.

GATEHOUSE_TESTS_NOISY_SECONDS runs the drill for so long, and prints how long the others waited without and with the flood.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlencode

import pytest

from app.kit import randomness
from tests.support.event_loop import run_coroutine
from tests.support.installation import Installation, installed

DRILL_SECONDS = float(os.environ.get("GATEHOUSE_TESTS_NOISY_SECONDS", "0"))
SHARE = 20
QUIET_PER_SECOND = 4
PASSWORD = "Correct-horse-7-battery"
CLIENT, CLIENT_SECRET = "robot", "a-secret-of-the-robot-0123456789"
KEYS = {name: randomness.guid() for name in ("acme", "noisy")}
SLOW = {"memory_kib": 65_536, "iterations": 2}


def tenant(name: str, argon2: dict[str, int]) -> dict[str, object]:
    limits = dict.fromkeys(("sign_in_per_minute", "sign_in_per_minute_per_address", "token_per_minute_per_client"), 0)
    robot = {
        "name": CLIENT, "protocol": "openid", "client_id": CLIENT, "client_secret": CLIENT_SECRET,
        "grant_types": ["client_credentials"], "token_endpoint_auth_method": "client_secret_basic", "redirect_uris": [],
        "scope": "report:read",
    }  # fmt: skip
    return {
        "name": name,
        "api_key": KEYS[name],
        "settings": {"email_verification": "optional", "limits": limits, "argon2": argon2},
        "applications": [robot] if name == "acme" else [],
        "accounts": [{"email": "ada@example.com", "password": PASSWORD, "email_verified": True}],
    }


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


async def ask(port: int, host: str, path: str, body: bytes, *fields: str) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = [f"POST {path} HTTP/1.1", f"Host: {host}.localhost:{port}", f"Content-Length: {len(body)}", *fields]
    writer.write("\r\n".join([*head, "Connection: close", "", ""]).encode() + body)
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]), answer


async def sign_in(port: int, name: str) -> tuple[int, bytes]:
    body = json.dumps({"email": "ada@example.com", "password": PASSWORD}).encode()
    return await ask(
        port, "api", f"/identity/v2/auth/login?apikey={KEYS[name]}", body, "Content-Type: application/json"
    )


async def token(port: int) -> tuple[int, bytes]:
    proof = b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
    form = urlencode({"grant_type": "client_credentials", "scope": "report:read"})
    fields = ("Content-Type: application/x-www-form-urlencoded", f"Authorization: Basic {proof}")
    return await ask(port, "acme", "/api/oidc/token", form.encode(), *fields)


def test_quiet_tenant_is_served_in_first_round(served: Installation) -> None:
    """One hash at a time, 24 sign-ins of one tenant in line, then one of another and a client that asks for a token."""
    order: list[str] = []

    async def told(what: str, asked: Awaitable[tuple[int, bytes]], *good: int) -> None:
        status, answer = await asked
        assert status in good, (what, answer)
        order.append(what if status == 200 else "shed")

    async def flood() -> None:
        for name in KEYS:  # both are known from here on
            await told("first", sign_in(served.port, name), 200)
        async with asyncio.TaskGroup() as all_of_them:
            for _ in range(24):
                all_of_them.create_task(told("noisy", sign_in(served.port, "noisy"), 200, 429, 503))
            while "noisy" not in order:
                await asyncio.sleep(0.01)
            order.append("begin")
            all_of_them.create_task(told("quiet", sign_in(served.port, "acme"), 200))
            all_of_them.create_task(told("token", token(served.port), 200))

    run_coroutine(flood())
    since = order[order.index("begin") :]
    assert since[: since.index("quiet")].count("noisy") <= 6, since
    assert since[: since.index("token")].count("noisy") <= 3, since


def drill_tenant_at_twenty_times_its_share(served: Installation, capsys: pytest.CaptureFixture[str]) -> None:
    alone, _ = run_coroutine(measured(served.port, is_noisy=False))
    beside, answered = run_coroutine(measured(served.port, is_noisy=True))
    with capsys.disabled():
        print(f"\nanswers beside the flood: {dict(answered)}")
        for what in alone:
            before, after = p95(alone[what]), p95(beside[what])
            print(f"{what:<8} p95 alone {before:7.0f} ms, beside the flood {after:7.0f} ms ({after / before:.1f}x)")
    assert [what for what in answered if what.endswith(" 500")] == []


if DRILL_SECONDS:
    test_drill = drill_tenant_at_twenty_times_its_share
    del test_quiet_tenant_is_served_in_first_round


async def measured(port: int, *, is_noisy: bool) -> tuple[dict[str, list[float]], Counter[str]]:
    """Return the milliseconds of the quiet tenant's requests, and how often who was answered what."""
    took: dict[str, list[float]] = {"sign-in": [], "token": []}
    answered: Counter[str] = Counter()
    ends_at = time.monotonic() + DRILL_SECONDS

    async def timed(what: str, asked: Awaitable[tuple[int, bytes]]) -> None:
        begun = time.monotonic()
        status, _ = await asked
        took[what].append((time.monotonic() - begun) * 1000)
        answered[f"{what} {status}"] += 1

    async def counted() -> None:
        status, _ = await sign_in(port, "noisy")
        answered[f"noisy {status}"] += 1

    async with asyncio.TaskGroup() as everybody:
        everybody.create_task(paced(ends_at, QUIET_PER_SECOND, lambda: timed("sign-in", sign_in(port, "acme"))))
        everybody.create_task(paced(ends_at, QUIET_PER_SECOND, lambda: timed("token", token(port))))
        if is_noisy:
            everybody.create_task(paced(ends_at, SHARE * QUIET_PER_SECOND, counted))
    return took, answered


async def paced(ends_at: float, per_second: float, do: Callable[[], Awaitable[None]]) -> None:
    """Begin so many a second, whether those before have ended or not."""
    async with asyncio.TaskGroup() as begun:
        while time.monotonic() < ends_at:
            begun.create_task(do())  # type: ignore[arg-type]  # a coroutine
            await asyncio.sleep(1 / per_second)


def p95(milliseconds: list[float]) -> float:
    return quantiles(milliseconds, n=20)[-1]
