"""Organizations whose people sign in by a connection."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.connected_organization import ConnectedOrganization, NewConnected, business_of
from tests.support.organizations.saml_organization import NewSamlOrganization, SamlOrganization
from tests.support.visitors.visitor import NewVisitorAt


@pytest.fixture
def new_connected(
    new_world: NewWorld, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> NewConnected:
    def make(
        tenant: World | None = None, settings: dict[str, Any] | None = None, **members: Any
    ) -> ConnectedOrganization:
        world = tenant or new_world(**(settings or {}))
        return ConnectedOrganization(world, business_of(world, identity_app), new_visitor_at, fake_provider, **members)

    return make


@pytest.fixture
def globex(new_connected: NewConnected) -> ConnectedOrganization:
    return new_connected()


@pytest.fixture
def new_saml_organization(
    new_world: NewWorld, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> NewSamlOrganization:
    def make(tenant: World | None = None, settings: dict[str, Any] | None = None, **members: Any) -> SamlOrganization:
        world = tenant or new_world(**(settings or {}))
        return SamlOrganization(world, business_of(world, identity_app), new_visitor_at, fake_provider, **members)

    return make


@pytest.fixture
def saml_globex(new_saml_organization: NewSamlOrganization) -> SamlOrganization:
    return new_saml_organization()
