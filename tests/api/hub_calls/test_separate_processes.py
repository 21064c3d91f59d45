"""The hub and the identity service as separate processes, with an eavesdropper between them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import pytest

from app.identity import create_services
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.processes.installation import Installation, eventually, installed
from tests.support.processes.wire_tap import Tap, tapped
from tests.support.services.servers import NO_AUTHORITIES, free_port
from tests.support.visitors.visitor import Forms

PASSWORD = "a calm harbour at dawn"


@dataclass
class SeparateProcesses:
    """Hub, identity service and the tap that records their traffic."""

    installation: Installation
    identity_port: int
    tap: Tap

    def page(self, method: str, path: str, **sent: Any) -> httpx.Response:
        """Call the hub as a browser does."""
        port = self.installation.port
        headers = {"Host": f"acme.localhost:{port}", **sent.pop("headers", {})}
        return httpx.request(
            method, f"http://127.0.0.1:{port}{path}", headers=headers, timeout=60, verify=NO_AUTHORITIES, **sent
        )

    def service(self, path: str, host: str, **headers: str) -> httpx.Response:
        """Call the identity service."""
        return httpx.get(
            f"http://127.0.0.1:{self.identity_port}{path}",
            headers={"Host": host, **headers},
            timeout=60,
            verify=NO_AUTHORITIES,
        )


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeparateProcesses]:
    identity_port = free_port()
    with installed(tmp_path_factory.mktemp("apart")) as ours, tapped(identity_port) as tap:
        ours.environ["GATEHOUSE_API_URL"] = f"http://127.0.0.1:{tap.port}"
        ours.environ["GATEHOUSE_API_HOST"] = f"api.localhost:{identity_port}"
        person = {"email": "ada@example.test", "password": PASSWORD, "email_verified": True}
        ours.state({"name": "acme", "accounts": [person]})
        ports = {"identity": identity_port, "hub": ours.port}
        for part, port in ports.items():
            ours.run("serve", "--only", part, "--bind", f"127.0.0.1:{port}")
        for port in ports.values():
            ready = partial(httpx.get, f"http://127.0.0.1:{port}/health/ready")
            eventually(lambda: ready().is_success)  # noqa: B023 - called before the next one
        yield SeparateProcesses(ours, identity_port, tap)
        ours.stop()


def sign_in(processes: SeparateProcesses) -> httpx.Response:
    form = processes.page("GET", "/login")
    assert form.status_code == 200
    sent = {**Forms(form.text).found[0].fields, "identifier": "ada@example.test", "password": PASSWORD}
    cookies = "; ".join(f"{name}={value}" for name, value in form.cookies.items())
    return processes.page("POST", "/login", data=sent, headers={"Cookie": cookies})


def test_person_signs_in_across_separate_processes(processes: SeparateProcesses) -> None:
    answer = sign_in(processes)
    assert answer.status_code == 303
    assert "gatehouse-session" in answer.headers["Set-Cookie"]


def test_replayed_hub_calls_are_refused(processes: SeparateProcesses) -> None:
    sign_in(processes)
    recorded = [request for request in processes.tap.requests() if b" /hub/" in request[:20]]
    assert any(request.startswith(b"POST /hub/sign-in ") for request in recorded)
    assert {processes.tap.repeat(request) for request in recorded} == {403}


def calls(processes: SeparateProcesses, line: bytes) -> int:
    """Return how many calls of the hub begin with a line."""
    return sum(request.startswith(line + b" ") for request in processes.tap.requests())


def test_page_of_a_tenant_asked_about_in_rounds_makes_no_call(processes: SeparateProcesses) -> None:
    assert processes.page("GET", "/login").status_code == 200
    read, rounds = calls(processes, b"GET /hub/tenant"), calls(processes, b"POST /hub/tenants/changed")
    eventually(lambda: calls(processes, b"POST /hub/tenants/changed") > rounds + 3, "the hub asks every two seconds")
    assert processes.page("GET", "/login").status_code == 200
    assert calls(processes, b"GET /hub/tenant") == read


def seconds_of_old_pages(processes: SeparateProcesses, is_new: Callable[[httpx.Response], bool]) -> float:
    """Return how long after now pages that were asked for still showed what was before."""
    begun_at, last = time.monotonic(), 0.0

    def is_seen() -> bool:
        nonlocal last
        called_at = time.monotonic()
        if is_new(processes.page("GET", "/login")):
            return True
        last = called_at - begun_at
        return False

    eventually(is_seen, "the hub shows the change")
    return last


def test_hub_follows_changes_within_five_seconds(processes: SeparateProcesses) -> None:
    ours = processes.installation
    services = create_services(ours.settings)
    acme = services.directory.by_name("acme")
    assert acme is not None

    def change(**values: Any) -> None:
        with UnitOfWork(services.database, acme.tenant_id).separate_transaction() as work:
            tenant_writes.change(work, **values)

    assert processes.page("GET", "/login").status_code == 200
    change(brand={"display_name": "Acme Winter"})
    assert seconds_of_old_pages(processes, lambda page: "Acme Winter" in page.text) < 5
    change(is_active=False)
    assert seconds_of_old_pages(processes, lambda page: page.status_code == 404) < 5
    change(is_active=True)
    assert seconds_of_old_pages(processes, lambda page: page.status_code == 200) < 5
    services.database.dispose()


def test_hub_calls_are_absent_from_public_hosts(processes: SeparateProcesses) -> None:
    sign_in(processes)
    call = next(request for request in processes.tap.requests() if request.startswith(b"POST /hub/sign-in "))
    internal_host = f"127.0.0.1:{processes.tap.port}".encode()
    for host in (
        f"api.localhost:{processes.identity_port}",
        f"acme.localhost:{processes.installation.port}",
        "elsewhere.example",
    ):
        assert processes.tap.repeat(call.replace(internal_host, host.encode())) == 404
        unknown = processes.service("/nothing/here", host)
        assert processes.service("/hub/tenant", host).content == unknown.content
    assert processes.service("/hub/tenant", internal_host.decode()).status_code == 403


def test_one_request_id_appears_in_both_processes(processes: SeparateProcesses) -> None:
    form = processes.page("GET", "/login")
    sent = {**Forms(form.text).found[0].fields, "identifier": "ada@example.test", "password": "wrong"}
    cookies = "; ".join(f"{name}={value}" for name, value in form.cookies.items())
    answer = processes.page(
        "POST", "/login", data=sent, headers={"Cookie": cookies, "X-Request-Id": "id-chosen-by-client"}
    )
    request_id = answer.headers["X-Request-Id"]
    lines = [
        json.loads(line) for line in (processes.installation.folder / "log").read_text().splitlines() if line[:1] == "{"
    ]
    paths = {line["path"] for line in lines if line.get("request_id") == request_id and "path" in line}
    assert paths == {"/login", "/hub/sign-in"}
    with closing(sqlite3.connect(processes.installation.folder / "gatehouse.db")) as database:
        events = database.execute("SELECT event FROM audit WHERE reference = ?", [request_id]).fetchall()
    assert events == [("sign_in.refused",)]
