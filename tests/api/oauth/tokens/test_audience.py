"""The audience of access tokens: `aud` of signed tokens and of introspection, and the `resource` parameter (RFC 8707, RFC 9068)."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from werkzeug.test import TestResponse

from app.contract.applications.file import DEVICE_GRANT
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in, code_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import refused

pytestmark = on_one_database
ORDERS, STOCK = "https://orders.example/api", "https://stock.example/api"
TokenResponse = dict[str, Any]


def redeemed(
    world: World, client: RelyingParty, ada: Person, at_token: TokenResponse | None = None, **parameters: str | None
) -> TokenResponse:
    answer = client.redeem(world.browser().code(client, ada, **parameters), **(at_token or {}))
    assert answer.status_code == 200, answer.text
    stored: TokenResponse = answer.json or {}
    return stored


def test_audience_without_resource_is_the_client(world: World, ada: Person) -> None:
    plain = world.application("plain", access_token_format="jwt")
    token = redeemed(world, plain, ada)["access_token"]
    assert claims_in(token)["aud"] == plain.client_id
    assert plain.introspect(token)["aud"] == [plain.client_id]
    opaque = world.application("opaque")
    assert opaque.introspect(redeemed(world, opaque, ada)["access_token"])["aud"] == [opaque.client_id]


def test_audience_includes_interface_with_access_only(world: World, ada: Person) -> None:
    api = world.services.settings.base_url
    full = world.application("full", access_token_format="jwt", interface_access="read")
    stored = redeemed(world, full, ada)
    assert claims_in(stored["access_token"])["aud"] == [full.client_id, api]
    assert claims_in(redeemed(world, full, ada, resource=api)["access_token"])["aud"] == api
    world.change(full, interface_access="none")
    world.change_settings()
    renewed = (full.refresh(stored["refresh_token"]).json or {})["access_token"]
    assert claims_in(renewed)["aud"] == full.client_id
    assert "account:read" not in claims_in(renewed)["scope"].split()


def test_token_for_resource_has_that_audience_alone(world: World, ada: Person) -> None:
    shop = world.application("shop", access_token_format="jwt", interface_access="full", resources=[ORDERS, STOCK])
    stored = redeemed(world, shop, ada, resource=ORDERS, scope="openid account:read")
    claims = claims_in(stored["access_token"])
    assert (claims["aud"], claims["scope"], stored["scope"]) == (ORDERS, "openid", "openid")
    base = f"http://{world.services.settings.api_hostname}"
    query = {"apikey": world.api_key, "access_token": stored["access_token"]}
    answer = world.wsgi.get("/identity/v2/auth/account", query_string=query, base_url=base)
    assert refused(answer) == (403, 1143)
    renewed = shop.refresh(stored["refresh_token"]).json or {}
    assert claims_in(renewed["access_token"])["aud"] == ORDERS
    other = shop.refresh(renewed["refresh_token"], resource=STOCK)
    assert (other.status_code, (other.json or {})["error"]) == (400, "invalid_target")
    assert (
        shop.refresh(renewed["refresh_token"], resource=ORDERS).status_code == 200
    )  # the refusal did not spend the token


def test_resource_can_be_named_at_code_redemption(world: World, ada: Person) -> None:
    shop = world.application("shop", access_token_format="jwt", interface_access="read", resources=[ORDERS])
    stored = redeemed(world, shop, ada, {"resource": ORDERS})
    assert claims_in(stored["access_token"])["aud"] == ORDERS
    assert "account:read" not in stored["scope"].split()
    renewed = shop.refresh(stored["refresh_token"]).json or {}
    assert claims_in(renewed["access_token"])["aud"] == [shop.client_id, world.services.settings.base_url]


@pytest.mark.parametrize(
    "resource",
    ["https://elsewhere.example", ORDERS + "/", "{api}", "{api}/identity/v2/manage", "{hub}", "orders", "https://orders.example/api#x"]
)  # fmt: skip
def test_unregistered_resource_is_refused(world: World, ada: Person, resource: str) -> None:
    api = world.services.settings.base_url
    grants = ["authorization_code", "client_credentials", "password"]
    shop = world.application("shop", grant_types=grants, resources=[ORDERS, f"{api}/identity/v2/manage"])
    requested = resource.format(api=api, hub=shop.hub_url)
    browser = world.browser().signed_in(ada)
    step = browser.authorize(shop.authorization_parameters(resource=requested))
    assert dict(parse_qsl(urlsplit(step.address or "").query))["error"] == "invalid_target"
    expired = shop.redeem(browser.code(shop, ada), resource=requested)
    assert (expired.status_code, (expired.json or {})["error"]) == (400, "invalid_target")
    for form in (
        {"grant_type": "client_credentials"},
        {"grant_type": "password", "username": ada.email, "password": ada.password},
    ):
        answer = shop.back("token", {**form, **shop.client_credentials(), "resource": requested})
        assert (answer.json or {})["error"] == "invalid_target"


def test_two_resources_are_refused(world: World, ada: Person) -> None:
    shop = world.application("shop", resources=[ORDERS, STOCK])
    pairs = [(name, value) for name, value in shop.authorization_parameters().items() if value is not None]
    step = world.browser().signed_in(ada).authorize([*pairs, ("resource", ORDERS), ("resource", STOCK)])
    assert "error=invalid_target" in (step.address or "")
    code = world.browser().code(shop, ada, resource=ORDERS)
    answer = shop.redeem(code, resource=STOCK)
    assert (answer.json or {})["error"] == "invalid_target"


def test_several_resources_have_their_own_error_at_each_endpoint(world: World, ada: Person) -> None:
    """RFC 8707 section 2: the parameter may be repeated, unlike others; which we refuse (decision 0142)."""
    grants = ["authorization_code", "refresh_token", DEVICE_GRANT]
    shop = world.application("shop", resources=[ORDERS, STOCK], grant_types=grants)
    both = [("resource", ORDERS), ("resource", STOCK)]
    own = [(name, value) for name, value in shop.client_credentials().items() if value is not None]
    code = world.browser().code(shop, ada)
    redeem = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", shop.redirect_uri)]
    pushed = [(name, value) for name, value in shop.authorization_parameters().items() if value and name != "client_id"]
    for path, form in (("token", redeem), ("par", pushed), ("device", [])):
        answer = encoded(shop, path, [*own, *form, *both])
        assert (answer.status_code, (answer.json or {})["error"]) == (400, "invalid_target"), path
        other = encoded(shop, path, [*own, *form, *both, ("scope", "openid"), ("scope", "email")])
        assert (other.json or {})["error"] == "invalid_request", path
    for path in ("introspect", "revoke"):
        answer = encoded(shop, path, [*own, ("token", "x"), *both])
        assert (answer.status_code, (answer.json or {})["error"]) == (400, "invalid_request"), path


def encoded(client: RelyingParty, path: str, form: list[tuple[str, str]]) -> TestResponse:
    """Post a form in which names may be repeated."""
    form_type = "application/x-www-form-urlencoded"
    return client.wsgi.post(f"/api/oidc/{path}", data=urlencode(form), content_type=form_type, base_url=client.hub_url)


def test_resource_reaches_the_token_of_each_request(world: World, ada: Person) -> None:
    """Pushed, in a signed request object, where it may be a list, and of a device."""
    key = client_key("ES256")
    grants = ["authorization_code", DEVICE_GRANT]
    shop = world.application(
        "shop", access_token_format="jwt", resources=[ORDERS], grant_types=grants, jwks=public_jwks(key)
    )
    browser = world.browser().signed_in(ada)
    taken = (shop.push(resource=ORDERS).json or {})["request_uri"]
    signed = [Signer(shop).request_object(resource=value) for value in (ORDERS, [ORDERS])]
    for item in ({"request_uri": taken}, *({"request": text} for text in signed)):
        step = browser.authorize({"client_id": shop.client_id, **item})
        body = shop.redeem(code_of(step)).json or {}
        assert claims_in(body["access_token"])["aud"] == ORDERS
    device = shop.start_device(resource=ORDERS).json or {}
    browser.allow_device(browser.type_code(device["user_code"]).interaction_id)
    body = shop.poll(device["device_code"]).json or {}
    assert claims_in(body["access_token"])["aud"] == ORDERS
    several = Signer(shop).request_object(resource=[ORDERS, STOCK])
    step = browser.authorize({"client_id": shop.client_id, "request": several})
    assert "error=invalid_target" in (step.address or "")


def test_refresh_for_removed_resource_is_refused(world: World, ada: Person) -> None:
    shop = world.application("shop", resources=[ORDERS])
    stored = redeemed(world, shop, ada, resource=ORDERS)
    world.change(shop, resources=[])
    world.change_settings()
    assert (shop.refresh(stored["refresh_token"]).json or {})["error"] == "invalid_target"


def test_client_credentials_grant_accepts_resource(world: World) -> None:
    robot = world.application(
        "robot", grant_types=["client_credentials"], access_token_format="jwt", resources=[ORDERS]
    )
    answer = robot.back("token", {"grant_type": "client_credentials", "resource": ORDERS, **robot.client_credentials()})
    assert claims_in((answer.json or {})["access_token"])["aud"] == ORDERS


def test_signed_access_token_is_refused_as_id_token_hint(world: World, ada: Person) -> None:
    """Both tokens have the client as audience; the `typ` header distinguishes them (RFC 9068 section 5)."""
    shop = world.application("shop", access_token_format="jwt")
    browser = world.browser()
    body = shop.redeem(browser.code(shop, ada)).json or {}
    step = browser.authorize(shop.authorization_parameters(prompt="none", id_token_hint=body["access_token"]))
    assert "code=" not in (step.address or "")
