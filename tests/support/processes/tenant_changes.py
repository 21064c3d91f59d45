"""A hub's cached tenants over several processes of the identity service, their time, and changes of tenants by other processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from sqlalchemy import insert

from app.contract import errors
from app.contract.auth import Host
from app.contract.tenants import tenant_pages
from app.contract.visitor_claims import VisitorClaims
from app.hub.tenants.tenant import HubTenant
from app.hub.tenants.tenant_cache import ASK_SECONDS, TenantCache
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tables import tenants
from app.identity.directory.tenants.urls import custom_hosts
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.client import Client, Req, Res, ResponseHeaders, ServiceUnavailable
from app.kit.operations.in_process_client import LocalClient
from app.kit.operations.operation import Operation
from app.kit.operations.server import OperationServer
from tests.support.oauth.world import World

DOMAIN = "login.acme.example"


@dataclass
class Time:
    """The monotonic time of the caches of hub and identity service."""

    now: float = 50_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class HubProcess:
    """The tenant cache of a hub process, over the processes of an identity service, which answer in turn."""

    servers: list[OperationServer]
    clock: Time
    calls: list[tuple[str, Any]] = field(default_factory=list)
    costs: list[str] = field(default_factory=list)
    is_cut_off: bool = False
    during_call: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        self._turns = cycle(self.servers)
        self.cache = TenantCache(lambda: CountingClient(self, VisitorClaims(host="")))
        self._last_call_at = self.clock.now

    def visit(self, host: str) -> HubTenant | None:
        """Return the tenant that a page of the host shows; None for the page of an unknown host."""
        try:
            return self.cache.by_host(host, lambda: CountingClient(self, VisitorClaims(host=host)))
        except errors.UnknownTenant:
            return None

    def read_everywhere(self, host: str) -> None:
        """Let each process of the identity service read the tenant of a host, if it has one."""
        for server in self.servers:
            with suppress(errors.UnknownTenant):
                LocalClient(server, Host.INSIDE, VisitorClaims(host=host))(
                    tenant_pages.tenant, tenant_pages.TenantRequest()
                )

    def wait(self, seconds: float) -> None:
        """Let time pass, with the rounds that are due."""
        ends_at = self.clock.now + seconds
        while self.clock.now < ends_at:
            self.clock.now = min(ends_at, self._last_call_at + ASK_SECONDS)
            if self.clock.now >= self._last_call_at + ASK_SECONDS:
                self._last_call_at = self.clock.now
                if not self.is_cut_off:
                    self.cache.poll()

    def client(self, visit: VisitorClaims) -> Client:
        def on_response(headers: ResponseHeaders) -> None:
            self.costs.append(headers.get("X-Gatehouse-Cost") or "")
            if visit.host:
                self.cache.on_response(visit.host, headers)

        return LocalClient(next(self._turns), Host.INSIDE, visit, on_response)


class CountingClient(Client):
    """Counts the calls of a hub."""

    def __init__(self, hub: HubProcess, visit: VisitorClaims) -> None:
        self._hub, self._visit = hub, visit

    def __call__(self, operation: Operation[Req, Res], req: Req) -> Res:
        self._hub.calls.append((operation.name, req))
        if self._hub.is_cut_off:
            raise ServiceUnavailable
        response = self._hub.client(self._visit)(operation, req)
        self._hub.during_call()
        return response


def host_of(world: World) -> str:
    return world.services.settings.hub_url(world.name).partition("://")[2]


def domain_of(world: World) -> str:
    _, colon, port = world.services.settings.hub_domain.partition(":")
    return f"{world.name}.{DOMAIN}{colon}{port}"


def changing(world: World, change: Callable[[UnitOfWork], object]) -> None:
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        change(work)


def suspend(world: World) -> None:
    changing(world, lambda work: tenant_writes.change(work, is_active=False))


def resume(world: World) -> None:
    changing(world, lambda work: tenant_writes.change(work, is_active=True))


def remove(world: World) -> None:
    changing(world, tenant_writes.remove)


def add_domain(world: World) -> None:
    def add(work: UnitOfWork) -> None:
        custom_hosts.add(work, domain_of(world).partition(":")[0], world.services.clock.now())
        tenant_writes.change(work)

    changing(world, add)


def remove_domain(world: World) -> None:
    def remove(work: UnitOfWork) -> None:
        assert custom_hosts.remove(work, domain_of(world).partition(":")[0])
        tenant_writes.change(work)

    changing(world, remove)


def add_anew(world: World) -> None:
    """Remove the tenant and add one of the same name, whose version is that of the first."""
    remove(world)
    row = {
        "tenant_id": f"n{world.tenant_id[1:]}", "name": world.name, "api_key": world.api_key, "version": 1, "is_active": True,
        "created_at": world.services.clock.now(), "api_secret": b"", "settings": {}, "brand": {"display_name": "Anew"},
    }  # fmt: skip
    with UnitOfWork(world.services.database, str(row["tenant_id"])).separate_transaction() as work:
        work.run(insert(tenants), row)


@dataclass(frozen=True)
class TenantChange:
    """A change of a tenant, and whether a page shows it."""

    change: Callable[[World], object]
    is_seen: Callable[[HubTenant | None], bool]
    before: Callable[[World], object] = lambda _: None
    host: Callable[[World], str] = host_of


CHANGES = {
    "brand": TenantChange(
        lambda world: world.change_brand(display_name="Winter"), lambda t: t is not None and t.brand.name == "Winter"
    ),
    "policy": TenantChange(
        lambda world: world.change_settings(password_policy={"min_length": 19}),
        lambda t: t is not None and t.password_policy.min_length == 19,
    ),
    "languages": TenantChange(
        lambda world: world.change_settings(locales=["de"], default_locale="de"),
        lambda t: t is not None and t.languages == ("de",),
    ),
    "suspended": TenantChange(suspend, lambda t: t is None),
    "resumed": TenantChange(resume, lambda t: t is not None, suspend),
    "removed": TenantChange(remove, lambda t: t is None),
    "added anew": TenantChange(add_anew, lambda t: t is not None and t.brand.name == "Anew"),
    "domain added": TenantChange(add_domain, lambda t: t is not None, host=domain_of),
    "domain removed": TenantChange(remove_domain, lambda t: t is None, add_domain, domain_of),
}
