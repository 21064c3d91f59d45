"""Token requests, however they are sent."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from werkzeug.test import TestResponse

from app.identity.protocols.oauth.grants import GRANTS
from app.identity.protocols.oauth.rate_limits import REFUSED_CLIENT
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty
from tests.support.oauth.world import World

TOKEN, FORM = "/api/oidc/token", "application/x-www-form-urlencoded"
METHODS = ["client_secret_post", "client_secret_basic", "none"]


def basic(client: RelyingParty) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{client.client_id}:{client.secret}'.encode()).decode()}"}


@pytest.mark.both_databases
@pytest.mark.parametrize("method", METHODS)
def test_code_is_redeemed_by_each_method(world: World, browser: Browser, ada: Person, method: str) -> None:
    secret = None if method == "none" else "a secret of the application"
    client = world.application("asks", secret=secret, token_endpoint_auth_method=method)
    headers = basic(client) if method == "client_secret_basic" else None
    named = {} if headers else client.client_credentials()
    proof = Pkce()
    code = browser.code(client, ada, code_challenge=proof.challenge)
    parameters = {"grant_type": "authorization_code", "code": code, "redirect_uri": client.redirect_uri, **named}
    for verifier, status in (("v" * 43, 400), (proof.verifier, 200), (proof.verifier, 400)):
        sent = {**parameters, "code_verifier": verifier}
        answer = client.post(TOKEN, sent, headers=headers)
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize("grant", ["authorization_code", "refresh_token", "client_credentials"])
def test_each_grant_is_answered(world: World, browser: Browser, ada: Person, grant: str) -> None:
    kinds = ["authorization_code", "refresh_token", "client_credentials"]
    client = world.application("asks", grant_types=kinds)
    body = client.redeem(browser.code(client, ada, scope="openid offline_access")).get_json()
    forms: Mapping[str, dict[str, Any]] = {
        "authorization_code": {"code": browser.code(client, ada), "redirect_uri": client.redirect_uri},
        "refresh_token": {"refresh_token": body["refresh_token"]},
        "client_credentials": {"scope": ""},
    }
    form = {"grant_type": grant, **client.client_credentials(), **{k: v for k, v in forms[grant].items() if v}}
    answer = client.post(TOKEN, form)
    assert answer.status_code == 200, answer.text


REQUESTS: Mapping[str, tuple[int, Callable[[RelyingParty, dict[str, Any]], TestResponse]]] = {
    "JSON": (200, lambda at, item: at.wsgi.post(TOKEN, base_url=at.hub_url, json=item)),
    "a field of another kind": (200, lambda at, item: at.post(TOKEN, {**item, "more": "x"})),
    "an empty field": (200, lambda at, item: at.post(TOKEN, {**item, "scope": ""})),
    "a repeated field": (400, lambda at, item: form(at, urlencode([*item.items(), ("code", "x")]))),
    "another letter case": (200, lambda at, item: at.post(TOKEN, {"Code" if k == "code" else k: v for k, v in item.items()})),
    "a query": (200, lambda at, item: at.post(TOKEN, item, query_string={"a": "b"})),
    "no grant": (400, lambda at, item: at.post(TOKEN, {k: v for k, v in item.items() if k != "grant_type"})),
    "no credentials": (401, lambda at, item: at.post(TOKEN, {k: v for k, v in item.items() if "client" not in k})),
    "no secret": (401, lambda at, item: at.post(TOKEN, {k: v for k, v in item.items() if k != "client_secret"})),
    "a wrong secret": (401, lambda at, item: at.post(TOKEN, {**item, "client_secret": "wrong"})),
    "an unknown client": (401, lambda at, item: at.post(TOKEN, {**item, "client_id": "unknown"})),
    "two ways": (400, lambda at, item: at.post(TOKEN, item, headers=basic(at))),
    "its application": (400, lambda at, item: at.at_own_issuer().back("token", item)),
    "a control character": (400, lambda at, item: at.post(TOKEN, {**item, "scope": "a\0"})),
    "markup": (400, lambda at, item: at.post(TOKEN, {**item, "scope": "<script>"})),
    "not UTF-8": (400, lambda at, _: form(at, b"grant_type=\xff")),
    "the key": (200, lambda at, item: at.post(TOKEN, item, headers={"X-Acme-ApiKey": at.api_key})),
}  # fmt: skip


def form(client: RelyingParty, body: str | bytes) -> TestResponse:
    """Send a body as a form."""
    return client.wsgi.post(TOKEN, base_url=client.hub_url, data=body, content_type=FORM)


@pytest.mark.parametrize("name", REQUESTS)
def test_each_kind_of_token_request_is_answered(shop: RelyingParty, browser: Browser, ada: Person, name: str) -> None:
    status, ask = REQUESTS[name]
    stored = {"grant_type": "authorization_code", "redirect_uri": shop.redirect_uri, **shop.client_credentials()}
    stored["code"] = browser.code(shop, ada)
    answer = ask(shop, stored)
    assert answer.status_code == status, answer.text


def test_inactive_client_gets_no_token(retired: RelyingParty) -> None:
    stored = {"grant_type": "authorization_code", "code": "x", **retired.client_credentials()}
    answer = retired.post(TOKEN, stored)
    assert answer.status_code == 401


def test_limits_of_token_requests_count_once(world: World, shop: RelyingParty) -> None:
    world.change_settings(limits={"token_per_minute_per_client": 2})
    assert shop.get("/service/oidc/userinfo").status_code == 401  # reads the tenant's new settings
    stored = {"grant_type": "authorization_code", "code": "x", "redirect_uri": "x", **shop.client_credentials()}
    answers = [shop.post(TOKEN, stored) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [400, 400, 429]


def test_guessed_secret_is_refused_after_the_limit(world: World) -> None:
    client = world.application("guessed")
    stored = {"grant_type": "authorization_code", "code": "x", "redirect_uri": "x", **client.client_credentials()}
    for _ in range(REFUSED_CLIENT.amount):
        assert client.post(TOKEN, {**stored, "client_secret": "wrong"}).status_code == 401
    answer = client.post(TOKEN, stored)
    assert answer.status_code == 429


@pytest.mark.parametrize("name", [name for name, grant in GRANTS.items() if grant.is_confidential])
def test_public_client_may_not_use_grants_of_confidential_ones(world: World, name: str) -> None:
    """Also where it is registered for them, which no configuration file can do."""
    public = world.application("public", secret=None, grant_types=[name])
    answer = public.back("token", {"grant_type": name, **public.client_credentials()})
    assert (answer.status_code, answer.get_json()["error"]) == (403, "unauthorized_client")
    assert "public client" in answer.get_json()["error_description"]


def test_grants_without_a_person_are_of_confidential_clients() -> None:
    machines = {"client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"}
    exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    assert {name for name, grant in GRANTS.items() if grant.is_confidential} == {*machines, exchange}
