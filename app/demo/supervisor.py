"""Prepares the demo's store and keeps the shop's process beside the server."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.identity.administration.configuration.apply import apply
from app.identity.administration.configuration.plan import Plan
from app.identity.administration.configuration.reading import read
from app.identity.entry.assembly import assemble
from app.identity.platform.store import migrate
from app.kit.clock import monotonic, sleep
from app.settings import ROOT, Settings, of_child

FILE = ROOT / "examples" / "demo.yaml"
_PORT = ":8000"  # the one that demo.yaml is written for
GRACE_SECONDS = 5


@dataclass(frozen=True)
class Person:
    """Somebody who can sign in at once."""

    tenant: str
    email: str
    password: str


def prepare(settings: Settings) -> tuple[Plan, list[Person]]:
    """Migrate the store and apply examples/demo.yaml to it; returns the plan and who can sign in."""
    migrate.migrate(settings)
    text = FILE.read_bytes().replace(_PORT.encode(), f":{port_of(settings)}".encode())
    configuration = read(text, str(FILE.relative_to(ROOT)), FILE.parent)
    services = assemble(settings)
    try:
        plan = apply(services, configuration)
    finally:
        services.database.dispose()
    people = [
        Person(tenant.name, account.email or account.label, account.password or "")
        for tenant in configuration.tenants
        for account in (tenant.accounts or ())[:1]
    ]
    return plan, people


def port_of(settings: Settings) -> str:
    return settings.hub_domain.rpartition(":")[2]


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def shop(settings: Settings, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run the shop as a process of its own; it ends with the block, and by itself should we be killed."""
    back_channel = f"http://127.0.0.1:{port_of(settings)}"
    facts = {
        "SHOP_HOST": f"shop.{settings.hub_domain}",
        "SHOP_PORT": str(port),
        "SHOP_ISSUERS": " ".join(f"{name}={settings.hub_url(name)}" for name in ("acme", "globex")),
        "SHOP_CLIENT_ID": "shop",
        "SHOP_CLIENT_SECRET": "the-demo-shop-keeps-no-secret",
        "SHOP_BACK_CHANNEL": back_channel,
        "SHOP_LEAVES_WITH_STDIN": "1",
    }
    command = [sys.executable, "-m", "examples.shop"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, env=of_child(facts), start_new_session=True)  # noqa: S603 - our own program
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()


def wait_for(port: int, most_seconds: float = 10) -> None:
    """Return once somebody listens on the port, or when it took too long: a demo that lacks its shop still serves."""
    ends_at = monotonic() + most_seconds
    while monotonic() < ends_at:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        sleep(0.05)


def data_dir(given: Path | None) -> Path:
    """Return where the demo keeps its store."""
    return given or ROOT / "var" / "demo"
