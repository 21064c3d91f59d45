"""Workflows and the tokens of applications: claims, refreshes, exchanges, and calls to a tenant's server."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from app.contract.applications.file import EXCHANGE_TOKEN
from app.identity.protocols.oauth.tokens.subject_tokens import ID_TOKEN
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.token_exchange import error, exchanged, good
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.workflows.drawings import Drawing, drawing, node, sequence
from tests.support.workflows.running import asking_for_factor, changed, denying, put_in_force, runs, server_of, stored

ANYONE = "account.logins >= 0"


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


def claiming(**claims: Any) -> Drawing:
    nodes = [node("start", "Start"), node("login", "Login"), node("end", "SuccessFinalNode", claims=claims)]
    return drawing(nodes, "start -> login", "login -> end")


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a JWT, unverified."""
    body = token.split(".")[1]
    claims: dict[str, Any] = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return claims


def asking(receiver: HttpsReceiver, *, on_refresh: bool = False, **members: Any) -> Drawing:
    """Return a workflow that asks the tenant's server."""
    data = {"url": receiver.url("/ask"), "timeout_seconds": 1, "on_failure": "deny", **members}
    drawn = sequence(node("ask", "HttpCall", **data))
    drawn["nodes"][0]["data"] = {"on_refresh": on_refresh}
    return drawn


def answers(receiver: HttpsReceiver, action: str = "continue", **members: Any) -> None:
    receiver.answers(200, json.dumps({"Action": action, **members}).encode())


def signed_in(world: World, person: Person, shop: RelyingParty, **changed: str) -> dict[str, Any]:
    browser = Browser(world.services, world.wsgi, world.name)
    answer = shop.redeem(browser.code(shop, person, **changed))
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.get_json()
    return body


@pytest.mark.both_databases
def test_claims_of_a_workflow_reach_the_tokens(world: World, server: TenantServer, ada: Person) -> None:
    put_in_force(server, claiming(tier="gold", seats=3))
    shop = world.application("Shop", scope="openid offline_access", access_token_format="jwt")
    tokens = signed_in(world, ada, shop, scope="openid offline_access")
    for token in (tokens["id_token"], tokens["access_token"]):
        assert claims_of(token)["tier"] == "gold"
        assert claims_of(token)["seats"] == 3
        assert claims_of(token)["sub"] == ada.uid
    assert shop.userinfo(tokens["access_token"]).get_json()["tier"] == "gold"
    refreshed = shop.refresh(tokens["refresh_token"]).get_json()
    assert claims_of(refreshed["access_token"])["tier"] == "gold"


@pytest.mark.parametrize("token_format", ["opaque", "jwt"])
def test_introspection_has_the_claims(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver, token_format: str
) -> None:
    put_in_force(server, claiming(tier="gold", SCOPE="wide", Org_Id="org_0"))
    answers(receiver, Claims={"tier": "iron", "level": 9})
    hook = {"url": receiver.url("/hook"), "timeout_seconds": 1, "on_failure": "deny", "claims": ["tier", "level"]}
    server.change_settings(token_hook=hook)
    shop = world.application("Shop", access_token_format=token_format)
    token = signed_in(world, ada, shop)["access_token"]
    found = shop.introspect(token)
    assert (found["tier"], found["level"], found["SCOPE"], found["Org_Id"]) == ("gold", 9, "wide", "org_0")
    assert (found["active"], found["sub"], found["scope"]) == (True, ada.uid, "openid profile email")
    assert "org_id" not in found


def test_refresh_is_judged_only_with_on_refresh(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver, Claims={"tier": "gold"})
    made = put_in_force(server, asking(receiver, claims=["tier"]))
    shop = world.application("Shop", scope="openid offline_access")
    tokens = signed_in(world, ada, shop, scope="openid offline_access")
    before = len(receiver.received)
    answers(receiver, "deny")
    tokens = shop.refresh(tokens["refresh_token"]).get_json()
    assert len(receiver.received) == before
    changed(server, made, asking(receiver, claims=["tier"], on_refresh=True))
    refused = shop.refresh(tokens["refresh_token"])
    assert (refused.status_code, refused.get_json()["error"]) == (400, "invalid_grant")
    assert runs(server)[-1]["outcome"] == "denied"
    answers(receiver, Claims={"tier": "iron"})
    tokens = shop.refresh(tokens["refresh_token"]).get_json()
    assert shop.userinfo(tokens["access_token"]).get_json()["tier"] == "iron"


def test_exchanged_token_obeys_the_workflow(
    world: World, server: TenantServer, ada: Person, frontend: RelyingParty, orders: RelyingParty
) -> None:
    put_in_force(server, denying("request.application == 'orders'"))
    token = signed_in(world, ada, frontend)["access_token"]
    assert error(exchanged(orders, token)) == (400, "invalid_grant")
    server.change_settings(default_workflow=None)
    assert good(exchanged(orders, token))["access_token"]


def test_exchanged_token_keeps_what_its_subject_passed(
    world: World, server: TenantServer, ada: Person, frontend: RelyingParty, orders: RelyingParty
) -> None:
    put_in_force(server, claiming(tier="gold"))
    token = signed_in(world, ada, frontend)["access_token"]
    assert claims_of(good(exchanged(orders, token))["access_token"])["tier"] == "gold"
    assert [run["outcome"] for run in runs(server)] == ["passed"]


