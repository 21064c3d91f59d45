"""`gatehouse webhooks` as a process at a developer's machine, with a server elsewhere and the developer's own server."""

from __future__ import annotations

import hmac
import json
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from tests.support.documentation.quickstarts import Quickstart, environment, read, serve
from tests.support.processes.command_process import Command, forked
from tests.support.processes.commands import this_version
from tests.support.services.servers import free_port
from tests.support.sources import ROOT, text

KEY, SECRET, CLIENT_SECRET = (f"{number}0000000-0000-4000-8000-000000000000" for number in "123")
PATIENCE_SECONDS = 60
CONFIGURATION = """
tenants:
  - name: acme
    api_key: {key}
    api_secret: {secret}
    applications:
      - name: developer
        client_id: developer
        client_secret: {client_secret}
        application_type: m2m
        grant_types: [client_credentials]
        audience_scopes:
          "http://api.localhost:{port}/v2/manage":
            [webhook:read, webhook:create, webhook:update, webhook:delete, profile:read]
"""


@dataclass
class LocalServer:
    """The developer's server: answers with a status, and keeps what it got."""

    port: int
    status: int = 204
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"

    @contextmanager
    def running(self) -> Iterator[None]:
        local = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                local.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(local.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()

    @property
    def names(self) -> list[str]:
        return [json.loads(body)["HookName"] for _, body in self.received]


@dataclass
class Running:
    """A command that goes on, and what it has printed."""

    process: subprocess.Popen[str]
    printed: list[str] = field(default_factory=list)

    def read(self) -> None:
        assert self.process.stdout is not None
        self.printed.extend(self.process.stdout)

    @property
    def output(self) -> str:
        return "".join(self.printed)

    def end(self, how: int) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_SECONDS)


@pytest.fixture(autouse=True, scope="module")
def ctrl_c() -> Iterator[None]:
    """Let commands take Ctrl-C as in a terminal, also where a shell that runs the tests in its background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@dataclass
class Machine:
    """The developer's machine, and the server."""

    server: Command
    folder: Path
    environ: dict[str, str]

    def arguments(self, *more: str) -> list[str]:
        named = ["--tenant", self.server.at("acme", "").rstrip("/"), "--client-id", "developer"]
        return [sys.executable, "-m", "app.cli", "webhooks", more[0], *named, *more[1:]]

    @contextmanager
    def listening(self, *more: str) -> Iterator[Running]:
        """Run `listen` until the block ends, from when it has begun."""
        process = subprocess.Popen(
            self.arguments("listen", *more), cwd=self.folder, env=self.environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        running = Running(process)
        reader = threading.Thread(target=running.read, daemon=True)
        reader.start()
        try:
            until(lambda: "Press Ctrl-C" in running.output or process.poll() is not None, running)
            yield running
        finally:
            process.kill()
            process.wait(PATIENCE_SECONDS)
            reader.join(PATIENCE_SECONDS)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.arguments(*arguments), cwd=self.folder, env=self.environ, text=True, capture_output=True, check=False
        )

    def create_account(self, name: str) -> str:
        """Create an account with the API secret: the event Register. Return its id."""
        body = {"Email": [{"Type": "Primary", "Value": f"{name}@example.com"}], "Password": "correct-horse-7"}
        headers = {"X-Acme-ApiKey": KEY, "X-Acme-ApiSecret": SECRET}
        answer = self.api("POST", "/identity/v2/manage/account", json=body, headers=headers)
        return str(answer.json()["Uid"])

    def update_account(self, uid: str, name: str) -> None:
        """Change the account: the event UpdateProfile."""
        headers = {"X-Acme-ApiKey": KEY, "X-Acme-ApiSecret": SECRET}
        self.api("PUT", f"/identity/v2/manage/account/{uid}", json={"FirstName": name}, headers=headers)

    def webhooks(self, **body: str) -> Any:
        """Return the tenant's webhooks, or create one."""
        credentials = {
            "grant_type": "client_credentials", "client_id": "developer", "client_secret": CLIENT_SECRET,
            "audience": self.server.at("api", "/v2/manage"),
        }  # fmt: skip
        token = self.server.ask("POST", self.server.at("acme", "/service/oauth/token"), data=credentials).json()
        headers = {"Authorization": f"Bearer {token['access_token']}"}
        method, more = ("POST", {"json": body}) if body else ("GET", {})
        return self.api(method, "/v2/manage/webhooks", headers=headers, **more).json()

    def api(self, method: str, path: str, headers: dict[str, str], **more: Any) -> httpx.Response:
        host = {"Host": f"api.localhost:{self.server.port}"}
        answer = httpx.request(
            method, f"http://127.0.0.1:{self.server.port}{path}", headers={**headers, **host}, timeout=20, **more
        )
        assert answer.is_success, answer.text
        return answer


