"""Userinfo and introspection, however they are asked, and whatever the token is."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.contract import errors
from app.contract.oauth import oauth_metadata, oauth_token_operations
from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.rate_limits import REFUSED_CLIENT
from app.kit import randomness
from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time

USERINFO, INTROSPECT = "/service/oidc/userinfo", "/api/oidc/introspect"


def token_of(client: RelyingParty, browser: Browser, person: Person, **changed: str | None) -> str:
    stored: dict[str, Any] = client.redeem(browser.code(client, person, **changed)).get_json()
    return str(stored["access_token"])


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


SCOPES = ("openid", "openid email profile address phone", "openid email offline_access")


@pytest.mark.both_databases
def test_userinfo_costs_one_statement_for_each_scope(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    for scope in SCOPES:
        token = token_of(shop, browser, ada, scope=scope)
        answer = shop.userinfo(token)
        assert (answer.status_code, answer.get_json()["sub"]) == (200, ada.uid), scope
        assert answer.headers["X-Gatehouse-Cost"].startswith("api=1; sql=1; commits=0;")


@pytest.mark.parametrize(
    "settings",
    [
        {"subject_type": "pairwise"}, {"userinfo_signed_response_alg": "RS256"},
        {"claims_mapping": {"userinfo": {"nickname": "FirstName"}}}, {"access_token_format": "jwt"},
    ],
    ids=["pairwise", "signed", "mapped", "jwt"],
)  # fmt: skip
def test_settings_of_the_application_apply_to_userinfo(
    world: World, browser: Browser, ada: Person, settings: dict[str, Any]
) -> None:
    client = world.application("set", **settings)
    answer = client.userinfo(token_of(client, browser, ada))
    assert answer.status_code == 200


@pytest.mark.parametrize("origin", ["https://shop.example", "https://other.example", "null"])
def test_page_of_the_application_reads_userinfo(world: World, browser: Browser, ada: Person, origin: str) -> None:
    client = world.application("web", cors_origins=["https://shop.example"])
    token = token_of(client, browser, ada)
    answer = client.get(USERINFO, headers=bearer(token, Origin=origin))
    allowed = "https://shop.example" if origin == "https://shop.example" else None
    assert (answer.status_code, answer.headers.get("Access-Control-Allow-Origin")) == (200, allowed)


REQUESTS: dict[str, tuple[int, Callable[[RelyingParty, str], TestResponse]]] = {
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


@pytest.mark.parametrize("name", REQUESTS)
def test_userinfo_answers_each_kind_of_request(shop: RelyingParty, browser: Browser, ada: Person, name: str) -> None:
    status, ask = REQUESTS[name]
    token = token_of(shop, browser, ada)
    answer = ask(shop, token)
    assert answer.status_code == status, answer.text


FACTS: dict[str, tuple[int, dict[str, Any]]] = {
    "a key": (401, {"cnf": {"jkt": "x"}}),
    "a certificate": (401, {"cnf": {"x5t#S256": "x"}}),
    "an organization that it left": (401, {"org_id": "x"}),
    "a server that acts": (200, {"impersonated": True}),
    "an actor": (200, {"act": {"sub": "x@y"}}),
    "what a newer version knows": (200, {"new": 1}),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts_of_a_token_count_at_userinfo(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, name: str
) -> None:
    token, (status, facts) = token_of(shop, browser, ada), FACTS[name]
    set_facts(world, **facts)
    answer = shop.userinfo(token)
    assert answer.status_code == status, answer.text


def test_userinfo_of_ended_tokens_is_refused(
    world: World,
    shop: RelyingParty,
    foreign_shop: RelyingParty,
    browser: Browser,
    ada: Person,
    services: IdentityServices,
) -> None:
    def status_and_error(client: RelyingParty, token: str) -> tuple[int, str]:
        answer = client.userinfo(token)
        return answer.status_code, answer.get_json().get("error", "")

    gone, token = token_of(shop, browser, ada), token_of(shop, browser, ada)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        where = access_tokens.c.token_hash == randomness.digest(gone)
        work.run(update(access_tokens).where(access_tokens.c.tenant_id == world.tenant_id, where).values(scope="email"))
    assert status_and_error(shop, gone) == (403, "insufficient_scope")
    assert status_and_error(foreign_shop, token) == (401, "invalid_token")
    world.change(shop, is_active=False)
    assert status_and_error(shop, token) == (401, "invalid_token")
    world.change(shop, is_active=True)
    shop.back("revoke", {"token": gone, **shop.client_credentials()})
    assert status_and_error(shop, gone) == (401, "invalid_token")
    for column in ("is_active", "is_deleted"):
        ada.set_columns(**{column: column == "is_deleted"})
        assert status_and_error(shop, token) == (401, "invalid_token")
        ada.set_columns(**{column: column != "is_deleted"})
    assert status_and_error(shop, token) == (200, "")
    pass_time(services, days=1)
    assert status_and_error(shop, token) == (401, "invalid_token")


@pytest.mark.parametrize("path", [USERINFO, INTROSPECT])
def test_suspended_tenant_answers_about_no_token(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, path: str
) -> None:
    token = token_of(shop, browser, ada)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        work.run(update(tenants).where(tenants.c.tenant_id == world.tenant_id).values(is_active=False))
    world.services.directory.clear_cache()
    answer = shop.userinfo(token) if path == USERINFO else introspected(shop, token=token)
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
def test_introspection_reads_each_kind_of_token(
    world: World, browser: Browser, ada: Person, method: str, settings: dict[str, Any]
) -> None:
    client = world.application("asks", token_endpoint_auth_method=method, **settings)
    headers = basic(client) if method == "client_secret_basic" else None
    code = browser.code(client, ada, scope="openid email offline_access")
    redeemed = {"grant_type": "authorization_code", "code": code, "redirect_uri": client.redirect_uri}
    body = client.back("token", {**redeemed, **credentials(client, headers)}, headers=headers).get_json()
    for token, is_active in ((body["access_token"], True), (body["refresh_token"], True), ("unknown", False)):
        answer = introspected(client, headers, token=token)
        assert answer.status_code == 200, answer.text
        assert answer.get_json()["active"] is is_active


def test_tokens_of_others_are_inactive(
    world: World, shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    other = world.application("other")
    reader = world.application("reader", resource_server=True)
    token = token_of(shop, browser, ada)
    assert foreign_shop.get(USERINFO).status_code == 401  # reads its tenant
    for client, is_active in ((shop, True), (other, False), (reader, True), (foreign_shop, False)):
        answer = introspected(client, token=token)
        assert answer.get_json()["active"] is is_active, client.name
    set_facts(world, org_id="left", act={"sub": "x@y"}, cnf={"jkt": "x"})
    assert introspected(shop, token=token).get_json() == {"active": False}


INTROSPECTIONS: dict[str, tuple[int, Callable[[RelyingParty, str], TestResponse]]] = {
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
    "a JWT": (200, lambda at, token: introspected(at, {"Accept": oauth_token_operations.INTROSPECTION_JWT}, token=token)),
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


@pytest.mark.parametrize("name", INTROSPECTIONS)
def test_introspection_answers_each_kind_of_request(
    shop: RelyingParty, browser: Browser, ada: Person, name: str
) -> None:
    status, ask = INTROSPECTIONS[name]
    token = token_of(shop, browser, ada)
    answer = ask(shop, token)
    assert answer.status_code == status, answer.text


def test_public_and_inactive_clients_may_not_introspect(
    world: World, phone: RelyingParty, retired: RelyingParty
) -> None:
    for client in (phone, retired):
        answer = introspected(client, token="x")
        assert answer.status_code == 401


def test_introspection_counts_against_the_limits(world: World, shop: RelyingParty) -> None:
    world.change_settings(limits={"token_per_minute_per_client": 2})
    assert shop.get(USERINFO).status_code == 401  # reads the tenant's new settings
    answers = [introspected(shop, token="x") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    other = world.application("guessed")
    for _ in range(REFUSED_CLIENT.amount):
        assert introspected(other, token="x", client_secret="wrong").status_code == 401
    answer = introspected(other, token="x")
    assert answer.status_code == 429


def test_userinfo_asks_for_no_accepted_policy() -> None:
    """OpenID Connect has no such error: the application asks for the acceptance at the next sign-in."""
    assert errors.PrivacyPolicyOutdated not in oauth_metadata.userinfo.every_error