def test_claim_of_an_id_token_passes_no_workflow(
    world: World, server: TenantServer, ada: Person, frontend: RelyingParty, orders: RelyingParty
) -> None:
    strict = stored(server, denying(ANYONE), "Strict")
    stored(server, claiming(workflow=strict["Id"]), "Easy")
    world.change(frontend, workflows=["Easy"])
    token = signed_in(world, ada, frontend)["id_token"]
    assert claims_of(token)["workflow"] == strict["Id"]
    server.change_settings(default_workflow="Strict")
    assert error(exchanged(orders, token, ID_TOKEN)) == (400, "invalid_grant")


def test_exchange_that_needs_a_factor_is_refused(
    world: World, server: TenantServer, ada: Person, frontend: RelyingParty, orders: RelyingParty
) -> None:
    put_in_force(server, asking_for_factor("request.application == 'orders'"))
    token = signed_in(world, ada, frontend)["access_token"]
    assert error(exchanged(orders, token)) == (400, "invalid_grant")


def test_scopes_of_a_grant_are_those_of_its_tokens(world: World, server: TenantServer, ada: Person) -> None:
    put_in_force(server, denying("'orders' in request.scopes"))
    client = world.application("Till", grant_types=["password", EXCHANGE_TOKEN], scope="openid orders")
    by_password = {"grant_type": "password", "username": ada.email, "password": ada.password}
    login = server.send("POST", "/identity/v2/auth/login", {"email": ada.email, "password": ada.password})
    by_token = {"grant_type": EXCHANGE_TOKEN, "token": answered(login)["access_token"]}
    for form in (by_password, by_token):
        sent = {**form, **client.client_credentials()}
        assert good(client.back("token", {**sent, "scope": "openid"}))["access_token"]
        assert error(client.back("token", {**sent, "scope": "openid orders"})) == (400, "invalid_grant")


def test_scopes_of_an_exchange_are_judged(
    world: World, server: TenantServer, ada: Person, frontend: RelyingParty, orders: RelyingParty
) -> None:
    token = signed_in(world, ada, frontend)["access_token"]
    put_in_force(server, denying("'openid' in request.scopes"))
    assert error(exchanged(orders, token)) == (400, "invalid_grant")


@pytest.mark.parametrize("is_narrowed", [True, False])
def test_scopes_of_a_refresh_are_judged(world: World, server: TenantServer, ada: Person, is_narrowed: bool) -> None:
    shop = world.application("Shop", scope="openid orders offline_access")
    tokens = signed_in(world, ada, shop, scope="openid orders offline_access")
    drawn = denying("'orders' in request.scopes")
    drawn["nodes"][0]["data"] = {"on_refresh": True}
    put_in_force(server, drawn)
    changed = {"scope": "openid"} if is_narrowed else {}
    assert (shop.refresh(tokens["refresh_token"], **changed).status_code == 200) is is_narrowed


@pytest.mark.parametrize("on_failure", ["deny", "continue", "step_up"])
def test_failed_call_follows_on_failure(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver, on_failure: str
) -> None:
    receiver.answers(500, b"broken")
    put_in_force(server, asking(receiver, on_failure=on_failure))
    step = Browser(world.services, world.wsgi, world.name).sign_in(None, ada.email, ada.password)
    expected = {"deny": "login", "continue": "profile", "step_up": "second_factor"}
    assert step.step.step == expected[on_failure]
    assert runs(server)[-1]["failures"]["ask"].startswith("status")


@pytest.mark.both_databases
@pytest.mark.parametrize("member", ["Profile", "Claims", "Text"])
def test_odd_name_in_an_answer_fails_the_call_alone(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver, member: str
) -> None:
    members: dict[str, Any] = {member: {"a\x00b": "x"}}
    answers(receiver, **members)
    put_in_force(server, asking(receiver, on_failure="continue"))
    step = Browser(world.services, world.wsgi, world.name).sign_in(None, ada.email, ada.password)
    assert step.step.step == "profile"
    assert runs(server)[-1]["failures"]["ask"]


def test_call_sees_the_sign_in_and_sets_the_profile(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver, Profile={"Company": "Engines"})
    put_in_force(server, asking(receiver, profile_fields=["Company"]))
    shop = world.application("Shop")
    signed_in(world, ada, shop)
    calls = [json.loads(request.body)["SignIn"] for request in receiver.received]
    assert [call["Methods"] for call in calls] == [["password"], ["password"]]
    assert [call["ClientId"] for call in calls] == [
        None,
        shop.client_id,
    ]  # a session of no application, then of the shop
    assert server.read(ada.uid)["Company"] == "Engines"


def test_denied_call_shows_its_text(world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver) -> None:
    answers(receiver, "deny", Text={"en": "Ask your manager."})
    put_in_force(server, asking(receiver))
    step = Browser(world.services, world.wsgi, world.name).sign_in(None, ada.email, ada.password)
    assert step.denial == "Ask your manager."
