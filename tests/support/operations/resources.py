"""A program of a tenant that asks the operations of one resource."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import select
from werkzeug.test import TestResponse

from app.contract.resources import BOUND, RESOURCES, import_contract
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.administration.resource_operations import resource_handlers
from app.identity.administration.resource_operations.resource_registry import rules_of, store_of
from app.identity.assembly.admission import tenant_resolution
from app.identity.assembly.admission.lifecycle import IdentityLifecycle
from app.identity.platform.audit import audit
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.operation import AnyOperation, BaseHost
from app.kit.operations.request_parsing import RawRequest
from app.kit.operations.server import OperationServer
from app.kit.resources.operations import BoundOperation
from app.kit.resources.resource import Resource, Verb
from tests.support.operations import sample_resources
from tests.support.operations.resource_samples import SAMPLES, Body
from tests.support.tenants.machines import ROBOT, ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

import_contract()
resource_handlers.implement(sample_resources.BOUND)
EVERY: list[Resource] = sorted(
    [*RESOURCES, *sample_resources.SAMPLES], key=lambda resource: resource.kind
)  # in each worker of a run alike


def _from_address(app: Any, address: str = "127.0.0.1") -> Any:
    """Return the application as a caller with an address reaches it: a resource of addresses refuses an unknown one."""
    return lambda environ, start_response: app({**environ, "REMOTE_ADDR": address}, start_response)


def scopes_of(resource: Resource) -> list[str]:
    """Return the scopes with which a program may do everything with a resource, its powers included (decision 0315)."""
    own = [f"{resource.scope}:{verb}" for verb in ("read", "create", "update", "delete")]
    return [*own, "all"] if rules_of(resource).powers is not None else own


class Manager:
    """A program of a tenant that may do everything with one resource, or what its scopes or its token allow."""

    def __init__(self, tenant: TenantServer, resource: Resource, *scopes: str, token: str = "") -> None:
        self.resource, self.sample = resource, SAMPLES[resource.kind]
        self.token = token or machine(tenant, *(scopes or scopes_of(resource)))
        is_sample = resource in sample_resources.SAMPLES
        server: Any = sample_server(tenant.services) if is_sample else tenant.app
        self.tenant = replace(tenant, app=_from_address(server))

    def operation(self, verb: Verb) -> AnyOperation:
        stored: Sequence[BoundOperation] = [*BOUND, *sample_resources.BOUND]
        return next(
            item.operation
            for item in stored
            if item.draft.resource is self.resource
            and item.draft.verb_options and item.draft.verb_options.verb is verb
        )  # fmt: skip

    def does(self, verb: Verb) -> bool:
        return verb in [item.verb for item in self.resource.verbs]

    def __call__(
        self, verb: Verb, body: Any = None, of: Body | None = None, headers: dict[str, str] | None = None, **query: Any
    ) -> TestResponse:
        """Ask an operation; `of` is an answer that shows the item."""
        operation = self.operation(verb)
        ids = {name: (of or self.sample.fixed or {}).get(member) for name, member in self.sample.key.items()}
        path = operation.path
        for name, value in ids.items():
            path = path.replace(f"{{{name}}}", str(value))
        if verb is Verb.DELETE:
            body = {name: value for name, value in ids.items() if f"{{{name}}}" not in operation.path} or None
        return ask(self.tenant, self.token, operation.method, path, body, headers=headers, **query)

    def create(self, number: int = 1, *, key: str = "") -> TestResponse:
        """Create an item, with an idempotency key if one is given."""
        return self(Verb.CREATE, self.sample.item(number), headers={"Idempotency-Key": key} if key else None)

    def stored(self) -> Any:
        """Store an item by the operation that the resource has for that; return it as the answer shows it."""
        verb = next(element for element in (Verb.CREATE, Verb.REPLACE, Verb.UPDATE) if self.does(element))
        item = self.sample.item(1)
        answer = answered(self(verb, {"Data": [item]} if verb is Verb.REPLACE else item))
        return answer["Data"][0] if verb is Verb.REPLACE else answer

    def listed(self) -> list[Any]:
        """Return what the list shows; nothing where the resource refuses an empty one."""
        page: dict[str, Any] = {"page": 1} if self.resource.is_paged else {}
        answer = self(Verb.LIST, **page)
        found = list(answered(answer)["Data"]) if answer.status_code == 200 else []
        return [item for item in found if not (self.sample.is_program and item["ClientId"].startswith(ROBOT))]

    def events(self) -> list[str]:
        """Return what the audit trail says of it, without the resource's name."""
        with self.work() as work:
            of_tenant = audit.c.tenant_id == self.tenant.tenant_id
            rows = work.all(select(audit.c.event).where(of_tenant).order_by(audit.c.entry_id))
        begins = f"{self.resource.audit or self.resource.kind}."
        return [row.event.removeprefix(begins) for row in rows if row.event.startswith(begins)]

    def secrets(self) -> list[str]:
        """Return the secrets of all items, opened."""
        services = self.tenant.services
        with self.work() as work:
            access = StoreAccess(work, services.encryption, services.clock.now())
            items = store_of(self.resource).items(access, self.resource)
        return [secret for item in items for secret in item.secrets.values()]

    @contextmanager
    def work(self) -> Iterator[UnitOfWork]:
        """Give a unit of work that reads."""
        made = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        try:
            yield made
        finally:
            made.rollback()

    def plan(self, text: str, *, prune: bool = False) -> ChangePlan:
        return apply_configuration.plan(self.tenant.services, self._read(text), prune=prune)

    def apply(self, text: str, *, prune: bool = False) -> ChangePlan:
        done = apply_configuration.apply(self.tenant.services, self._read(text), prune=prune)
        self.tenant.services.directory.clear_cache()
        return done

    def export(self) -> str:
        return export(self.tenant.services, self.tenant.name, (self.resource,) if self.resource.file_key else ())

    def _read(self, text: str) -> Any:
        return read(text.encode(), "f.yaml", Path(), (self.resource,) if self.resource.file_key else ())


def manager(new: NewTenantServer, resource: Resource) -> Manager:
    """Return a program of a fresh tenant."""
    return Manager(new(**(SAMPLES[resource.kind].settings or {})), resource)


def named(kind: str) -> Resource:
    """Return a resource."""
    return next(resource for resource in EVERY if resource.kind == kind)


_SERVERS: dict[int, OperationServer] = {}


def sample_server(services: IdentityServices) -> OperationServer:
    """Return a server of the samples' operations."""
    if id(services) not in _SERVERS:

        def host_of(raw: RawRequest) -> BaseHost:
            return tenant_resolution.host_of(services.settings, raw.host, is_inside=raw.is_inside)

        _SERVERS[id(services)] = OperationServer(sample_resources.CATALOGUE, IdentityLifecycle(services), host_of)
    return _SERVERS[id(services)]


@contextmanager
def at_most(resource: Resource, number: int) -> Iterator[None]:
    """Let a resource have so many items."""
    before = resource.max_items
    object.__setattr__(resource, "max_items", number)
    yield
    object.__setattr__(resource, "max_items", before)
