"""The secret changes while people sign in and register: wings apart and a worker, no failed request, no lost mail.

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

from tests.support.fleet import ROOT, Answer, Balancer, Fleet, Load, Version, proxied, send
from tests.support.installation import Installation, eventually, installed
from tests.support.registering import REGISTER, primary
from tests.support.servers import PostgresUrls
from tests.support.tenant_server import PASSWORD
from tests.support.visitor import Forms

SECONDS = float(os.environ.get("GATEHOUSE_TESTS_ROTATION_SECONDS", "0"))
OLD, NEW = "the-old-line-of-the-secret-of-the-tests", "the-new-line-of-the-secret-of-the-tests"
ADA = "ada@example.test"
SOTT = "/identity/v2/manage/account/sott"


class Apart:
    """Hub, identity service and worker as processes of their own; each part is replaced by one with another secret."""

    def __init__(self, ours: Installation, version: Version, stack: ExitStack) -> None:
        self.ours, self.version, self.fleet = ours, version, Fleet(ours)
        self.hubs, self.services = Balancer(), Balancer()
        for balancer in (self.hubs, self.services):
            stack.callback(balancer.close)
        stack.callback(self.fleet.close)
        inside = stack.enter_context(proxied(self.services))
        ours.environ["GATEHOUSE_API_URL"] = f"http://127.0.0.1:{inside}"
        self.parts: dict[str, int] = {}

    def replace(self, part: str, *lines: str) -> None:
        """Start a part with these lines of the secret, and end the one before once the new one is ready."""
        self.ours.environ["GATEHOUSE_SECRET_KEY"] = "\n".join(lines)
        balancer = {"hub": self.hubs, "identity": self.services}.get(part)
        wing = ("--only", part)
        started = self.fleet.serve(self.version, balancer, *wing) if balancer else self.fleet.work(self.version)
        if part in self.parts:
            self.fleet.retire(self.parts[part], balancer)
        self.parts[part] = started

    def reencrypt(self, *lines: str) -> None:
        self.ours.environ["GATEHOUSE_SECRET_KEY"] = "\n".join(lines)
        self.version.run(self.ours.environ, "secrets", "rotate")


class People:
    """Who uses it meanwhile."""

    def __init__(self, apart: Apart) -> None:
        self._apart = apart
        self._port = apart.ours.port
        self._numbers = count()
        self.registered: list[str] = []
        self._key = {"apikey": apart.ours.api_key}
        secret = {**self._key, "apisecret": apart.ours.api_secret}
        self._sott = self._api("GET", f"{SOTT}?{urlencode(secret)}").json()["Sott"]

    def register(self) -> None:
        """Register, which brings a mail."""
        email = f"person-{next(self._numbers)}@example.test"
        asked = urlencode({**self._key, "sott": self._sott})
        self._api("POST", f"{REGISTER}?{asked}", {"Email": primary(email), "Password": PASSWORD})
        self.registered.append(email)

    def sign_in(self) -> None:
        """Sign in on the hub's page, and look at the own profile."""
        form = self._page("GET", "/login")
        fields = {**Forms(form.content.decode()).found[0].fields, "identifier": ADA, "password": PASSWORD}
        time.sleep(0.02)  # somebody types
        cookies = held(form)
        landed = self._page("POST", "/login", urlencode(fields).encode(), cookies)
        assert landed.status == 303, (landed.status, words(landed))
        seen = self._page("GET", "/profile", cookies=cookies | held(landed))
        assert seen.status == 200, (seen.status, words(seen))
        assert ADA in seen.content.decode()

    def _page(self, method: str, path: str, body: bytes = b"", cookies: dict[str, str] | None = None) -> Answer:
        kept = "; ".join(f"{name}={value}" for name, value in (cookies or {}).items())
        headers = {"Host": f"acme.localhost:{self._port}", "Cookie": kept}
        headers |= {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        answer = send(self._apart.hubs.pick(), method, path, headers, body)
        assert answer.status < 400, (path, answer.status, words(answer))
        return answer

    def _api(self, method: str, path: str, body: object = None) -> Answer:
        headers = {"Host": f"api.localhost:{self._port}", "Content-Type": "application/json"}
        text = b"" if body is None else json.dumps(body).encode()
        answer = send(self._apart.services.pick(), method, path, headers, text)
        assert answer.status == 200, (path.partition("?")[0], answer.content)
        return answer


def held(answer: Answer) -> dict[str, str]:
    """The cookies that an answer gives."""
    return dict(text.partition(";")[0].split("=", 1) for text in answer.header("set-cookie"))


def words(answer: Answer) -> str:
    return re.sub(r"<[^>]+>|\s+", " ", answer.content.decode().partition("<body")[2])[:300]


@pytest.fixture
def ours(fresh_postgres: PostgresUrls, tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path, fresh_postgres) as made:
        made.environ["GATEHOUSE_SECRET_KEY"] = OLD
        ada = {"email": ADA, "password": PASSWORD, "email_verified": True}
        made.state(
            {"name": "acme", "accounts": [ada], "settings": {"email_verification": "optional", "email_login": True}}
        )
        yield made


Steps = Callable[[Apart, Event], Iterator[None]]


def in_order(apart: Apart, met: Event) -> Iterator[None]:
    """The steps of docs/operating.md."""
    for lines in ((OLD, NEW), (NEW, OLD)):
        for part in ("worker", "hub", "identity"):
            apart.replace(part, *lines)
            if part != "worker":
                yield
    apart.reencrypt(NEW, OLD)
    yield
    for part in ("worker", "identity", "hub"):
        apart.replace(part, NEW)
        if part != "worker":
            yield
    met.set()


def new_line_first(apart: Apart, met: Event) -> Iterator[None]:
    """The steps in which each part is surprised by the new line."""
    apart.replace("hub", NEW, OLD)
    yield
    apart.replace("identity", NEW, OLD)
    yield  # the worker does not know the new line, and mails are sealed under it
    eventually(lambda: "outbox.lacks_key" in (apart.ours.folder / "log").read_text(), "the worker meets a mail")
    apart.replace("worker", NEW, OLD)
    apart.reencrypt(NEW, OLD)
    yield
    met.set()


@pytest.mark.parametrize(("name", "steps"), [("in order", in_order), ("new line first", new_line_first)])
def test_secret_rotation_under_load_fails_no_request(
    ours: Installation, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, steps: Steps
) -> None:
    log = tmp_path / "log"
    with ExitStack() as stack:
        version = Version(ROOT, log)
        stack.callback(version.close)
        apart, load, whole = Apart(ours, version, stack), Load(), Event()
        for part in ("identity", "hub", "worker"):
            apart.replace(part, OLD)
        people = People(apart)
        people.sign_in()  # the first one hashes the password anew, as the tenant wants it
        stack.callback(load.end)
        load.add("registrations", people.register)
        load.add("sign-ins", people.sign_in)
        met(load)
        for _ in steps(apart, whole):
            met(load)
        load.end()
        eventually(lambda: len(ours.mail.mails) >= len(people.registered), "the mails arrive")
        sent = {str(mail["To"]) for mail in ours.mail.mails}
    with capsys.disabled():
        print(f"\n{name}: {dict(load.done)}, failed {len(load.failed)}, mails {len(sent)} of {len(people.registered)}")
    assert whole.is_set()
    assert load.failed == [], log.read_text()[-6000:]
    assert set(people.registered) <= sent
    assert not re.search(r'"path": "(?!/health)[^"]*", "status": 5\d\d|outbox.dead|hub.refused', log.read_text())


def met(load: Load) -> None:
    """Let the load go on until it met what has just changed."""
    time.sleep(SECONDS)
    for name in ("sign-ins", "registrations"):
        load.more(name, 1)
