"""A tenant, an account and a browser for service providers that are other people's libraries."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import Client as WsgiClient

from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.saml.service_provider import ServiceProvider, own_key
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer
from tests.support.visitors.visitor import NewVisitorAt, Visitor


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def world(tenant: TenantServer, identity_app: Any) -> World:
    return World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.test")


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    """Return a stored client that signs its requests, and takes part in single logout."""
    provider = ServiceProvider(tenant, key=own_key())
    provider.store(
        SpLogoutUrl="https://wiki.example/slo",
        Attributes={"mail": {"Value": "Email"}, "site": {"Value": "Zürich & <Bern>", "IsStatic": True}},
    )
    return provider
