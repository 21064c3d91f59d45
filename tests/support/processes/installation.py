"""Gatehouse as operators run it: processes of its own over a database that outlives them, a mail server, an application."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.identity import create_services
from app.identity.administration.configuration.apply_configuration import apply
from app.identity.administration.configuration.file.read_configuration import read as configuration
from app.identity.platform.store import migrate
from app.kit import randomness
from app.settings import Settings, read
from tests.support.fakes.smtp_server import Mailbox, mailbox
from tests.support.processes.commands import ROOT, this_version
from tests.support.services.identity_service import migrated_sqlite
from tests.support.services.servers import NO_AUTHORITIES, RUNTIME, PostgresUrls, end, free_port

PATIENCE_SECONDS = 150
SHOP_SECRET = "the-shop-of-the-tests-keeps-a-secret"
CHEAP = {"memory_kib": 8192, "iterations": 1}
NO_LIMITS = dict.fromkeys(
    (
        "register_per_minute_per_address", "sign_in_per_minute_per_address", "forgot_per_minute_per_address",
        "reset_per_minute_per_address",
    ),
    0,
)  # fmt: skip


def eventually(is_so: Callable[[], Any], why: str = "") -> Any:
    """Wait until something is so, and return the result."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends_at:
        try:
            if found := is_so():
                return found
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"not within {PATIENCE_SECONDS} s: {why or is_so}")


@dataclass
class Installation:
    """The processes of one installation."""

    folder: Path
    environ: dict[str, str]
    port: int
    mail: Mailbox
    api_key: str = field(default_factory=randomness.guid)
    api_secret: str = field(default_factory=randomness.guid)
    running: list[int] = field(default_factory=list)
    """The ids of the processes."""
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)  # Popen complains when it is forgotten

    @property
    def settings(self) -> Settings:
        return read({name: value for name, value in self.environ.items() if name.startswith("GATEHOUSE_")})

    @property
    def tenant_url(self) -> str:
        return self.at("acme")

    def at(self, tenant: str) -> str:
        return f"http://{tenant}.localhost:{self.port}"

    def tenant(self, *applications: dict[str, Any], **settings: Any) -> None:
        """Make the tenant acme, or bring it to these settings."""
        self.state({"name": "acme", "applications": list(applications), "settings": settings})

    def state(self, acme: dict[str, Any], *others: dict[str, Any]) -> None:
        """Make tenants, or change them to these settings; acme has the key and the secret that we hold."""
        common = {"argon2": CHEAP, "limits": NO_LIMITS}
        stored = {**acme, "api_key": self.api_key, "api_secret": self.api_secret}
        stated = [{**other, "settings": {**common, **other.get("settings", {})}} for other in (stored, *others)]
        text = json.dumps({"tenants": stated})  # which YAML holds; its own writer would use anchors
        services = create_services(self.settings)
        apply(services, configuration(text.encode(), "tenant.yaml", self.folder))
        services.database.dispose()

    def start(self) -> None:
        """Start what serves, and the worker where it is a process of its own; return once it serves."""
        ours: list[list[str]] = [["serve", "--bind", f"127.0.0.1:{self.port}"]]
        ours += [] if self.settings.is_sqlite else [["worker"]]
        for arguments in ours:
            self.run(*arguments)
        eventually(lambda: self.send("GET", "/health/ready").status_code == 200, "it serves")

    def open_shop(self) -> str:
        """Start the example shop as a process of its own, which shares only its client; return its address."""
        port = free_port()
        home = f"http://shop.localhost:{port}"
        facts = {
            "SHOP_HOST": f"shop.localhost:{port}",
            "SHOP_PORT": str(port),
            "SHOP_ISSUERS": f"acme={self.tenant_url}",
            "SHOP_CLIENT_ID": "shop",
            "SHOP_CLIENT_SECRET": SHOP_SECRET,
            "SHOP_BACK_CHANNEL": f"http://127.0.0.1:{self.port}",
        }
        with (self.folder / "log").open("ab") as log:
            shop = subprocess.Popen(
                [sys.executable, "-m", "examples.shop"], cwd=ROOT, env={**os.environ, **facts}, stdout=log, stderr=log
            )
        self._processes.append(shop)
        self.running.append(shop.pid)
        eventually(
            lambda: (
                httpx.get(
                    f"http://127.0.0.1:{port}/", headers={"Host": facts["SHOP_HOST"]}, verify=NO_AUTHORITIES
                ).is_success
            )
        )
        return home

    def kill(self) -> None:
        """End every process as a power cut does: kill -9."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def run(self, *arguments: str) -> None:
        """Start a command of `gatehouse` as a process of its own."""
        self.running.append(this_version().start(self.environ, *arguments, log=self.folder / "log"))

    def _end(self, how: int) -> None:
        running, self.running = self.running, []
        for process in running:
            end(process, how)

    def knows_the_tenant(self) -> bool:
        """Whether the process that serves has seen the tenant already: changes applied meanwhile take seconds."""
        headers = {"Host": f"acme.localhost:{self.port}"}
        return httpx.get(
            f"http://127.0.0.1:{self.port}/login", headers=headers, timeout=PATIENCE_SECONDS, verify=NO_AUTHORITIES
        ).is_success

    def send(self, method: str, path: str, body: Any = None, *, with_secret: bool = False, **query: str) -> Any:
        """Ask the JSON interface over HTTP, on a connection of its own."""
        stored = {"apikey": self.api_key, **({"apisecret": self.api_secret} if with_secret else {}), **query}
        headers = {"Host": f"api.localhost:{self.port}"}
        sent = {} if body is None else {"json": body}
        address = f"http://127.0.0.1:{self.port}{path}"
        how = {"headers": headers, "timeout": PATIENCE_SECONDS, "verify": NO_AUTHORITIES, **sent}
        return httpx.request(method, address, params=stored, **how)

    def mails_to(self, address: str) -> list[Any]:
        """What the mail server has taken for an address, the oldest first."""
        return [mail for mail in list(self.mail.mails) if mail["To"] == address]


def migrated(urls: PostgresUrls) -> PostgresUrls:
    """Migrate a database of a server that holds none to copy."""
    migrate.upgrade(urls.migrate_url, runtime_role=RUNTIME)
    return urls


@contextmanager
def installed(folder: Path, urls: PostgresUrls | None = None) -> Iterator[Installation]:
    """Give an installation whose processes are not started yet, over the migrated database at `urls` or else over SQLite."""
    with ExitStack() as stack:
        mail = stack.enter_context(mailbox())
        port = free_port()
        facts = {
            "DATABASE_URL": urls.runtime_url if urls else "",
            "SECRET_KEY": "a-secret-of-the-tests-that-is-long-enough",
            "HUB_DOMAIN": f"localhost:{port}",
            "MAIL_URL": f"smtp://127.0.0.1:{mail.port}",
            "DATA_DIR": str(folder),
        }
        ours = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
        made = Installation(
            folder, {**ours, **{f"GATEHOUSE_{name}": value for name, value in facts.items()}}, port, mail
        )
        stack.callback(made.kill)
        if not urls:
            shutil.copy(migrated_sqlite(), folder / "gatehouse.db")
        yield made
