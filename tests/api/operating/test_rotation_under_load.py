"""Rotating the secret during sign-ins and registrations over separate processes fails no request and loses no mail.

GATEHOUSE_TESTS_ROTATION_SECONDS lengthens the load between the steps.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from threading import Event
from urllib.parse import urlencode

import pytest

from tests.support.accounts.registering import REGISTER, primary
from tests.support.processes.commands import this_version
from tests.support.processes.fleet import Balancer, Fleet, FleetAnswer, Load, proxied, send
from tests.support.processes.installation import Installation, eventually, installed
from tests.support.services.servers import PostgresUrls
from tests.support.tenants.tenant_server import PASSWORD
from tests.support.visitors.visitor import Forms

SECONDS = float(os.environ.get("GATEHOUSE_TESTS_ROTATION_SECONDS", "0"))
OLD, NEW = "the-old-line-of-the-secret-of-the-tests", "the-new-line-of-the-secret-of-the-tests"
ADA = "ada@example.test"
SOTT = "/identity/v2/manage/account/sott"


class RotatingProcesses:
    """Hub, identity service and worker as separate processes; each part is replaced by one with another secret."""

    def __init__(self, ours: Installation, stack: ExitStack) -> None:
        self.ours, self.version, self.fleet = ours, this_version(), Fleet(ours)
        self.hubs, self.services = Balancer(), Balancer()
        for balancer in (self.hubs, self.services):
            stack.callback(balancer.close)
        stack.callback(self.fleet.close)
        identity_port = stack.enter_context(proxied(self.services))
        ours.environ["GATEHOUSE_API_URL"] = f"http://127.0.0.1:{identity_port}"
        self.parts: dict[str, int] = {}

    def replace(self, part: str, *lines: str) -> None:
        """Start a part with these lines of the secret, and stop its predecessor once it is ready."""
        self.ours.environ["GATEHOUSE_SECRET_KEY"] = "\n".join(lines)
        balancer = {"hub": self.hubs, "identity": self.services}.get(part)
        arguments = ("--only", part)
        running_as = self.fleet.serve(self.version, balancer, *arguments) if balancer else self.fleet.work(self.version)
        if part in self.parts:
            self.fleet.retire(self.parts[part], balancer)
        self.parts[part] = running_as

    def reencrypt(self, *lines: str) -> None:
        self.ours.environ["GATEHOUSE_SECRET_KEY"] = "\n".join(lines)
        self.version.run(self.ours.environ, "secrets", "rotate", log=self.ours.folder / "log")


class Users:
    """The users whose requests make the load."""

    def __init__(self, processes: RotatingProcesses) -> None:
        self._processes = processes
        self._port = processes.ours.port
        self._numbers = count()
        self.registered: list[str] = []
        self._key = {"apikey": processes.ours.api_key}
        secret = {**self._key, "apisecret": processes.ours.api_secret}
        self._sott = self._api("GET", f"{SOTT}?{urlencode(secret)}").json()["Sott"]

    def register(self) -> None:
        """Register an account, which sends a mail."""
        email = f"person-{next(self._numbers)}@example.test"
        query = urlencode({**self._key, "sott": self._sott})
        self._api("POST", f"{REGISTER}?{query}", {"Email": primary(email), "Password": PASSWORD})
        self.registered.append(email)

    def sign_in(self) -> None:
        """Sign in on the hub's page and open the profile."""
        form = self._page("GET", "/login")
        fields = {**Forms(form.content.decode()).found[0].fields, "identifier": ADA, "password": PASSWORD}
        time.sleep(0.02)  # the user types
        cookies = cookies_of(form)
        signed_in = self._page("POST", "/login", urlencode(fields).encode(), cookies)
        assert signed_in.status == 303, (signed_in.status, body_text(signed_in))
        profile = self._page("GET", "/profile", cookies=cookies | cookies_of(signed_in))
        assert profile.status == 200, (profile.status, body_text(profile))
        assert ADA in profile.content.decode().replace("<wbr>", "")

    def _page(self, method: str, path: str, body: bytes = b"", cookies: dict[str, str] | None = None) -> FleetAnswer:
        cookie_header = "; ".join(f"{name}={value}" for name, value in (cookies or {}).items())
        headers = {"Host": f"acme.localhost:{self._port}", "Cookie": cookie_header}
        headers |= {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        answer = send(self._processes.hubs.pick(), method, path, headers, body)
        assert answer.status < 400, (path, answer.status, body_text(answer))
        return answer

    def _api(self, method: str, path: str, body: object = None) -> FleetAnswer:
        headers = {"Host": f"api.localhost:{self._port}", "Content-Type": "application/json"}
        text = b"" if body is None else json.dumps(body).encode()
        answer = send(self._processes.services.pick(), method, path, headers, text)
        assert answer.status == 200, (path.partition("?")[0], answer.content)
        return answer


def cookies_of(answer: FleetAnswer) -> dict[str, str]:
    """Return the cookies that an answer sets."""
    return dict(text.partition(";")[0].split("=", 1) for text in answer.header("set-cookie"))


def body_text(answer: FleetAnswer) -> str:
    return re.sub(r"<[^>]+>|\s+", " ", answer.content.decode().partition("<body")[2])[:300]


@pytest.fixture
def ours(copied_postgres: PostgresUrls, tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path, copied_postgres) as made:
        made.environ["GATEHOUSE_SECRET_KEY"] = OLD
        ada = {"email": ADA, "password": PASSWORD, "email_verified": True}
        made.state(
            {"name": "acme", "accounts": [ada], "settings": {"email_verification": "optional", "email_login": True}}
        )
        yield made


Steps = Callable[[RotatingProcesses, Event], Iterator[None]]


def documented_order(processes: RotatingProcesses, finished: Event) -> Iterator[None]:
    """Follow the steps of docs/operating.md."""
    for lines in ((OLD, NEW), (NEW, OLD)):
        for part in ("worker", "hub", "identity"):
            processes.replace(part, *lines)
            if part != "worker":
                yield
    processes.reencrypt(NEW, OLD)
    yield
    for part in ("worker", "identity", "hub"):
        processes.replace(part, NEW)
        if part != "worker":
            yield
    finished.set()


def new_line_first(processes: RotatingProcesses, finished: Event) -> Iterator[None]:
    """Give each part the new line before the others know it."""
    processes.replace("hub", NEW, OLD)
    yield
    processes.replace("identity", NEW, OLD)
    yield  # the worker does not know the new line, under which mails are encrypted
    eventually(
        lambda: "outbox.lacks_key" in (processes.ours.folder / "log").read_text(),
        "the worker meets a mail that it cannot decrypt",
    )
    processes.replace("worker", NEW, OLD)
    processes.reencrypt(NEW, OLD)
    yield
    finished.set()


@pytest.mark.parametrize(("name", "steps"), [("in order", documented_order), ("new line first", new_line_first)])
def test_secret_rotation_under_load_fails_no_request(
    ours: Installation, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, steps: Steps
) -> None:
    log = tmp_path / "log"
    with ExitStack() as stack:
        processes, load, finished = RotatingProcesses(ours, stack), Load(), Event()
        for part in ("identity", "hub", "worker"):
            processes.replace(part, OLD)
        users = Users(processes)
        users.sign_in()  # the first sign-in renews the password hash with the tenant's parameters
        stack.callback(load.end)
        load.add("registrations", users.register)
        load.add("sign-ins", users.sign_in)
        wait_for_load(load)
        for _ in steps(processes, finished):
            wait_for_load(load)
        load.end()
        eventually(lambda: len(ours.mail.mails) >= len(users.registered), "the mails arrive")
        sent = {str(mail["To"]) for mail in ours.mail.mails}
    with capsys.disabled():
        print(f"\n{name}: {dict(load.done)}, failed {len(load.failed)}, mails {len(sent)} of {len(users.registered)}")
    assert finished.is_set()
    assert load.failed == [], log.read_text()[-6000:]
    assert set(users.registered) <= sent
    assert not re.search(r'"path": "(?!/health)[^"]*", "status": 5\d\d|outbox.dead|hub.refused', log.read_text())


def wait_for_load(load: Load) -> None:
    """Let the load continue until it has met the latest change."""
    time.sleep(SECONDS)
    for name in ("sign-ins", "registrations"):
        load.more(name, 1)
