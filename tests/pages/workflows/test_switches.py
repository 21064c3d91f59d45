"""A sign-in that waits in a workflow while the person turns to another application, or to another account."""

from __future__ import annotations

import pytest

from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor
from tests.support.workflows.drawings import Drawing, branching, drawing, node
from tests.support.workflows.running import DENIAL, put_in_force, server_of

POLICY = {"mode": "moderated", "versions": [{"version": "2", "starts_at": "2020-01-01T00:00:00Z"}]}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()


@pytest.fixture
def server(world: World) -> TenantServer:
    server = server_of(world)
    server.change_settings(privacy_policy=POLICY)
    return server


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def by_password(page: VisitedPage, person: Person) -> VisitedPage:
    return page.press("Sign in", identifier=person.email, password=person.password)


def accepted(page: VisitedPage) -> VisitedPage:
    assert page.address.partition("?")[0].endswith("/privacy-policy")
    return page.press("Accept", terms="y")


def nodes(expression: str) -> list[Drawing]:
    return [
        node("start", "Start"), node("login", "Login"), node("terms", "Terms"),
        node("if", "Condition", expression=expression), node("refused", "Deny", text=DENIAL), node("end", "SuccessFinalNode"),
    ]  # fmt: skip


def denying_after_terms(expression: str) -> Drawing:
    paths = ("start -> login", "login -> terms", "terms -> if", "if.true -> refused", "if.false -> end")
    return drawing(nodes(expression), *paths)


def denying_before_terms(expression: str) -> Drawing:
    paths = ("start -> login", "login -> if", "if.true -> refused", "if.false -> terms", "terms -> end")
    return drawing(nodes(expression), *paths)


def test_other_application_passes_no_workflow_of_the_first(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    put_in_force(server, denying_after_terms("request.application == 'Vault'"))
    vault, shop = world.application("Vault"), world.application("Shop")
    by_password(visitor.authorize(vault), ada)
    assert accepted(visitor.authorize(shop)).query["code"]
    assert visitor.authorize(vault).query["error"] == "access_denied"


def test_waiting_sign_in_goes_on_without_an_application(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    put_in_force(server, denying_after_terms("request.application == 'Vault'"))
    vault = world.application("Vault")
    by_password(visitor.authorize(vault), ada)
    assert accepted(visitor.open("/login")).address.endswith("/profile")
    assert visitor.authorize(vault).query["error"] == "access_denied"


def test_other_account_does_not_go_on_where_one_waits(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    grace, shop = world.person("grace@example.com"), world.application("Shop")
    by_password(visitor.authorize(shop), grace)
    by_password(visitor.authorize(shop, prompt="select_account").press("Use another account"), ada)
    put_in_force(server, denying_before_terms("account.email == 'grace@example.com'"))
    accounts = visitor.authorize(shop, prompt="select_account")
    assert accounts.press(ada.email).address.partition("?")[0].endswith("/privacy-policy")
    assert accounts.press(grace.email).query["error"] == "access_denied"


def test_visit_is_judged_again_for_another_application(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    put_in_force(server, branching("request.language == 'de'"))
    shop, vault = world.application("Shop"), world.application("Vault")
    assert by_password(visitor.authorize(shop), ada).query["code"]
    visitor.language = "de"
    assert visitor.authorize(shop).query["code"]
    assert visitor.authorize(vault).query["error"] == "access_denied"
