"""Stored hashes that are expensive to verify: other sign-ins do not wait for them.

GATEHOUSE_TESTS_NOISY_SECONDS runs the drill for that time and prints another tenant's latency without and with three bombs.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

import pytest
from sqlalchemy import update

from app.identity import create_services
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.load.flood import DRILL_SECONDS, KEYS, QUIET_PER_SECOND, ask, paced, sign_in, tenant
from tests.support.event_loop import run_coroutine
from tests.support.processes.installation import Installation, installed

PEOPLE = ("bo@example.com", "cy@example.com", "di@example.com")


def pbkdf2(digest: str, iterations: int, length: int) -> str:
    salt, derived = (base64.b64encode(b"x" * size).decode().rstrip("=") for size in (16, length))
    return f"$pbkdf2-{digest}$i={iterations}${salt}${derived}"


WITHIN_BOUNDS = pbkdf2("sha1", 2_000_000, 64)
"""About 80 times as expensive as ours, so more than a second."""
BOMB = pbkdf2("sha256", 2_000_000, 735)
"""What imports of older versions stored: about 500 times as expensive as ours."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path) as made:
        made.api_key = KEYS["acme"]
        noisy = tenant("noisy", {})
        settings = {**noisy["settings"], "lockout": {"maximum_failed_attempts": 0}}  # type: ignore[dict-item] # a document
        people = [{"email": email, "password": "Correct-horse-7-battery", "email_verified": True} for email in PEOPLE]
        made.state(tenant("acme", {}), {**noisy, "settings": settings, "accounts": people})
        if not DRILL_SECONDS:
            made.environ["GATEHOUSE_HASHES_AT_ONCE"] = "1"
        yield made


def start(served: Installation, stored: str) -> None:
    services = create_services(served.settings)
    found = services.directory.by_name("noisy")
    assert found
    with UnitOfWork(services.database, found.tenant_id).separate_transaction() as work:
        work.run(update(accounts).where(accounts.c.tenant_id == found.tenant_id).values(password_hash=stored))
    services.database.dispose()
    served.start()


async def guess(port: int, email: str) -> int:
    body = json.dumps({"email": email, "password": "Wrong-horse-7-battery"}).encode()
    path = f"/identity/v2/auth/login?apikey={KEYS['noisy']}"
    return (await ask(port, "api", path, body, "Content-Type: application/json"))[0]


def test_no_sign_in_waits_for_expensive_hashes(served: Installation) -> None:
    """One place for hashes, three guesses at expensive ones, then sign-ins of another tenant."""
    start(served, WITHIN_BOUNDS)

    async def meet() -> tuple[list[int], int]:
        await sign_in(served.port, "acme")  # the tenant is known from now on
        guesses = [asyncio.create_task(guess(served.port, email)) for email in PEOPLE]
        await asyncio.wait(guesses, timeout=0.2)  # all have arrived
        signed_in = [(await sign_in(served.port, "acme"))[0] for _ in range(5)]
        waiting = sum(not item.done() for item in guesses)
        await asyncio.gather(*guesses)
        return signed_in, waiting

    signed_in, waiting = run_coroutine(meet())
    assert signed_in == [200] * 5
    assert waiting >= 2


def test_bomb_of_an_older_version_is_never_computed(served: Installation) -> None:
    start(served, BOMB)

    async def meet() -> list[int]:
        begun = time.monotonic()
        answers = await asyncio.gather(*(guess(served.port, email) for email in PEOPLE))
        assert time.monotonic() - begun < 5  # one bomb takes eight seconds of a CPU
        return list(answers)

    assert run_coroutine(meet()) == [401] * 3


def drill_three_bombs(served: Installation, capsys: pytest.CaptureFixture[str]) -> None:
    start(served, WITHIN_BOUNDS if os.environ.get("GATEHOUSE_TESTS_BOMB") == "within bounds" else BOMB)
    alone, _ = run_coroutine(measured(served.port, is_attacked=False))
    beside, answered = run_coroutine(measured(served.port, is_attacked=True))
    with capsys.disabled():
        print(f"\nanswers beside the bombs: {dict(answered)}")
        for name, found in (("alone", alone), ("beside", beside)):
            p = quantiles(found, n=20)
            print(f"sign-in of another tenant {name}: p50 {p[9]:.0f} ms, p95 {p[18]:.0f} ms, {len(found)} requests")


async def measured(port: int, *, is_attacked: bool) -> tuple[list[float], Counter[str]]:
    """Return the milliseconds of another tenant's sign-ins, and the number of responses by requester and status."""
    latencies: list[float] = []
    answered: Counter[str] = Counter()
    ends_at = time.monotonic() + DRILL_SECONDS

    async def timed() -> None:
        started_at = time.monotonic()
        status, _ = await sign_in(port, "acme")
        latencies.append((time.monotonic() - started_at) * 1000)
        answered[f"other tenant {status}"] += 1

    async def attack(email: str) -> None:
        while time.monotonic() < ends_at:
            answered[f"bomb {await guess(port, email)}"] += 1

    async with asyncio.TaskGroup() as group:
        group.create_task(paced(ends_at, QUIET_PER_SECOND, timed))
        for email in PEOPLE if is_attacked else ():
            group.create_task(attack(email))
    return latencies, answered


if DRILL_SECONDS:
    test_drill = drill_three_bombs
    del test_no_sign_in_waits_for_expensive_hashes, test_bomb_of_an_older_version_is_never_computed
