"""An administrator with a link to the set-up guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.support.fakes.dns_server import FakeDns
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import business_of
from tests.support.organizations.saml_setup_guides import SamlSetup
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.visitors.visitor import NewVisitorAt

NewSetup = Callable[..., SetupByLink]


@pytest.fixture
def new_setup(
    world: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, fake_dns: FakeDns
) -> NewSetup:
    world.change_settings(organizations={"dns": True})

    def make(**members: Any) -> SetupByLink:
        visitor = new_visitor_at(world)
        return SetupByLink(world, business_of(world, identity_app), visitor, fake_provider, fake_dns, **members)

    return make


@pytest.fixture
def setup(new_setup: NewSetup) -> SetupByLink:
    return new_setup()


@pytest.fixture
def saml_setup(setup: SetupByLink) -> SamlSetup:
    return SamlSetup(setup)
