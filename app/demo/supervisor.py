"""Prepares the demo's database, and runs the shop's process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.contract.tenants.branding import Brand
from app.contract.tenants.file import TenantFile
from app.contract.themes.theme_operations import THEMES, StoredTheme
from app.identity.administration.configuration.apply_configuration import apply
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.assembly.services import assemble
from app.identity.directory.accounts import accounts
from app.identity.directory.organizations import organizations
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store import migrate
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import monotonic, sleep
from app.kit.package_files import EXAMPLES, HOME
from app.settings import Settings, of_child

FILE = EXAMPLES / "demo.yaml"
_PORT = ":8000"  # the port in demo.yaml
GRACE_SECONDS = 5


@dataclass(frozen=True)
class Person:
    """A sample account, with the name and the look of its tenant."""

    tenant: str
    name: str
    email: str
    password: str
    brand: Brand


@dataclass(frozen=True)
class ExampleTheme:
    """One of the example themes, which the start page lets people choose."""

    name: str
    key: str
    brand: Brand


@dataclass(frozen=True)
class Keys:
    """The first tenant's credentials, which the API reference shows.

    `client` is the ID and the secret of its first application, with a colon, `machine_client` those of its program without people,
    and `public_client` the ID of the one that signs in at the reference; `fields` has what names its first account in requests.
    """

    tenant: str
    api_key: str
    api_secret: str
    client: str
    machine_client: str
    public_client: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class Contents:
    """What the demo has: its sample accounts, the themes of its last tenant, and the keys of its first one."""

    people: list[Person]
    themes: list[ExampleTheme]
    keys: Keys


def prepare(settings: Settings) -> Contents:
    """Migrate the database and apply examples/demo.yaml; return what it has."""
    migrate.migrate(settings)
    text = FILE.read_bytes().replace(_PORT.encode(), f":{port_of(settings)}".encode())
    configuration = read(text, str(FILE.relative_to(HOME)), FILE.parent)
    services = assemble(settings)
    try:
        apply(services, configuration)
        keys = _keys(services, configuration.tenants[0])
    finally:
        services.database.dispose()
    people = [
        Person(
            tenant.name,
            " ".join(filter(None, (account.first_name, account.last_name))),
            account.label,
            account.password or "",
            configuration.brands[tenant.name],
        )
        for tenant in configuration.tenants
        for account in tenant.accounts or ()
    ]
    return Contents(people, _themes(configuration.tenants[-1]), keys)


def _themes(tenant: TenantFile) -> list[ExampleTheme]:
    themes = [StoredTheme.model_validate(listed) for listed in getattr(tenant, THEMES.file_key) or ()]
    return [ExampleTheme(theme.name, theme.brand_key or "", theme.brand) for theme in themes]


def _keys(services: IdentityServices, tenant: TenantFile) -> Keys:
    account = (tenant.accounts or ())[0]
    uid, org_id = _ids(services, tenant, account.email or "")
    named = {
        "uid": uid,
        "orgid": org_id,
        "email": account.email,
        "emailid": account.email,
        "username": account.username,
        "password": account.password,
    }
    fields = {name: value for name, value in named.items() if value}
    clients = {each.name: f"{each.client_id}:{each.client_secret or ''}" for each in tenant.applications or ()}
    return Keys(
        tenant.name,
        tenant.api_key or "",
        tenant.api_secret or "",
        client=next(iter(clients.values())),
        machine_client=clients["server"],
        public_client=clients["first-request"].removesuffix(":"),
        fields=fields,
    )


def _ids(services: IdentityServices, file: TenantFile, email: str) -> tuple[str, str]:
    """Return the IDs of the account and of the first organization, which the database chose."""
    tenant = services.directory.by_name(file.name)
    if tenant is None:
        return "", ""
    work = UnitOfWork(services.database, tenant.tenant_id)
    try:
        work.begin()
        context = Context.outside_requests(services, tenant, work)
        account = accounts.by_email(context, email)
        organization = organizations.by_name(context, (file.organizations or ())[0].name)
    finally:
        work.rollback()
    return account.uid if account else "", organization.org_id if organization else ""


def port_of(settings: Settings) -> str:
    return settings.hub_domain.rpartition(":")[2]


@contextlib.contextmanager
def shop(settings: Settings, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run the shop as a process that ends with the block, and by itself if this process is killed."""
    back_channel = f"http://127.0.0.1:{port_of(settings)}"
    environment = {
        "SHOP_HOST": f"shop.{settings.hub_domain}",
        "SHOP_PORT": str(port),
        "SHOP_ISSUERS": " ".join(f"{name}={settings.hub_url(name)}" for name in ("acme", "globex")),
        "SHOP_CLIENT_ID": "shop",
        "SHOP_CLIENT_SECRET": "the-demo-shop-keeps-no-secret",
        "SHOP_TV_CLIENT_ID": "tv",
        "SHOP_BACK_CHANNEL": back_channel,
        "SHOP_LEAVES_WITH_STDIN": "1",
    }
    with running([sys.executable, "-m", "examples.shop"], HOME, environment) as process:
        yield process


@contextlib.contextmanager
def running(
    command: list[str], folder: Path, facts: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run an application as a process that ends with the block; it gets these variables, and no settings of ours."""
    process = subprocess.Popen(  # noqa: S603 - the shop, or an app that this user has made
        command, cwd=folder, stdin=subprocess.PIPE, env=of_child(facts or {}), start_new_session=True
    )
    try:
        yield process
    finally:
        _signal(process, signal.SIGTERM)
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGKILL)
            process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal the process and its children: `node` may be a wrapper that starts the program itself as a child."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def is_listening(process: subprocess.Popen[bytes], port: int, timeout_seconds: float = 30) -> bool:
    """Wait until the process accepts connections; return whether it does. It doesn't if it ended, or at the timeout."""
    ends_at = monotonic() + timeout_seconds
    while monotonic() < ends_at and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        sleep(0.05)
    return False
