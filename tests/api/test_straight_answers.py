"""Usual requests of userinfo and introspection are answered by one function, any other as every operation is (decisions/0297).

The tests' servers answer each usual request both ways and compare (`tests/support/straight_answers.py`), in every module.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import update
from tests.support.straight_answers import answered
from werkzeug.test import TestResponse

from app.contract import errors as e
from app.contract import oauth_metadata, oauth_tokens
from app.identity.credentials.tokens.store import access_tokens
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork
from app.identity.protocols.oauth.rate_limits import REFUSED_CLIENT
from app.kit import randomness
from tests.support.identity_service import pass_time
from tests.support.oauth_world import World
from tests.support.relying_party import Browser, Person, RelyingParty

USERINFO, INTROSPECT = "/service/oidc/userinfo", "/api/oidc/introspect"


def token_of(client: RelyingParty, browser: Browser, person: Person, **changed: str | None) -> str:
    held: dict[str, Any] = client.redeem(browser.code(client, person, **changed)).get_json()
    return str(held["access_token"])


def straight(ask: Callable[[], TestResponse]) -> tuple[bool, TestResponse]:
    """Return whether a straight function answered, and the answer."""
    known = len(answered)
    answer = ask()
    return len(answered) > known, answer


def bearer(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **more}


def basic(client: RelyingParty, secret: str | None = None) -> dict[str, str]:
    text = f"{client.client_id}:{secret or client.secret}"
    return {"Authorization": f"Basic {b64encode(text.encode()).decode()}"}


def set_facts(world: World, **facts: Any) -> None:
    """Give every access token of the tenant these facts."""
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        where = access_tokens.c.tenant_id == world.tenant_id
        work.run(update(access_tokens).where(where).values(facts=facts))


USUAL_SCOPES = ("openid", "openid email profile address phone", "openid email offline_access")


@pytest.mark.both_databases
def test_usual_userinfo_is_answered_straight(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    for scope in USUAL_SCOPES:
        token = token_of(shop, browser, ada, scope=scope)
        is_straight, answer = straight(lambda: shop.userinfo(token))  # noqa: B023 - called here
        assert (is_straight, answer.status_code, answer.get_json()["sub"]) == (True, 200, ada.uid), scope
        assert answer.headers["X-Gatehouse-Cost"].startswith("api=1; sql=1; commits=0;")


@pytest.mark.parametrize(
    "settings",
    [
        {"subject_type": "pairwise"}, {"userinfo_signed_response_alg": "RS256"},
        {"claims_mapping": {"userinfo": {"nickname": "FirstName"}}}, {"access_token_format": "jwt"},
    ],
    ids=["pairwise", "signed", "mapped", "jwt"],
)  # fmt: skip
def test_settings_of_applications_count_alike(
    world: World, browser: Browser, ada: Person, settings: dict[str, Any]
) -> None:
    client = world.application("set", **settings)
    is_straight, answer = straight(lambda: client.userinfo(token_of(client, browser, ada)))
    assert (is_straight, answer.status_code) == (True, 200)


@pytest.mark.parametrize("origin", ["https://shop.example", "https://other.example", "null"])
def test_web_origins_count_alike(world: World, browser: Browser, ada: Person, origin: str) -> None:
    client = world.application("web", cors_origins=["https://shop.example"])
    token = token_of(client, browser, ada)
    is_straight, answer = straight(lambda: client.get(USERINFO, headers=bearer(token, Origin=origin)))
    allowed = "https://shop.example" if origin == "https://shop.example" else None
    assert (is_straight, answer.headers.get("Access-Control-Allow-Origin")) == (True, allowed)


UNUSUAL_USERINFO: dict[str, tuple[int, Callable[[RelyingParty, str], TestResponse]]] = {
    "HEAD": (200, lambda at, token: at.wsgi.head(USERINFO, base_url=at.hub_url, headers=bearer(token))),
    "POST": (200, lambda at, token: at.post(USERINFO, headers=bearer(token))),
    "in the body": (200, lambda at, token: at.post(USERINFO, {"access_token": token})),
    "in the query": (400, lambda at, token: at.get(USERINFO, query_string={"access_token": token})),
    "twice": (400, lambda at, token: at.get(USERINFO, query_string={"access_token": token}, headers=bearer(token))),
    "a query": (200, lambda at, token: at.get(USERINFO, query_string={"a": "b"}, headers=bearer(token))),
    "a dangerous query": (400, lambda at, token: at.get(USERINFO, query_string={"a": "<b>"}, headers=bearer(token))),
    "a body": (200, lambda at, token: at.get(USERINFO, data=b"x", headers=bearer(token))),
    "DPoP": (401, lambda at, token: at.get(USERINFO, headers={"Authorization": f"DPoP {token}"})),
    "Basic": (401, lambda at, token: at.get(USERINFO, headers={"Authorization": f"Basic {token}"})),
    "no token": (401, lambda at, _: at.get(USERINFO)),
    "an empty token": (401, lambda at, _: at.get(USERINFO, headers={"Authorization": "Bearer  "})),
    "an unknown token": (401, lambda at, token: at.get(USERINFO, headers=bearer(token[:-1]))),
    "its application": (200, lambda at, token: at.at_own_issuer().userinfo(token)),
    "another application": (401, lambda at, token: at.get("/service/oidc/Other/userinfo", headers=bearer(token))),
    "the key": (200, lambda at, token: at.get(USERINFO, headers=bearer(token, **{"X-Acme-ApiKey": at.api_key}))),
    "a wrong key": (403, lambda at, token: at.get(USERINFO, headers=bearer(token, **{"X-Acme-ApiKey": "x"}))),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL_USERINFO)
def test_unusual_userinfo_is_answered_generally(shop: RelyingParty, browser: Browser, ada: Person, name: str) -> None:
    status, ask = UNUSUAL_USERINFO[name]
    token = token_of(shop, browser, ada)
    is_straight, answer = straight(lambda: ask(shop, token))
    assert (is_straight, answer.status_code) == (False, status), answer.text


FACTS: dict[str, tuple[int, dict[str, Any]]] = {
    "a key": (401, {"cnf": {"jkt": "x"}}),
    "a certificate": (401, {"cnf": {"x5t#S256": "x"}}),
    "an organization that it left": (401, {"org_id": "x"}),
    "a server that acts": (200, {"impersonated": True}),
    "an actor": (200, {"act": {"sub": "x@y"}}),
    "what a newer version knows": (200, {"new": 1}),
}


@pytest.mark.parametrize("name", FACTS)
def test_bound_and_acting_tokens_are_answered_generally(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, name: str
) -> None:
    token, (status, facts) = token_of(shop, browser, ada), FACTS[name]
    set_facts(world, **facts)
    is_straight, answer = straight(lambda: shop.userinfo(token))
    assert (is_straight, answer.status_code) == (False, status), answer.text


def test_refused_userinfo_is_answered_generally(
    world: World, shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person, services: Services
) -> None:
    def refused(client: RelyingParty, token: str) -> tuple[bool, int, str]:
        is_straight, answer = straight(lambda: client.userinfo(token))
        return is_straight, answer.status_code, answer.get_json().get("error", "")

    gone, token = token_of(shop, browser, ada), token_of(shop, browser, ada)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        where = access_tokens.c.token_hash == randomness.digest(gone)
        work.run(update(access_tokens).where(access_tokens.c.tenant_id == world.tenant_id, where).values(scope="email"))
    assert refused(shop, gone) == (False, 403, "insufficient_scope")
    assert refused(foreign_shop, token) == (False, 401, "invalid_token")
    world.change(shop, is_active=False)
    assert refused(shop, token) == (False, 401, "invalid_token")
    world.change(shop, is_active=True)
    shop.back("revoke", {"token": gone, **shop.client_credentials()})
    assert refused(shop, gone) == (False, 401, "invalid_token")
    for column in ("is_active", "is_deleted"):
        ada.set_columns(**{column: column == "is_deleted"})
        assert refused(shop, token) == (False, 401, "invalid_token")
        ada.set_columns(**{column: column != "is_deleted"})
    assert refused(shop, token) == (True, 200, "")
    pass_time(services, days=1)
    assert refused(shop, token) == (False, 401, "invalid_token")


@pytest.mark.parametrize("path", [USERINFO, INTROSPECT])
def test_suspended_tenant_gets_no_straight_answer(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, path: str
) -> None:
    token = token_of(shop, browser, ada)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        work.run(update(tenants).where(tenants.c.tenant_id == world.tenant_id).values(is_active=False))
    world.services.directory.clear_cache()
    is_straight, answer = straight(
        lambda: shop.userinfo(token) if path == USERINFO else introspected(shop, token=token)
    )
    assert is_straight is False
    assert answer.status_code in (403, 404)


def credentials(client: RelyingParty, headers: dict[str, str] | None) -> dict[str, str | None]:
    """Return the client's credentials for the form, unless the headers have them."""
    return {} if headers and "Authorization" in headers else client.client_credentials()


