"""Workflows of applications: which one is in force, and how a session passes the one of another application."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, mails_to
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor
from tests.support.workflows.drawings import Drawing, drawing, node, sequence
from tests.support.workflows.running import (
    DENIAL,
    asking_for_factor,
    deleted,
    denying,
    put_in_force,
    runs,
    server_of,
    signing_in_by,
    stored,
)

ANYONE = "account.logins >= 0"
POLICY = {"mode": "moderated", "versions": [{"version": "2", "starts_at": "2020-01-01T00:00:00Z"}]}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()


@pytest.fixture
def server(world: World) -> TenantServer:
    return server_of(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver() as started:
        yield started


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def by_password(page: VisitedPage, ada: Person) -> VisitedPage:
    return page.press("Sign in", identifier=ada.email, password=ada.password)


def signed_in(visitor: Visitor, ada: Person) -> Visitor:
    assert by_password(visitor.open("/login"), ada).address.endswith("/profile")
    return visitor


def application_with(world: World, server: TenantServer, *drawings: Drawing, **settings: Any) -> RelyingParty:
    names = [f"Flow {number}" for number, _ in enumerate(drawings)]
    for name, drawn in zip(names, drawings, strict=True):
        stored(server, drawn, name)
    return world.application("Shop", workflows=names, **settings)


@pytest.mark.both_databases
def test_application_follows_its_own_workflow(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    put_in_force(server, denying(ANYONE), "Default")
    shop = application_with(world, server, sequence())
    assert DENIAL["en"] in by_password(visitor.open("/login"), ada).text
    assert by_password(visitor.authorize(shop), ada).query["code"]


def test_request_chooses_among_the_workflows(world: World, server: TenantServer, visitor: Visitor, ada: Person) -> None:
    shop = application_with(world, server, sequence(), denying(ANYONE))
    stored(server, sequence(), "Easy")
    assert DENIAL["en"] in by_password(visitor.authorize(shop, workflow="Flow 1"), ada).text
    for other in ("Easy", "Nowhere", "flow 1"):
        assert visitor.authorize(shop, workflow=other).query["error"] == "invalid_request"
    assert by_password(visitor.authorize(shop, workflow="Flow 0"), ada).query["code"]


def test_request_does_not_walk_around_the_default(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, denying(ANYONE), "Default")
    stored(server, sequence(), "Easy")
    shop = world.application("Shop")
    assert visitor.authorize(shop, workflow="Easy").query["error"] == "invalid_request"
    assert visitor.authorize(shop, workflow="Default").is_sign_in
    assert visitor.open("/login?workflow=Easy").status == 400


def test_page_runs_the_workflow_that_it_names(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    stored(server, denying(ANYONE), "Strict")
    for path in ("/login?workflow=Strict", "/auth.aspx?action=login&workflow=Strict"):
        assert DENIAL["en"] in by_password(visitor.open(path), ada).text
    assert visitor.open("/login?workflow=Nowhere").status == 400


def test_session_is_denied_at_the_redirect_uri(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    shop = application_with(world, server, denying(ANYONE))
    signed_in(visitor, ada)
    assert visitor.authorize(shop).query["error"] == "access_denied"
    assert visitor.authorize(shop, prompt="none").query["error"] == "access_denied"
    assert visitor.authorize(world.application("Free")).query["code"]


def test_session_passes_a_workflow_once(world: World, server: TenantServer, visitor: Visitor, ada: Person) -> None:
    shop = application_with(world, server, sequence())
    signed_in(visitor, ada)
    for _ in range(2):
        assert visitor.authorize(shop, prompt="none").query["code"]
    assert [run["outcome"] for run in runs(server)] == ["passed"]


def test_session_signs_in_again_for_a_factor(world: World, server: TenantServer, visitor: Visitor, ada: Person) -> None:
    shop = application_with(world, server, asking_for_factor(ANYONE))
    signed_in(visitor, ada)
    assert visitor.authorize(shop, prompt="none").query["error"] == "interaction_required"
    page = visitor.authorize(shop)
    assert page.heading == "Confirm it’s you"
    page = page.press("Continue", password=ada.password)
    page = page.press("Verify", code=code_in(mails_to(world.services, world.tenant_id, ada.email)[-1]))
    assert page.query["code"]
    assert visitor.authorize(shop, prompt="none").query["code"]


def test_session_of_another_method_signs_in_again(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    server.change_settings(passkeys=True)
    shop = application_with(world, server, signing_in_by("passkey"))
    signed_in(visitor, ada)
    assert visitor.authorize(shop, prompt="none").query["error"] == "interaction_required"
    assert "requires a passkey" in visitor.authorize(shop).text


@pytest.mark.parametrize("begins_at_the_application", [True, False])
def test_terms_are_accepted_before_the_response(
    world: World, server: TenantServer, visitor: Visitor, ada: Person, begins_at_the_application: bool
) -> None:
    server.change_settings(privacy_policy=POLICY)
    shop = application_with(world, server, sequence(node("terms", "Terms")))
    page = (
        by_password(visitor.authorize(shop), ada)
        if begins_at_the_application
        else signed_in(visitor, ada).authorize(shop)
    )
    assert page.address.partition("?")[0].endswith("/privacy-policy")
    assert visitor.authorize(shop, prompt="none").query["error"] == "interaction_required"
    assert page.press("Accept", terms="y").query["code"]
    assert visitor.authorize(shop, prompt="none").query["code"]


def test_waiting_session_can_do_only_the_action(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    server.change_settings(privacy_policy=POLICY)
    put_in_force(server, sequence(node("terms", "Terms")))
    page = by_password(visitor.open("/login"), ada)
    assert page.address.partition("?")[0].endswith("/privacy-policy")
    assert not visitor.open("/profile").address.endswith("/profile")
    assert page.press("Accept", terms="y").address.endswith("/profile")
    assert visitor.open("/security").address.endswith("/security")


def test_waiting_session_changes_no_field_that_is_not_asked(
    server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    server.change_settings(privacy_policy=POLICY)
    put_in_force(server, sequence(node("form", "ProfileForm", fields=["company"]), node("terms", "Terms")))
    page = by_password(visitor.open("/login"), ada).press("Continue", company="Engines", first_name="Mallory")
    sent = {**page.form("Accept").fields, "company": "Another", "first_name": "Mallory"}
    visitor.send("POST", page.address.replace("/privacy-policy", "/missing-fields"), sent)
    profile = server.read(ada.uid)
    assert (profile["Company"], profile["FirstName"]) == ("Engines", None)


def test_account_pages_need_the_default_of_every_session(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    put_in_force(server, asking_for_factor(ANYONE), "Default")
    shop = application_with(world, server, sequence())
    assert by_password(visitor.authorize(shop), ada).query["code"]
    for path in ("/profile", "/security"):
        assert not visitor.open(path).address.partition("?")[0].endswith(path)
    page = visitor.open("/profile").press("Continue", password=ada.password)
    page = page.press("Verify", code=code_in(mails_to(world.services, world.tenant_id, ada.email)[-1]))
    assert page.address.endswith("/profile")
    assert visitor.open("/security").address.endswith("/security")


def test_account_pages_open_after_a_call(
    world: World, server: TenantServer, visitor: Visitor, ada: Person, receiver: HttpsReceiver
) -> None:
    put_in_force(server, sequence(node("ask", "HttpCall", url=receiver.url("/ask"), on_failure="continue")), "Default")
    shop = application_with(world, server, sequence())
    assert by_password(visitor.authorize(shop), ada).query["code"]
    assert visitor.open("/profile").address.endswith("/profile")
    assert len(receiver.received) == 1


@pytest.mark.parametrize("begins_at_the_application", [True, False])
def test_new_sign_in_comes_after_the_terms(
    world: World, server: TenantServer, visitor: Visitor, ada: Person, begins_at_the_application: bool
) -> None:
    server.change_settings(privacy_policy=POLICY)
    nodes = [
        node("start", "Start"), node("login", "Login"), node("terms", "Terms"), node("risk", "Risk"), node("end", "SuccessFinalNode"),
    ]  # fmt: skip
    ends = [f"risk.{level} -> end" for level in ("low", "medium", "high")]
    put_in_force(server, drawing(nodes, "start -> login", "login -> terms", "terms -> risk", *ends))
    page = visitor.authorize(world.application("Shop")) if begins_at_the_application else visitor.open("/login")
    page = by_password(page, ada).press("Accept", terms="y")
    page = page.press("Continue", password=ada.password) if "Confirm" in page.heading else by_password(page, ada)
    assert "code" in page.query if begins_at_the_application else page.address.endswith("/profile")


@pytest.mark.parametrize(
    "expression",
    ["request.client_id == 'x'", "request.application == 'x'", "'x' in request.scopes", "request.hour_utc > 23"],
)
def test_account_pages_open_after_an_application(
    world: World, server: TenantServer, visitor: Visitor, ada: Person, expression: str
) -> None:
    """The workflow counts for the application alone, and judges the session again for the account pages."""
    put_in_force(server, denying(expression), "Default")
    shop = world.application("Shop")
    assert by_password(visitor.authorize(shop), ada).query["code"]
    assert visitor.open("/profile").address.endswith("/profile")
    assert [run["outcome"] for run in runs(server)] == ["passed", "passed"]


def test_profile_form_asks_for_missing_fields(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    server.change_settings(custom_fields=["plan"])
    put_in_force(server, sequence(node("form", "ProfileForm", fields=["company", "cf_plan"])))
    page = by_password(visitor.open("/login"), ada)
    assert page.address.partition("?")[0].endswith("/missing-fields")
    assert page.press("Continue", company="").status == 422
    page = page.press("Continue", company="Engines", cf_plan="gold")
    assert page.address.endswith("/profile")
    profile = server.read(ada.uid)
    assert (profile["Company"], profile["CustomFields"]["plan"]) == ("Engines", "gold")


def test_denial_after_an_action_ends_the_session(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    server.change_settings(privacy_policy=POLICY)
    drawn = denying(ANYONE)
    drawn["nodes"].append(node("terms", "Terms"))
    drawn["edges"][1]["target"] = "terms"
    drawn["edges"].append({"id": "terms", "source": "terms", "target": "new"})
    put_in_force(server, drawn)
    page = by_password(visitor.open("/login"), ada).press("Accept", terms="y")
    assert DENIAL["en"] in page.text
    assert not visitor.open("/profile").address.endswith("/profile")


def test_deleted_workflow_ends_a_waiting_sign_in(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    made = put_in_force(server, asking_for_factor(ANYONE))
    page = by_password(visitor.open("/login"), ada)
    server.change_settings(default_workflow=None)
    deleted(server, made)
    code = code_in(mails_to(server.services, server.tenant_id, ada.email)[-1])
    assert "You can’t sign in right now" in page.press("Verify", code=code).text
