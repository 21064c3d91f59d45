"""Sign-ins on the pages leave what a draft needs, so that a trial decides as the workflow would have."""

from __future__ import annotations

import pytest

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import FederatedPageUser, link_identity
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, Visitor
from tests.support.workflows.drawings import branching
from tests.support.workflows.running import server_of

ADA = "ada@example.com"


@pytest.fixture
def world(new_world: NewWorld, fake_provider: FakeProvider) -> World:
    return new_world(connections={"globex": fake_provider.openid(title="Globex", trusts_email=True)})


@pytest.fixture
def server(world: World) -> TenantServer:
    return server_of(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def outcome(server: TenantServer, expression: str) -> str:
    """Try a draft that stops the only sign-in by a condition."""
    token = machine(server, "workflow:read", "profile:read")
    trial = answered(ask(server, token, "POST", "/v2/manage/workflows/try", {"Data": branching(expression)}))
    assert trial["SignIns"] == 1
    (found,) = [name for name in ("Passed", "Stopped", "Unknown") if trial[name]]
    return found


@pytest.mark.both_databases
def test_sign_in_for_an_application_is_tried_by_its_request(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    shop = world.application("Shop")
    assert visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password).query["code"]

    assert outcome(server, "request.application == 'Shop' and 'openid' in request.scopes") == "Stopped"
    assert outcome(server, f"request.client_id == '{shop.client_id}' and request.language == 'en'") == "Stopped"
    assert outcome(server, "'admin' in request.scopes or request.application == 'Desk'") == "Passed"
    assert outcome(server, "organization.id == 'x' or sign_in.is_registration") == "Passed"


def test_sign_in_by_a_provider_is_tried_by_its_name(
    world: World, server: TenantServer, visitor: Visitor, fake_provider: FakeProvider, ada: Person
) -> None:
    user = FederatedPageUser(world, visitor, fake_provider)
    link_identity(world, ada, subject="1")
    user.sign_in(email=ada.email)
    assert user.is_in

    assert outcome(server, "sign_in.provider == 'globex' and 'connection' in sign_in.methods") == "Stopped"
    assert outcome(server, "sign_in.provider == 'initech'") == "Passed"


def test_organization_that_is_only_named_is_unknown(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    shop = world.application("Shop")
    page = visitor.authorize(shop, organization="globex")
    page.press("Sign in", identifier=ada.email, password=ada.password)

    assert outcome(server, "organization.id == 'x'") == "Unknown"
