"""The token hook: a tenant's server that adds claims to the tokens of applications, or denies them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

import pytest
from standardwebhooks import Webhook

from app.contract.applications.file import DEVICE_GRANT
from app.contract.steps import DeviceStep
from app.identity.authentication.workflows.call_signatures import secret_of
from tests.api.workflows.test_tokens import answers, claiming, claims_of, signed_in
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.oauth.assertion_issuers import Hr, bears, trusting
from tests.support.oauth.managed_clients import CLIENTS, SHOP
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, parameters_of
from tests.support.oauth.token_exchange import error, exchanged, good
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.workflows.running import put_in_force, server_of

OFFLINE = "openid offline_access"
PATIENCE = 8


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


def hook(receiver: HttpsReceiver, **members: Any) -> dict[str, Any]:
    stated = {"url": receiver.url("/tokens"), "timeout_seconds": 1, "on_failure": "deny", "claims": ["tier", "seats"]}
    return {**stated, **members}


def browser_of(world: World) -> Browser:
    return Browser(world.services, world.wsgi, world.name)


def answered_at_redirect(world: World, person: Person, shop: RelyingParty) -> dict[str, str]:
    """Return what an authorization request brings to the application."""
    return parameters_of(browser_of(world).signed_in(person).authorize(shop.authorization_parameters()))


def recorded(server: TenantServer) -> list[str]:
    return [facts["outcome"] for _, facts in entries_of(server, "token_hook.run")]


@pytest.mark.both_databases
def test_claims_of_the_hook_reach_the_tokens(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver, Claims={"tier": "gold", "seats": 3})
    server.change_settings(token_hook=hook(receiver, secret_name="tokens", send=["FirstName"]))
    shop = world.application("Shop", scope=OFFLINE, access_token_format="jwt")
    tokens = signed_in(world, ada, shop, scope=OFFLINE)
    for token in (tokens["id_token"], tokens["access_token"]):
        claims = claims_of(token)
        assert (claims["tier"], claims["seats"], claims["sub"]) == ("gold", 3, ada.uid)
    assert shop.userinfo(tokens["access_token"]).get_json()["tier"] == "gold"
    (request,) = receiver.received
    Webhook(secret_of(world.api_secret, "tokens")).verify(request.body, dict(request.headers))
    body = json.loads(request.body)
    assert set(body) == {"Id", "Type", "Time", "Account", "SignIn"}
    assert (body["Type"], set(body["Account"])) == ("token.call", {"Uid", "FirstName"})
    assert (body["SignIn"]["ClientId"], body["SignIn"]["Methods"]) == (shop.client_id, ["password"])
    assert recorded(server) == ["passed"]


def fails(receiver: HttpsReceiver) -> None:
    receiver.answers(500, b"broken")


def sets_a_protected_claim(receiver: HttpsReceiver) -> None:
    answers(receiver, Claims={"tier": "gold", "sub": "somebody else"})


def sets_an_undeclared_claim(receiver: HttpsReceiver) -> None:
    answers(receiver, Claims={"tier": "gold", "level": "9"})


def asks_for_a_factor(receiver: HttpsReceiver) -> None:
    answers(receiver, "step_up")


def sets_the_profile(receiver: HttpsReceiver) -> None:
    answers(receiver, Profile={"Company": "Engines"})


def talks_for_10_mb(receiver: HttpsReceiver) -> None:
    receiver.answers(200, b" " * 10_000_000 + b'{"Action": "continue"}')


BAD: list[Callable[[HttpsReceiver], None]] = [
    fails, sets_a_protected_claim, sets_an_undeclared_claim, asks_for_a_factor, sets_the_profile, talks_for_10_mb,
    HttpsReceiver.hangs, HttpsReceiver.closes_mid_answer,
]  # fmt: skip


@pytest.mark.parametrize("behaves", BAD, ids=lambda behaves: behaves.__name__)
def test_failed_hook_follows_on_failure(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver, behaves: Callable[[HttpsReceiver], None]
) -> None:
    behaves(receiver)
    shop = world.application("Shop", access_token_format="jwt")
    server.change_settings(token_hook=hook(receiver, on_failure="deny"))
    began = monotonic()
    assert answered_at_redirect(world, ada, shop)["error"] == "access_denied"
    server.change_settings(token_hook=hook(receiver, on_failure="continue"))
    claims = claims_of(signed_in(world, ada, shop)["access_token"])
    assert claims["sub"] == ada.uid
    assert {"tier", "level"}.isdisjoint(claims)
    assert monotonic() - began < PATIENCE
    entries = [facts for _, facts in entries_of(server, "token_hook.run")]
    assert [facts["outcome"] for facts in entries] == ["denied", "passed"]
    assert all(facts["failure"] for facts in entries)
    assert "somebody else" not in str(entries)


def test_answer_is_cached_per_person_and_application(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver, Claims={"tier": "gold"})
    server.change_settings(token_hook=hook(receiver, cache_seconds=300))
    shop = world.application("Shop", scope=OFFLINE)
    tokens = signed_in(world, ada, shop, scope=OFFLINE)
    answers(receiver, Claims={"tier": "iron"})
    tokens = shop.refresh(tokens["refresh_token"]).get_json()
    assert shop.userinfo(tokens["access_token"]).get_json()["tier"] == "gold"
    assert len(receiver.received) == 1
    bert = world.person("bert@example.com")
    assert claims_of(signed_in(world, bert, shop, scope="openid")["id_token"])["tier"] == "iron"
    assert claims_of(signed_in(world, ada, world.application("Wiki"))["id_token"])["tier"] == "iron"
    assert len(receiver.received) == 3
    pass_time(world.services, seconds=301)
    tokens = shop.refresh(tokens["refresh_token"]).get_json()
    assert shop.userinfo(tokens["access_token"]).get_json()["tier"] == "iron"
    assert json.loads(receiver.received[-1].body)["SignIn"]["IsRefresh"]


def test_cached_denial_calls_no_server(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver, "deny")
    server.change_settings(token_hook=hook(receiver, cache_seconds=300))
    shop = world.application("Shop")
    for _ in range(2):
        assert answered_at_redirect(world, ada, shop)["error"] == "access_denied"
    assert len(receiver.received) == 1
    assert recorded(server) == ["denied", "denied"]
    server.change_settings(token_hook=hook(receiver, cache_seconds=60))
    answers(receiver)
    assert "code" in answered_at_redirect(world, ada, shop), "changed settings find no kept answer"


def test_denied_refresh_keeps_its_token(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver, Claims={"tier": "gold"})
    server.change_settings(token_hook=hook(receiver))
    shop = world.application("Shop", scope=OFFLINE)
    tokens = signed_in(world, ada, shop, scope=OFFLINE)
    answers(receiver, "deny")
    assert error(shop.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    answers(receiver, Claims={"tier": "iron"})
    tokens = shop.refresh(tokens["refresh_token"]).get_json()
    assert shop.userinfo(tokens["access_token"]).get_json()["tier"] == "iron"


def test_claims_go_with_the_hook(world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver) -> None:
    answers(receiver, Claims={"tier": "gold"})
    server.change_settings(token_hook=hook(receiver))
    shop = world.application("Shop", scope=OFFLINE)
    tokens = signed_in(world, ada, shop, scope=OFFLINE)
    server.change_settings(token_hook=None)
    tokens = shop.refresh(tokens["refresh_token"]).get_json()
    assert "tier" not in shop.userinfo(tokens["access_token"]).get_json()
    assert len(receiver.received) == 1


def test_hook_of_the_application_wins(world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver) -> None:
    answers(receiver, Claims={"tier": "gold"})
    server.change_settings(token_hook=hook(receiver))
    shop = world.application("Shop", token_hook=hook(receiver, url=receiver.url("/own")))
    signed_in(world, ada, shop)
    assert [request.path for request in receiver.received] == ["/own"]


def test_claim_of_the_workflow_wins(world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver) -> None:
    answers(receiver, Claims={"tier": "gold", "seats": 3})
    put_in_force(server, claiming(tier="iron"))
    server.change_settings(token_hook=hook(receiver))
    claims = claims_of(signed_in(world, ada, world.application("Shop"))["id_token"])
    assert (claims["tier"], claims["seats"]) == ("iron", 3)


def test_exchanged_token_has_claims_of_its_own_hook(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver, orders: RelyingParty
) -> None:
    answers(receiver, Claims={"tier": "gold"})
    front = world.application(
        "front", client_id="front", access_token_format="jwt", may_act=["orders"], token_hook=hook(receiver)
    )
    token = signed_in(world, ada, front)["access_token"]
    assert claims_of(token)["tier"] == "gold"
    assert "tier" not in claims_of(good(exchanged(orders, token))["access_token"])
    server.change_settings(token_hook=hook(receiver))
    assert claims_of(good(exchanged(orders, token))["access_token"])["tier"] == "gold"
    answers(receiver, "deny")
    assert error(exchanged(orders, token)) == (400, "invalid_grant")


def test_assertion_and_password_grants_ask_the_hook(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    payroll = trusting(world)
    older = world.application("older", grant_types=["password"], access_token_format="jwt")
    asked = {"grant_type": "password", "username": ada.email, "password": ada.password, **older.client_credentials()}
    server.change_settings(token_hook=hook(receiver))
    answers(receiver, Claims={"tier": "gold"})
    for answer in (bears(payroll, Hr(payroll).assertion(sub=ada.uid)), older.back("token", asked)):
        assert claims_of(answer.get_json()["access_token"])["tier"] == "gold"
    answers(receiver, "deny")
    for answer in (bears(payroll, Hr(payroll).assertion(sub=ada.uid)), older.back("token", asked)):
        assert error(answer) == (400, "invalid_grant")


@pytest.mark.parametrize("action", ["continue", "deny"])
def test_device_gets_what_the_hook_answers(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver, action: str
) -> None:
    answers(receiver, action, **({"Claims": {"tier": "gold"}} if action == "continue" else {}))
    server.change_settings(token_hook=hook(receiver))
    tv = world.application("tv", secret=None, grant_types=[DEVICE_GRANT], redirect_uris=[], access_token_format="jwt")
    started = tv.start_device(scope="openid").get_json()
    browser = browser_of(world).signed_in(ada)
    step = browser.type_code(started["user_code"])
    assert step.kind is DeviceStep
    browser.allow_device(step.interaction_id)
    answer = tv.poll(started["device_code"])
    if action == "deny":
        assert error(answer) == (400, "access_denied")
    else:
        assert claims_of(answer.get_json()["access_token"])["tier"] == "gold"


def test_token_of_the_front_channel_has_the_claims(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver, Claims={"tier": "gold"})
    server.change_settings(token_hook=hook(receiver))
    spa = world.application("spa", grant_types=["implicit"], response_types=["id_token"])
    asked = spa.authorization_parameters(response_type="id_token", nonce="a nonce")
    sent = parameters_of(browser_of(world).signed_in(ada).authorize(asked))
    assert claims_of(sent["id_token"])["tier"] == "gold"


def test_denied_consent_calls_no_server(
    world: World, server: TenantServer, ada: Person, receiver: HttpsReceiver
) -> None:
    answers(receiver)
    server.change_settings(token_hook=hook(receiver))
    shop, browser = world.application("Shop"), browser_of(world).signed_in(ada)
    step = browser.authorize(shop.authorization_parameters(prompt="consent"))
    sent = parameters_of(browser.consent(str(step.interaction_id), allow=False))
    assert sent["error"] == "access_denied"
    assert not receiver.received


def managed(server: TenantServer, method: str, path: str, body: Any = None, scope: str = "all") -> Any:
    return ask(server, machine(server, scope), method, path, body)


def test_hook_is_set_and_removed_by_a_program(server: TenantServer) -> None:
    path, stated = "/v2/manage/token-hook", {"Url": "https://hooks.acme.example/tokens", "OnFailure": "deny"}
    assert answered(managed(server, "GET", path)) == {"TokenHook": None}
    made = answered(managed(server, "PUT", path, {"TokenHook": {**stated, "Claims": ["tier"]}}))["TokenHook"]
    assert (made["Claims"], made["TimeoutSeconds"], made["CacheSeconds"]) == (["tier"], 3, 0)
    assert answered(managed(server, "PUT", path, {"TokenHook": stated}))["TokenHook"]["Claims"] == []
    assert refused(managed(server, "PUT", path, {"TokenHook": None}, "workflow:update"))[0] == 403
    assert answered(managed(server, "PUT", path, {"TokenHook": None})) == {"TokenHook": None}


@pytest.mark.parametrize(
    "wrong",
    [
        {"Claims": ["sub"]}, {"Claims": ["email"]}, {"Claims": ["tier", "tier"]}, {"Url": "http://hooks.acme.example"},
        {"TimeoutSeconds": 0}, {"TimeoutSeconds": 6}, {"CacheSeconds": 3_601}, {"OnFailure": "step_up"},
        {"Send": ["Password"]}, {"Url": None}, {"Unknown": 1},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_hook_is_refused(server: TenantServer, wrong: dict[str, Any]) -> None:
    stated = {"Url": "https://hooks.acme.example/tokens", "OnFailure": "deny", **wrong}
    assert refused(managed(server, "PUT", "/v2/manage/token-hook", {"TokenHook": stated})) == (400, 7900)
    assert refused(managed(server, "POST", CLIENTS, {**SHOP, "TokenHook": stated})) == (400, 7900)
    answered(managed(server, "POST", CLIENTS, SHOP))
    assert refused(managed(server, "PUT", f"{CLIENTS}/{SHOP['AppName']}", {"TokenHook": stated})) == (400, 7900)


def test_refusal_names_the_expected_value(server: TenantServer) -> None:
    stated = {"Url": "http://hooks.acme.example", "OnFailure": "deny"}
    answer = managed(server, "PUT", "/v2/manage/token-hook", {"TokenHook": stated}).get_json()
    assert answer["Description"] == "TokenHook.Url: expected an https address without a fragment."


def test_client_has_a_hook_of_its_own(server: TenantServer) -> None:
    stated = {"Url": "https://hooks.acme.example/shop", "OnFailure": "deny"}
    made = answered(managed(server, "POST", CLIENTS, {**SHOP, "TokenHook": stated}))
    assert made["TokenHook"]["Url"] == stated["Url"]
    path = f"{CLIENTS}/{SHOP['AppName']}"
    assert answered(managed(server, "PUT", path, {"DisplayName": "Shop"}))["TokenHook"]["Url"] == stated["Url"]
    assert answered(managed(server, "PUT", path, {"TokenHook": None}))["TokenHook"] is None
