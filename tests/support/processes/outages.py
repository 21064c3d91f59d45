"""Outages: installations whose database, Redis or identity service hangs, and clients that ask meanwhile.

GATEHOUSE_TESTS_OUTAGE_SECONDS lengthens the hang.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pytest

from tests.support.accounts.registering import REGISTER, primary
from tests.support.processes.installation import Installation, eventually, installed, migrated
from tests.support.services.servers import Postgres, Redis, TestServer, free_port
from tests.support.tenants.tenant_server import PASSWORD

HANG_SECONDS = max(5.0, float(os.environ.get("GATEHOUSE_TESTS_OUTAGE_SECONDS", "0")))
ASKING_SECONDS = HANG_SECONDS - 3.5
"""Requests that wait for the dependency during this time are answered after the hang, not with 503; the seconds are printed."""
LOGIN, SOTT = "/identity/v2/auth/login", "/identity/v2/manage/account/sott"
JWKS, DISCOVERY = "/service/oidc/jwks", "/.well-known/openid-configuration"
ADA = "ada@example.test"


@dataclass
class Responses:
    """The responses to one kind of request during the hang."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    has_retry_after: bool = True

    def __str__(self) -> str:
        return f"{median(self.seconds):5.2f} s by half, {max(self.seconds):5.2f} s at most, {dict(self.statuses)}"


@dataclass
class Reply:
    status: int
    retry_after: str | None


Ask = Callable[[], Reply]


def asking(ours: Installation, address: str, host: str = "acme", body: dict[str, str] | None = None) -> Ask:
    """Return a function that sends requests on its own connection; `http.client`, because httpx takes longer than the time measured."""
    headers = {"Host": f"{host}.localhost:{ours.port}", "Content-Type": "application/json"}
    method, text = ("GET", None) if body is None else ("POST", json.dumps(body))

    def ask() -> Reply:
        with closing(http.client.HTTPConnection("127.0.0.1", ours.port, timeout=120)) as connection:
            connection.request(method, address, text, headers)
            answer = connection.getresponse()
            answer.read()
            return Reply(answer.status, answer.getheader("Retry-After"))

    return ask


def kinds(ours: Installation) -> dict[str, Ask]:
    return {
        "sign-in": asking(ours, f"{LOGIN}?apikey={ours.api_key}", "api", {"email": ADA, "password": PASSWORD}),
        "authorize": asking(ours, "/service/oidc/authorize?client_id=shop&response_type=code"),
        "page": asking(ours, "/login"),
        "unknown tenant": asking(ours, "/login", "never-seen"),
        "live": asking(ours, "/health/live"),
        "ready": asking(ours, "/health/ready"),
        "jwks": asking(ours, JWKS),
        "discovery": asking(ours, DISCOVERY),
    }


def ask_during(asks: dict[str, Ask], seconds: float, clients_each: int = 4) -> dict[str, Responses]:
    """Send each kind of request repeatedly from several clients, and return the responses."""
    ends_at = time.monotonic() + seconds
    seen = {kind: Responses() for kind in asks}
    lock = threading.Lock()

    def client(kind: str) -> None:
        while (begun := time.monotonic()) < ends_at:
            answer = asks[kind]()
            with lock:
                seen[kind].seconds.append(time.monotonic() - begun)
                seen[kind].statuses[answer.status] += 1
                seen[kind].has_retry_after &= answer.status != 503 or kind == "ready" or answer.retry_after is not None
            time.sleep(0.25)

    with ThreadPoolExecutor(clients_each * len(asks)) as clients:
        for done in [clients.submit(client, kind) for kind in asks for _ in range(clients_each)]:
            done.result()
    return seen


def register(ours: Installation) -> None:
    sott = ours.send("GET", SOTT, with_secret=True).json()["Sott"]
    answer = ours.send("POST", REGISTER, {"Email": primary(ADA), "Password": PASSWORD}, sott=sott)
    assert answer.status_code == 200, answer.text


@contextmanager
def serving(folder: Path, postgres: Postgres | None, redis: Redis | None = None) -> Iterator[Installation]:
    """Run an installation with one account, after one request of each kind."""
    with installed(folder, migrated(postgres.database("gatehouse")) if postgres else None) as made:
        if redis:
            made.environ["GATEHOUSE_REDIS_URL"] = redis.url()
        made.tenant(email_verification="optional", email_login=True)
        made.start()
        register(made)
        for kind, ask in kinds(made).items():
            assert kind == "unknown tenant" or ask().status < 500, kind
        yield made


@contextmanager
def frozen(server: TestServer, seconds: float = HANG_SECONDS) -> Iterator[None]:
    """Let a server hang for so long, while the block runs."""
    server.freeze()
    timer = threading.Timer(seconds, server.thaw)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@contextmanager
def wings_apart(folder: Path, redis: Redis | None = None) -> Iterator[tuple[Installation, TestServer]]:
    """Run the hub and the identity service as separate processes; the latter can be frozen."""
    port = free_port()
    with installed(folder) as ours:
        ours.environ["GATEHOUSE_API_URL"] = f"http://127.0.0.1:{port}"
        ours.environ["GATEHOUSE_API_HOST"] = f"api.localhost:{port}"
        if redis:
            ours.environ["GATEHOUSE_REDIS_URL"] = redis.url()
        ours.tenant(email_verification="optional", email_login=True)
        for wing, at in (("identity", port), ("hub", ours.port)):
            ours.run("serve", "--only", wing, "--bind", f"127.0.0.1:{at}")
        eventually(lambda: ours.send("GET", "/health/ready").status_code == 200, "the hub reaches the identity service")
        eventually(lambda: kinds(ours)["authorize"]().status < 500, "both wings serve")
        yield ours, TestServer(folder, port, ours.running[0])


def print_results(what: str, seen: dict[str, Responses], recovered: float, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n  {what} hangs for {HANG_SECONDS:.0f} s; whole again {recovered:.2f} s after")
        for kind, item in seen.items():
            print(f"    {kind:15} {item}")


def wait_for_recovery(ours: Installation) -> float:
    """Wait until everything is answered as before, ten times in a row, and return how long that took."""
    begun = time.monotonic()
    asks = {kind: ask for kind, ask in kinds(ours).items() if kind in {"sign-in", "ready", "page", "jwks"}}
    eventually(lambda: all(ask().status == 200 for ask in asks.values()), "it recovers")
    took = time.monotonic() - begun
    with ThreadPoolExecutor(20) as clients:
        again = list(clients.map(lambda _: asks["sign-in"]().status, range(40)))
    assert Counter(again) == {200: 40}, "a connection stayed poisoned"
    return took
