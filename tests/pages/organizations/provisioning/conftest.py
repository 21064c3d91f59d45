"""Organizations whose people are provisioned, and sign in by a connection."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld
from tests.support.organizations.connected_organization import ConnectedOrganization, NewConnected, business_of
from tests.support.visitors.visitor import NewVisitorAt


@pytest.fixture
def new_connected(
    new_world: NewWorld, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> NewConnected:
    def make(**members: Any) -> ConnectedOrganization:
        world = new_world()
        return ConnectedOrganization(world, business_of(world, identity_app), new_visitor_at, fake_provider, **members)

    return make
