"""One of two instances hangs or dies behind the proxies of `deploy/`: no request fails that the other can answer, and none is repeated."""

from __future__ import annotations

import http.client
import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from tests.support.processes.installation import Installation, eventually, installed, migrated
from tests.support.processes.outages import LOGIN
from tests.support.services.reverse_proxies import ReverseProxy
from tests.support.services.servers import PostgresUrls, TestServer, end, free_port
from tests.support.tenants.tenant_server import PASSWORD

CLIENTS = 8
HANG_SECONDS = 6.0
SERVED = 40
"""Requests that the other instance answers meanwhile, at least: without an end of the hang in sight."""


@dataclass
class Seen:
    """What the clients of the proxy saw."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def two_instances(folder: Path, urls: PostgresUrls) -> Iterator[tuple[Installation, tuple[int, int]]]:
    """Run two instances on one database, whose hub domain has the port of a proxy that is not there yet."""
    with installed(folder, migrated(urls)) as ours:
        ours.environ["GATEHOUSE_TRUSTED_PROXIES"] = "127.0.0.1"
        people = [
            {"email": f"person{number}@example.test", "password": PASSWORD, "email_verified": True}
            for number in range(CLIENTS)
        ]
        ours.state({"name": "acme", "accounts": people, "settings": {"email_login": True}})
        ports = (free_port(), free_port())
        for port in ports:
            ours.run("serve", "--bind", f"127.0.0.1:{port}")
        for port in ports:
            eventually(partial(is_ready, port), "it serves")
        yield ours, ports


def is_ready(port: int) -> bool:
    return status(port, "GET", "/health/ready", "acme") == 200


def status(port: int, method: str, path: str, host: str, body: dict[str, str] | None = None) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        headers = {"Host": host, "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            return 0
        return answer.status


def client(ours: Installation, number: int, seen: Seen, over: threading.Event) -> None:
    """Sign in and look at the sign-in page, one after the other."""
    person = {"email": f"person{number}@example.test", "password": PASSWORD}
    path, api, tenant = f"{LOGIN}?apikey={ours.api_key}", f"api.localhost:{ours.port}", f"acme.localhost:{ours.port}"
    asks: dict[str, Callable[[], int]] = {
        "POST": partial(status, ours.port, "POST", path, api, person),
        "GET": partial(status, ours.port, "GET", "/login?prompt=login", tenant),
    }
    while not over.is_set():
        for method, ask in asks.items():
            with seen.lock:
                seen.sent[method] += 1
            found = ask()
            with seen.lock:
                seen.statuses[method, found] += 1
            time.sleep(0.05)


def use(ours: Installation, disturb: Callable[[Seen], None]) -> Seen:
    """Let clients use the proxy while something happens to an instance, and return their responses."""
    seen, over = Seen(), threading.Event()
    clients = [threading.Thread(target=client, args=(ours, number, seen, over)) for number in range(CLIENTS)]
    for item in clients:
        item.start()
    try:
        eventually(lambda: seen.statuses.total() > 2 * CLIENTS)
        disturb(seen)
    finally:
        over.set()
        for item in clients:
            item.join()
    return seen


def sign_ins(ours: Installation) -> int:
    """Return how many sign-ins the instances carried out, by the accounts' counters."""
    total = 0
    for number in range(CLIENTS):
        address = {"email": f"person{number}@example.test"}
        total += ours.send("GET", "/identity/v2/manage/account", with_secret=True, **address).json()["NoOfLogins"]
    return total


def hang(folder: Path, instance: int) -> Callable[[Seen], None]:
    """Return what lets an instance hang, until the other one has answered some requests."""
    server = TestServer(folder, pid=instance)

    def disturb(seen: Seen) -> None:
        server.freeze()
        begun, before = time.monotonic(), seen.statuses.total()
        try:
            eventually(lambda: seen.statuses.total() - before > SERVED, "the other instance serves")
            time.sleep(max(0.0, HANG_SECONDS - (time.monotonic() - begun)))
        finally:
            server.thaw()

    return disturb


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_hanging_instance_fails_no_request(
    fresh_postgres: PostgresUrls, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with two_instances(tmp_path, fresh_postgres) as (ours, ports):
        proxy = ReverseProxy.of(kind, ours.port, ports)
        try:
            seen = use(ours, hang(tmp_path, ours.running[0]))
            carried_out = sign_ins(ours)
        finally:
            proxy.remove()
    with capsys.disabled():
        print(f"\n  {kind}: {dict(seen.statuses)}; {carried_out} sign-ins of {seen.sent['POST']} sent")
    assert {found for _, found in seen.statuses} <= {200, 503}
    # What waited for its database as the instance froze may be refused when it goes on: its time is up.
    assert sum(number for (_, found), number in seen.statuses.items() if found == 503) < CLIENTS
    assert seen.statuses["POST", 200] <= carried_out <= seen.sent["POST"], "a POST was carried out twice"


def test_killed_instance_fails_only_what_it_was_doing(
    fresh_postgres: PostgresUrls, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Caddy does the same from version 2.11.2 on (caddyserver/caddy#7546); Debian's does not yet."""
    with two_instances(tmp_path, fresh_postgres) as (ours, ports):
        proxy = ReverseProxy.of("nginx", ours.port, ports)

        def kill(seen: Seen) -> None:
            end(ours.running[0], signal.SIGKILL)
            before = seen.statuses.total()
            eventually(lambda: seen.statuses.total() - before > SERVED, "the other instance serves")

        try:
            seen = use(ours, kill)
            carried_out = sign_ins(ours)
        finally:
            proxy.remove()
    with capsys.disabled():
        print(f"\n  killed: {dict(seen.statuses)}; {carried_out} sign-ins of {seen.sent['POST']} sent")
    failed = sum(number for (_, found), number in seen.statuses.items() if found != 200)
    assert failed <= CLIENTS
    assert seen.statuses["POST", 200] <= carried_out <= seen.sent["POST"]
