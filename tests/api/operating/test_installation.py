"""The installation as operators run it: PostgreSQL under two roles, Redis, two serving processes, a worker, metrics."""

import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from app.cli import cli
from tests.support.processes.command_process import Forked
from tests.support.processes.commands import this_version
from tests.support.services.real_services import new_postgres
from tests.support.services.servers import NO_AUTHORITIES, Postgres, Redis, free_port

TENANT = "tenants: [{name: %s, brand: {display_name: '%s'}}]"


@dataclass
class InstalledPackage:
    """The running processes and how tests call them."""

    environ: dict[str, str]
    port: int
    metrics_port: int
    folder: Path

    def get(self, path: str, host: str = "acme") -> httpx.Response:
        headers = {"Host": f"{host}.localhost:{self.port}"}
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", headers=headers, timeout=20, verify=NO_AUTHORITIES)

    def command(self, *arguments: str, **settings: str) -> str:
        """Run a command in the process of the test, which need not import the application again."""
        done = CliRunner().invoke(cli, arguments, env={**self.environ, **settings})
        assert done.exit_code == 0, done.output
        return done.output

    def apply(self, name: str, display_name: str) -> str:
        (self.folder / "tenant.yaml").write_text(TENANT % (name, display_name))
        return self.command("apply", str(self.folder / "tenant.yaml"))


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    server = new_postgres()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def shared() -> Iterator[Redis]:
    server = Redis.create()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def ours(database: Postgres, shared: Redis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstalledPackage]:
    urls, port, folder = database.database("served"), free_port(), tmp_path_factory.mktemp("served")
    settings = {
        "DATABASE_URL": urls.runtime_url,
        "REDIS_URL": shared.url(),
        "SECRET_KEY": "a-secret-of-the-tests-that-is-long-enough",
        "HUB_DOMAIN": f"localhost:{port}",
        "METRICS_BIND": f"127.0.0.1:{free_port()}",
        "DATA_DIR": str(folder),
    }
    environ = {**os.environ, **{f"GATEHOUSE_{name}": value for name, value in settings.items()}}
    made = InstalledPackage(environ, port, int(settings["METRICS_BIND"].rpartition(":")[2]), folder)
    made.command("migrate", GATEHOUSE_MIGRATE_URL=urls.migrate_url)
    made.apply("acme", "Acme")
    serving = ["serve", "--bind", f"127.0.0.1:{port}", "--workers", "2"]
    processes = [
        Forked(this_version().start(environ, *arguments, log=folder / "log")) for arguments in (serving, ["worker"])
    ]
    within(30, lambda: made.get("/health/ready").status_code == 200)
    yield made
    for process in processes:
        process.send_signal(signal.SIGTERM)
    assert [process.wait(40) for process in processes] == [0, 0]


def within(seconds: float, holds: Callable[[], bool]) -> float:
    """Wait until the condition holds and return the elapsed seconds; fail after `seconds`."""
    started_at = time.monotonic()
    while time.monotonic() - started_at < seconds:
        try:
            if holds():
                return time.monotonic() - started_at
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"the condition did not hold within {seconds} s")


def test_tenant_created_at_runtime_is_served(ours: InstalledPackage) -> None:
    assert ours.get("/login", "initech").status_code == 404
    assert "api_key" in ours.apply("initech", "Initech")
    within(6, lambda: ours.get("/login", "initech").status_code == 200)


def test_change_reaches_every_process_within_five_seconds(ours: InstalledPackage) -> None:
    ours.apply("acme", "Acme")
    within(6, lambda: "Acme" in ours.get("/login").text)
    ours.apply("acme", "Acme & Sons")
    within(5.5, lambda: all("Acme &amp; Sons" in ours.get("/login").text for _ in range(20)))


def test_removed_tenant_is_gone(ours: InstalledPackage) -> None:
    ours.apply("hooli", "Hooli")
    within(6, lambda: ours.get("/login", "hooli").status_code == 200)
    ours.command("tenant", "remove", "hooli", "--yes")
    within(5.5, lambda: all(ours.get("/login", "hooli").status_code == 404 for _ in range(20)))


def listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def test_metrics_count_requests_of_all_processes(ours: InstalledPackage) -> None:
    def request_count() -> int:
        text = httpx.get(f"http://127.0.0.1:{ours.metrics_port}/metrics", verify=NO_AUTHORITIES).text
        found = re.findall(
            r'^gatehouse_requests_total\{method="GET",status="200",surface="tenant"\} (\d+)', text, re.MULTILINE
        )
        return int(found[0]) if found else 0

    within(20, lambda: listens(ours.metrics_port))  # the metrics port may open after the public one
    before = request_count()
    for _ in range(30):
        ours.get("/login")
    assert request_count() == before + 30


def test_metrics_are_absent_from_public_port(ours: InstalledPackage) -> None:
    assert ours.get("/metrics").status_code == 404
    assert ours.get("/metrics", "api").status_code == 404


def test_database_restart_needs_no_process_restart(ours: InstalledPackage, database: Postgres) -> None:
    discovery = "/.well-known/openid-configuration"
    database.stop()
    try:
        assert ours.get("/health/live").status_code == 200
        assert ours.get("/health/ready").json()["parts"]["database"] == "down"
        within(10, lambda: ours.get(discovery, "never-seen").status_code == 503)
        assert "Retry-After" in ours.get("/login", "never-seen").headers
    finally:
        database.start()
    within(20, lambda: ours.get("/health/ready").status_code == 200)
    within(20, lambda: all(ours.get(discovery).status_code == 200 for _ in range(10)))


def test_log_is_json_without_secrets(ours: InstalledPackage) -> None:
    ours.get("/?apikey=S3CRET-KEY&access_token=S3CRET-TOKEN")
    log = (ours.folder / "log").read_text()
    assert '"path": "/health/ready"' in log
    assert not re.search("S3CRET|a-secret-of-the-tests", log)