def until(is_done: Callable[[], bool], running: Running) -> None:
    """Wait for something that the command does."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while not is_done():
        assert time.monotonic() < ends_at, running.output
        time.sleep(0.05)


@pytest.fixture(scope="module")
def developer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("webhooks")
    environ, port = environment(folder / "support"), free_port()
    (folder / "gatehouse.yaml").write_text(
        CONFIGURATION.format(key=KEY, secret=SECRET, client_secret=CLIENT_SECRET, port=port)
    )
    this_version().run(environ, "apply", "gatehouse.yaml", folder=folder, log=folder / "apply.log")
    server = forked(serve(Quickstart([], port, 0)), folder, environ, until="inbox.localhost")
    own_resolver = {**environ, "PYTHONPATH": str(ROOT)}  # which need not know names below localhost
    yield Machine(server, folder, {**own_resolver, "CLIENT_SECRET": CLIENT_SECRET})
    assert server.end(signal.SIGTERM) == 0


@pytest.fixture
def local() -> LocalServer:
    return LocalServer(free_port())


def test_events_are_forwarded_in_order_and_signed(developer: Machine, local: LocalServer) -> None:
    with local.running(), developer.listening("--forward", local.url) as running:
        uid = developer.create_account("ada")
        for name in ("Ada", "Augusta"):
            developer.update_account(uid, name)
        until(lambda: len(local.received) == 4, running)
        until(lambda: running.output.count("204 No Content") == 4, running)
        secret = re.search(r"^Signing secret: (whsec_\S+)$", running.output, re.MULTILINE)
        assert running.end(signal.SIGINT) == 0
    assert local.names == ["ping", "register", "updateprofile", "updateprofile"]
    assert secret
    events = [Webhook(secret[1]).verify(body, headers) for headers, body in local.received]
    assert [event["Data"].get("FirstName") for event in events[2:]] == ["Ada", "Augusta"]
    headers, body = local.received[1]
    assert headers["signature"] == hmac.digest(secret[1].encode(), body, "sha256").hex().upper()
    assert (headers["user-agent"], headers["content-type"]) == ("Gatehouse", "application/json")
    assert re.search(rf"Register +{uid} +{events[1]['HookId']} +204 No Content", running.output)
    assert "Listener" not in [webhook["Name"] for webhook in developer.webhooks()["Data"]], "it deletes what it stored"


def test_page_shows_the_commands_and_what_is_printed(developer: Machine, local: LocalServer) -> None:
    page = text(Path("docs/webhooks.md")).replace("http://localhost:3000/hooks", local.url)
    commands = [shlex.split(line) for line in re.findall(r"^gatehouse webhooks (.+)$", page, re.MULTILINE)]
    listen, *others = [[name, *more] for name, _, _, *more in commands]
    shown = page.partition("\nListening to")[2].partition("```")[0].splitlines()[2:]
    assert [name for name, *_ in others] == ["resume", "deliveries", "replay"]
    assert [developer.run(*arguments).returncode for arguments in others] == [0, 0, 0]
    with local.running(), developer.listening(*listen[1:]) as running:
        developer.create_account("maria")
        until(lambda: running.output.count("204 No Content") == 2, running)
    printed = running.output.splitlines()[2:]
    assert [masked(line) for line in printed] == [masked(line) for line in shown]


def test_receiver_of_the_page_takes_events(developer: Machine, tmp_path: Path) -> None:
    page = read("../webhooks")
    for block in page.blocks:
        if block.file in ("verify.py", "receiver.py"):
            block.write(tmp_path)
    with developer.listening("--forward", f"{page.app}/hooks") as running:
        secret = re.findall(r"^Signing secret: (\S+)$", running.output, re.MULTILINE)[0]
        environ = {**developer.environ, "SIGNING_SECRET": secret}
        receiver = subprocess.Popen(
            [sys.executable, "receiver.py"], cwd=tmp_path, env=environ, text=True, stdout=subprocess.PIPE
        )
        try:
            uid = developer.create_account("olga")
            until(lambda: running.output.count("204 No Content") == 2, running)
        finally:
            receiver.kill()
            printed, _ = receiver.communicate()
    assert printed.splitlines() == ["ping None", f"register {uid}"]


def masked(line: str) -> str:
    return re.sub(r"^[0-9:]{8}|[0-9a-f]{32}", "…", line)


def test_events_wait_for_the_local_server(developer: Machine, local: LocalServer) -> None:
    with developer.listening("--forward", local.url) as running:
        developer.create_account("grace")
        until(lambda: "Nothing listens" in running.output, running)
        with local.running():
            until(lambda: local.names == ["ping", "register"], running)
        assert running.end(signal.SIGTERM) == 0
    assert running.output.count("Nothing listens") == 1


def test_refusals_are_shown_and_the_rest_goes_on(developer: Machine, local: LocalServer) -> None:
    local.status = 500
    with local.running(), developer.listening("--forward", local.url) as running:
        developer.create_account("emmy")
        until(lambda: running.output.count("500 Internal Server Error") == 2, running)
    assert local.names == ["ping", "register"]


def test_chosen_events_alone_are_forwarded(developer: Machine, local: LocalServer) -> None:
    arguments = ("--forward", local.url, "--event", "register", "--event", "deleteaccount")
    with local.running(), developer.listening(*arguments) as running:
        developer.update_account(developer.create_account("mary"), "Mary")
        developer.create_account("lise")
        until(lambda: len(local.received) == 3, running)
    assert local.names == ["ping", "register", "register"]


def test_events_are_printed_without_a_server(developer: Machine) -> None:
    with developer.listening("--event", "Register") as running:
        uid = developer.create_account("rosa")
        until(lambda: uid in running.output, running)
    assert "whsec_" not in running.output


def test_listener_of_the_same_name_takes_over(developer: Machine) -> None:
    with developer.listening("--name", "one") as first, developer.listening("--name", "one") as second:
        assert first.process.wait(PATIENCE_SECONDS) == 2
        uid = developer.create_account("hedy")
        until(lambda: uid in second.output, second)
        assert second.end(signal.SIGINT) == 0
    assert "Choose another --name" in first.output
    assert uid not in first.output


def test_deliveries_are_listed_and_replayed(developer: Machine) -> None:
    target = "https://shop.acme.example/hooks"
    webhook = developer.webhooks(Event="Register", TargetUrl=target)
    developer.create_account("anna")
    listed = developer.run("deliveries", "--webhook", webhook["Id"], "--json")
    events = [json.loads(line)["Event"] for line in listed.stdout.splitlines()]
    assert events == ["Register", "ping"], listed.stderr
    shown = developer.run("deliveries", "--since", "1h", "--event", "Register", "--limit", "1").stdout
    assert re.fullmatch(rf"\S+ \S+  Register +waiting .*{target}.*\n", shown)
    replayed = developer.run("replay", "--since", "1h")
    assert (replayed.stdout, replayed.returncode) == ("0 deliveries will be sent again.\n", 0), "both wait still"
    assert replayed.stderr == "Those that wait are tried again without a replay.\n"


def test_period_is_replayed(developer: Machine) -> None:
    webhook = developer.webhooks(Event="Register", TargetUrl="https://listener.invalid/kept")
    developer.create_account("ida")
    period = ("--webhook", webhook["Id"], "--since", "1h", "--state", "sent")
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while len(developer.run("deliveries", *period).stdout.splitlines()) < 2:
        assert time.monotonic() < ends_at, "the worker marks what a listener reads as sent"
    replayed = developer.run("replay", *period).stdout
    assert replayed.splitlines() == [
        "2 deliveries of Register to https://listener.invalid/kept",
        "2 deliveries will be sent again.",
    ]


def test_paused_webhook_is_resumed(developer: Machine) -> None:
    target = "https://127.0.0.1:9/hooks"
    webhook = developer.webhooks(Event="Login", TargetUrl=target)
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while '"Attempt": 0' in developer.run("deliveries", "--webhook", webhook["Id"], "--json").stdout:
        assert time.monotonic() < ends_at, "the worker tries the ping"
    resumed = developer.run("resume", "--webhook", webhook["Id"])
    assert resumed.stdout == f"Login to {target}\n1 webhook resumed.\n", resumed.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("deliveries", "--client-secret", "wrong"), "client"),
        (("deliveries", "--webhook", "unknown"), "webhook"),
        (("replay", "--since", "yesterday"), "Write 30m, 12h or 3d"),
        (("listen", "--event", "Unheard"), "There's no event 'Unheard'"),
        (("listen", "--forward", "localhost:3000/hooks"), "Write it as http://localhost:3000/hooks"),
        (("deliveries", "--tenant", "http://acme.example"), "over https only"),
        (("deliveries", "--tenant", "acme"), "Write it as https://acme.example.com"),
    ],
    ids=["secret", "webhook", "time", "event", "no scheme", "plain http", "name"],
)
def test_problem_is_one_sentence(developer: Machine, arguments: tuple[str, ...], sentence: str) -> None:
    failed = developer.run(*arguments)

    assert (failed.returncode, failed.stdout) == (2, "")
    assert sentence in failed.stderr
    assert "Traceback" not in failed.stderr
