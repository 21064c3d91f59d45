"""A tenant whose accounts sign in at service providers, and a browser."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import Client as WsgiClient

from tests.support.oauth.world import World
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
