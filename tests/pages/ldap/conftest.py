"""A tenant whose pages sign people of a directory in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from werkzeug.test import Client as WsgiClient

from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.services import slapd
from tests.support.services.slapd import Slapd
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, Visitor

PATH = "/v2/manage/custom-providers/ldap"


@pytest.fixture(scope="session")
def directory() -> Iterator[Slapd]:
    with Slapd.running() as server:
        yield server


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer, monkeypatch: pytest.MonkeyPatch) -> TenantServer:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    return new_tenant_server()


@pytest.fixture
def world(tenant: TenantServer, identity_app: Any) -> World:
    return World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def shop(world: World) -> RelyingParty:
    return world.application("shop", client_name="Shop")


@pytest.fixture
def corp(tenant: TenantServer, directory: Slapd) -> Callable[..., None]:
    """Return a function that creates the provider of the directory, with changes."""

    def create(**changed: Any) -> None:
        answered(ask(tenant, machine(tenant, "all"), "POST", PATH, slapd.provider_of(directory, **changed)))

    return create