def introspected(client: RelyingParty, headers: dict[str, str] | None = None, **form: str | None) -> TestResponse:
    return client.post(INTROSPECT, {**credentials(client, headers), **form}, headers=headers)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"access_token_format": "jwt"}, {"subject_type": "pairwise"}, {"resource_server": True}],
    ids=["plain", "jwt", "pairwise", "resource server"],
)
def test_usual_introspection_is_answered_straight(
    world: World, browser: Browser, ada: Person, method: str, settings: dict[str, Any]
) -> None:
    client = world.application("asks", token_endpoint_auth_method=method, **settings)
    headers = basic(client) if method == "client_secret_basic" else None
    code = browser.code(client, ada, scope="openid email offline_access")
    redeemed = {"grant_type": "authorization_code", "code": code, "redirect_uri": client.redirect_uri}
    held = client.back("token", {**redeemed, **credentials(client, headers)}, headers=headers).get_json()
    for token, is_active in ((held["access_token"], True), (held["refresh_token"], True), ("unknown", False)):
        is_straight, answer = straight(lambda: introspected(client, headers, token=token))  # noqa: B023 - called here
        assert (is_straight, answer.status_code) == (True, 200), answer.text
        assert answer.get_json()["active"] is is_active


def test_tokens_of_others_are_inactive_alike(
    world: World, shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    other = world.application("other")
    reader = world.application("reader", resource_server=True)
    token = token_of(shop, browser, ada)
    assert foreign_shop.get(USERINFO).status_code == 401  # reads its tenant
    for client, is_active in ((shop, True), (other, False), (reader, True), (foreign_shop, False)):
        is_straight, answer = straight(lambda: introspected(client, token=token))  # noqa: B023 - called here
        assert (is_straight, answer.get_json()["active"]) == (True, is_active), client.name
    set_facts(world, org_id="left", act={"sub": "x@y"}, cnf={"jkt": "x"})
    assert straight(lambda: introspected(shop, token=token))[1].get_json() == {"active": False}


UNUSUAL_INTROSPECTION: dict[str, tuple[int, Callable[[RelyingParty, str], TestResponse]]] = {
    "JSON": (200, lambda at, token: at.wsgi.post(INTROSPECT, base_url=at.hub_url, json={"token": token, **at.client_credentials()})),
    "text": (400, lambda at, _: at.wsgi.post(INTROSPECT, base_url=at.hub_url, data=b"token=x", content_type="text/plain")),
    "no token": (400, lambda at, _: introspected(at)),
    "an empty token": (400, lambda at, _: introspected(at, token="")),
    "a field of another kind": (200, lambda at, token: introspected(at, token=token, more="x")),
    "a repeated field": (400, lambda at, token: form(at, urlencode([("token", token), ("token", token), *pairs(at)]))),
    "another letter case": (200, lambda at, token: introspected(at, Token=token)),
    "a query": (200, lambda at, token: at.post(INTROSPECT, {"token": token, **at.client_credentials()}, query_string={"a": "b"})),
    "no credentials": (401, lambda at, token: at.post(INTROSPECT, {"token": token})),
    "no secret": (401, lambda at, token: at.post(INTROSPECT, {"token": token, "client_id": at.client_id})),
    "a wrong secret": (401, lambda at, token: introspected(at, token=token, client_secret="wrong")),
    "an unknown client": (401, lambda at, token: introspected(at, token=token, client_id="unknown")),
    "a long client": (401, lambda at, token: introspected(at, token=token, client_id="x" * 129)),
    "a document": (401, lambda at, token: introspected(at, token=token, client_id="https://app.example/client")),
    "two ways": (400, lambda at, token: introspected(at, basic(at), token=token, **at.client_credentials())),
    "another method": (401, lambda at, token: introspected(at, basic(at), token=token)),
    "a broken header": (400, lambda at, token: introspected(at, {"Authorization": "Basic !"}, token=token)),
    "an assertion": (400, lambda at, token: introspected(at, token=token, client_assertion="x")),
    "a JWT": (200, lambda at, token: introspected(at, {"Accept": oauth_tokens.INTROSPECTION_JWT}, token=token)),
    "its application": (200, lambda at, token: at.at_own_issuer().back("introspect", {"token": token, **at.client_credentials()})),
    "a control character": (400, lambda at, token: introspected(at, token=f"{token}\0")),
    "markup": (400, lambda at, token: introspected(at, token=f"<script>{token}")),
    "not UTF-8": (400, lambda at, _: form(at, b"token=\xff")),
    "the key": (200, lambda at, token: introspected(at, {"X-Acme-ApiKey": at.api_key}, token=token)),
}  # fmt: skip


def form(client: RelyingParty, body: str | bytes) -> TestResponse:
    """Send a body as a form."""
    kind = "application/x-www-form-urlencoded"
    return client.wsgi.post(INTROSPECT, base_url=client.hub_url, data=body, content_type=kind)


def pairs(client: RelyingParty) -> list[tuple[str, str]]:
    return [(name, value or "") for name, value in client.client_credentials().items()]


@pytest.mark.parametrize("name", UNUSUAL_INTROSPECTION)
def test_unusual_introspection_is_answered_generally(
    shop: RelyingParty, browser: Browser, ada: Person, name: str
) -> None:
    status, ask = UNUSUAL_INTROSPECTION[name]
    token = token_of(shop, browser, ada)
    is_straight, answer = straight(lambda: ask(shop, token))
    assert (is_straight, answer.status_code) == (False, status), answer.text


def test_public_and_inactive_clients_are_refused_generally(
    world: World, phone: RelyingParty, retired: RelyingParty
) -> None:
    for client in (phone, retired):
        is_straight, answer = straight(lambda: introspected(client, token="x"))  # noqa: B023 - called here
        assert (is_straight, answer.status_code) == (False, 401)


def test_limits_of_introspection_count_alike(world: World, shop: RelyingParty) -> None:
    world.change_settings(limits={"token_per_minute_per_client": 2})
    assert shop.get(USERINFO).status_code == 401  # reads the tenant's new settings
    answers = [straight(lambda: introspected(shop, token="x")) for _ in range(3)]
    assert [(is_straight, answer.status_code) for is_straight, answer in answers] == [
        (True, 200),
        (True, 200),
        (False, 429),
    ]
    other = world.application("guessed")
    for _ in range(REFUSED_CLIENT.amount):
        assert introspected(other, token="x", client_secret="wrong").status_code == 401
    is_straight, answer = straight(lambda: introspected(other, token="x"))
    assert (is_straight, answer.status_code) == (False, 429)


def test_broken_straight_function_is_answered_generally(
    shop: RelyingParty, browser: Browser, ada: Person, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    token = token_of(shop, browser, ada)
    monkeypatch.setattr("app.identity.entry.straight._context", lambda *_: 1 / 0)
    is_straight, answer = straight(lambda: shop.userinfo(token))
    assert (is_straight, answer.status_code) == (False, 200)
    assert [record.message for record in caplog.records] == ["straight.broke"]


def test_userinfo_asks_for_no_accepted_policy() -> None:
    """Admission asks only where an operation may answer 1194; the straight function never does."""
    assert e.PrivacyPolicyOutdated not in oauth_metadata.userinfo.every_error
