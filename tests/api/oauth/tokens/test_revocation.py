"""Token revocation, rule by rule (RFC 7009 sections 2.1 and 2.2)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.world import World


def tokens_of(client: RelyingParty, browser: Browser, person: Person, **changed: str) -> dict[str, Any]:
    answer = client.redeem(browser.code(client, person, **changed))
    assert answer.status_code == 200, answer.text
    return answer.json or {}


def revoke(client: RelyingParty, token: str, **changed: str | None) -> tuple[int, str]:
    answer = client.back("revoke", {"token": token, **client.client_credentials(), **changed})
    return answer.status_code, (answer.json or {}).get("error", "") if answer.data else ""


def is_valid(client: RelyingParty, token: str) -> bool:
    return client.userinfo(token).status_code == 200


def test_access_token_is_revoked_alone(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 7009 section 2.1: the authorization server may keep the refresh token."""
    stored = tokens_of(shop, browser, ada)
    assert revoke(shop, stored["access_token"]) == (200, "")
    assert not is_valid(shop, stored["access_token"])
    assert shop.refresh(stored["refresh_token"]).status_code == 200


def test_refresh_token_takes_its_access_tokens_along(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 7009 section 2.1: all access tokens of the same grant; those of another grant stay."""
    stored, other = tokens_of(shop, browser, ada), tokens_of(shop, browser, ada)
    newer = shop.refresh(stored["refresh_token"]).json or {}
    assert revoke(shop, newer["refresh_token"]) == (200, "")
    assert [is_valid(shop, item["access_token"]) for item in (stored, newer, other)] == [False, False, True]
    assert shop.refresh(newer["refresh_token"]).status_code == 400
    assert shop.refresh(other["refresh_token"]).status_code == 200


@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "unheard_of", "", "x" * 5_000])
@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_hint_is_only_a_hint(shop: RelyingParty, browser: Browser, ada: Person, kind: str, hint: str) -> None:
    """RFC 7009 section 2.1: with a wrong hint the server searches all kinds of tokens, and an unknown one it ignores."""
    stored = tokens_of(shop, browser, ada)
    assert revoke(shop, stored[kind], token_type_hint=hint) == (200, "")
    assert not is_valid(shop, stored["access_token"])


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_token_of_another_client_stays(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, kind: str
) -> None:
    """RFC 7009 section 2.1: a token is revoked by the client that it was issued to; the answer does not tell."""
    stored = tokens_of(shop, browser, ada)
    thief = world.application("thief", client_id="thief")
    assert revoke(thief, stored[kind]) == (200, "")
    assert is_valid(shop, stored["access_token"])
    assert shop.refresh(stored["refresh_token"]).status_code == 200


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_token_of_another_tenant_stays(
    shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person, kind: str
) -> None:
    stored = tokens_of(shop, browser, ada)
    assert revoke(foreign_shop, stored[kind]) == (200, "")
    assert is_valid(shop, stored["access_token"])


@pytest.mark.parametrize("token", ["never issued", "a.b.c", "\N{SNOWMAN}", "x" * 10_000])
def test_invalid_token_is_no_error(shop: RelyingParty, token: str) -> None:
    """RFC 7009 section 2.2: the client could not handle the error in a reasonable way."""
    assert revoke(shop, token) == (200, "")


def test_second_revocation_is_no_error(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens_of(shop, browser, ada)
    assert [revoke(shop, stored["refresh_token"]) for _ in range(2)] == [(200, "")] * 2


def test_signed_access_token_is_revoked(machine_readable: RelyingParty, browser: Browser, ada: Person) -> None:
    """Self-contained tokens too; introspection and userinfo refuse it at once."""
    token = tokens_of(machine_readable, browser, ada)["access_token"]
    assert token.count(".") == 2
    assert is_valid(machine_readable, token)
    assert revoke(machine_readable, token) == (200, "")
    assert not is_valid(machine_readable, token)
    assert machine_readable.introspect(token) == {"active": False}


def test_public_client_revokes_its_tokens_by_its_id(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 7009 section 2.1: a public client is identified, and the token is checked to be its own."""
    challenge = {"code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256"}
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    body = phone.redeem(browser.code(phone, ada, **challenge), code_verifier=verifier).json or {}
    assert revoke(phone, body["refresh_token"], client_secret=None) == (200, "")
    assert not is_valid(phone, body["access_token"])


def test_client_must_authenticate(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 7009 section 2.1, RFC 6749 section 5.2."""
    stored = tokens_of(shop, browser, ada)
    assert revoke(shop, stored["access_token"], client_secret="wrong") == (401, "invalid_client")
    assert revoke(shop, stored["access_token"], client_secret=None) == (401, "invalid_client")
    assert revoke(shop, stored["access_token"], client_id="absent") == (401, "invalid_client")
    assert is_valid(shop, stored["access_token"])


def test_malformed_request_is_refused(shop: RelyingParty) -> None:
    """RFC 7009 section 2.2.1: errors of RFC 6749 section 5.2; a token comes in a POST, never in an address."""
    assert (shop.back("revoke", shop.client_credentials()).json or {})["error"] == "invalid_request"
    twice = f"token=a&token=b&client_id=shop&client_secret={quote(str(shop.secret))}"
    form = "application/x-www-form-urlencoded"
    answer = shop.wsgi.post("/api/oidc/revoke", data=twice, content_type=form, base_url=shop.hub_url)
    assert (answer.json or {})["error"] == "invalid_request"
    assert shop.get("/api/oidc/revoke", query_string={"token": "a"}).status_code in (404, 405)


@pytest.mark.both_databases
def test_revocation_serves_browsers_of_registered_origins(world: World) -> None:
    """CORS, for clients in a browser."""
    shop = world.application("spa", secret=None, cors_origins=["https://spa.example"])
    answer = shop.post(
        "/api/oidc/revoke", {"token": "x", "client_id": shop.client_id}, headers={"Origin": "https://spa.example"}
    )
    assert answer.headers["Access-Control-Allow-Origin"] == "https://spa.example"
