"""Refresh tokens: rotation, reuse, narrowing."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.contract.steps import ConsentStep
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, moved, parameters_of
from tests.support.oauth.world import World
from tests.support.races import at_once


def tokens(client: RelyingParty, browser: Browser, person: Person, **changed: str | None) -> dict[str, Any]:
    stored: dict[str, Any] = client.redeem(browser.code(client, person, **changed)).get_json()
    return stored


def test_refresh_token_rotates(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    first = tokens(shop, browser, ada, nonce="a nonce")
    second = shop.refresh(first["refresh_token"]).json or {}
    assert second["refresh_token"] != first["refresh_token"]
    assert second["access_token"] != first["access_token"]
    assert shop.refresh(second["refresh_token"]).status_code == 200


def test_tokens_are_long_enough_not_to_be_guessed(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 6749 section 10.10; the access token keeps the interface's form, all of whose 128 bits are random."""
    stored = tokens(shop, browser, ada)
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", stored["refresh_token"])
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", stored["access_token"])


def test_refreshed_id_token_keeps_claims_of_sign_in(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    first = tokens(shop, browser, ada, nonce="a nonce")
    before = claims_in(first["id_token"])
    after = claims_in((shop.refresh(first["refresh_token"]).json or {})["id_token"])
    for name in ("iss", "sub", "aud", "azp", "auth_time", "sid", "amr", "acr"):
        assert after[name] == before[name]
    assert "nonce" not in after


def test_refresh_token_reuse_revokes_family(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    first = tokens(shop, browser, ada)
    second = shop.refresh(first["refresh_token"]).json or {}
    again = shop.refresh(first["refresh_token"])
    assert (again.status_code, (again.json or {})["error"]) == (400, "invalid_grant")
    assert shop.refresh(second["refresh_token"]).status_code == 400
    for item in (first, second):
        assert shop.userinfo(item["access_token"]).status_code == 401


def test_reuse_keeps_other_authorizations_of_account(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stolen, other = tokens(shop, browser, ada), tokens(shop, browser, ada)
    shop.refresh(stolen["refresh_token"])
    shop.refresh(stolen["refresh_token"])
    assert shop.refresh(other["refresh_token"]).status_code == 200


@pytest.mark.both_databases
def test_parallel_refreshes_succeed_once(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    statuses = at_once([lambda: shop.refresh(stored["refresh_token"]).status_code] * 20)
    assert sorted(statuses) == [200, *[400] * 19]


def test_refresh_token_of_another_client_is_refused_and_stays(
    shop: RelyingParty, strict: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = tokens(shop, browser, ada)
    assert strict.refresh(stored["refresh_token"]).status_code == 400
    assert shop.refresh(stored["refresh_token"]).status_code == 200


def test_reuse_by_another_client_revokes_nothing(
    shop: RelyingParty, strict: RelyingParty, browser: Browser, ada: Person
) -> None:
    first = tokens(shop, browser, ada)
    second = shop.refresh(first["refresh_token"]).json or {}
    assert strict.refresh(first["refresh_token"]).status_code == 400
    assert shop.refresh(second["refresh_token"]).status_code == 200


@pytest.mark.both_databases
def test_refresh_token_of_another_tenant_is_refused(
    shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = tokens(shop, browser, ada)
    assert foreign_shop.refresh(stored["refresh_token"]).status_code == 400
    assert shop.refresh(stored["refresh_token"]).status_code == 200


def test_refresh_token_is_bound_to_issuer(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    assert shop.at_own_issuer().refresh(stored["refresh_token"]).status_code == 400
    assert shop.refresh(stored["refresh_token"]).status_code == 200


def test_refreshed_scope_never_exceeds_grant(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    narrow = shop.refresh(stored["refresh_token"], scope="openid email").json or {}
    assert narrow["scope"] == "openid email"
    assert "name" not in (shop.userinfo(narrow["access_token"]).json or {})
    wide = shop.refresh(narrow["refresh_token"], scope="openid email phone")
    assert (wide.status_code, (wide.json or {})["error"]) == (400, "invalid_scope")
    for missing in (None, "", " "):
        complete = shop.refresh(narrow["refresh_token"], scope=missing).json or {}
        assert complete["scope"] == "openid profile email"
        narrow = complete


def test_client_without_refresh_grant_gets_no_refresh_token(world: World, browser: Browser, ada: Person) -> None:
    plain = world.application("plain", grant_types=["authorization_code"])
    stored = tokens(plain, browser, ada)
    assert "refresh_token" not in stored
    answer = plain.refresh("anything")
    assert (answer.status_code, (answer.json or {})["error"]) == (403, "unauthorized_client")


def test_token_lifetimes_follow_client_settings(
    services: IdentityServices, world: World, browser: Browser, ada: Person
) -> None:
    brief = world.application("brief", access_token_seconds=60, refresh_token_seconds=600, id_token_seconds=120)
    stored = tokens(brief, browser, ada)
    assert (stored["expires_in"], stored["expire_in"]) == (60, "60")
    with moved(services, seconds=61):
        assert brief.userinfo(stored["access_token"]).status_code == 401
        assert brief.introspect(stored["access_token"]) == {"active": False}
    with moved(services, seconds=601):
        assert brief.refresh(stored["refresh_token"]).status_code == 400


def test_refresh_of_closed_account_is_refused(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    ada.close()
    answer = shop.refresh(stored["refresh_token"])
    assert (answer.status_code, (answer.json or {})["error"]) == (400, "invalid_grant")


@pytest.mark.both_databases
def test_reuse_revokes_family_that_rotates_concurrently(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    def rotate(stored: dict[str, Any]) -> list[dict[str, Any]]:
        chain = [stored]
        while (answer := shop.refresh(chain[-1]["refresh_token"])).status_code == 200:
            chain.append(answer.json or {})
        return chain

    for _ in range(8):
        first = tokens(shop, browser, ada)
        second = shop.refresh(first["refresh_token"]).json or {}
        with ThreadPoolExecutor(2) as pool:
            chain, _ = pool.submit(rotate, second), pool.submit(shop.refresh, first["refresh_token"])
        for item in chain.result():
            assert shop.userinfo(item["access_token"]).status_code == 401
            assert shop.refresh(item["refresh_token"]).status_code == 400


@pytest.fixture
def offline(world: World) -> RelyingParty:
    return world.application("offline", refresh_tokens="offline_access")


def test_refresh_token_comes_with_offline_access_alone_where_set(
    offline: RelyingParty, browser: Browser, ada: Person
) -> None:
    """OpenID Connect Core section 11: and with consent, although the application needs none otherwise."""
    assert "refresh_token" not in tokens(offline, browser, ada)
    parameters = offline.authorization_parameters(scope="openid offline_access")
    assert parameters_of(browser.authorize({**parameters, "prompt": "none"}))["error"] == "consent_required"
    step = browser.authorize(parameters)
    assert (step.kind, [scope.name for scope in step.scopes]) == (ConsentStep, ["openid", "offline_access"])
    first = offline.redeem(code_of(browser.consent(step.interaction_id or "", allow=True))).json or {}
    narrow = offline.refresh(first["refresh_token"], scope="openid").json or {}
    assert (narrow["scope"], offline.refresh(narrow["refresh_token"]).status_code) == ("openid", 200)
    assert "code" in parameters_of(browser.authorize({**parameters, "prompt": "none"})), "the consent is remembered"


def test_denied_offline_access_gets_no_code(offline: RelyingParty, browser: Browser, ada: Person) -> None:
    parameters = offline.authorization_parameters(scope="openid offline_access")
    step = browser.signed_in(ada).authorize(parameters)
    assert parameters_of(browser.consent(step.interaction_id or "", allow=False))["error"] == "access_denied"


def test_setting_ends_families_without_offline_access(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = tokens(shop, browser, ada)
    world.change(shop, refresh_tokens="offline_access")
    last = shop.refresh(stored["refresh_token"]).json or {}
    assert ("access_token" in last, "refresh_token" in last) == (True, False)


def test_password_grant_follows_the_setting(world: World, ada: Person) -> None:
    older = world.application("older", grant_types=["password", "refresh_token"], refresh_tokens="offline_access")
    form = {"grant_type": "password", "username": ada.email, "password": ada.password, **older.client_credentials()}
    for scope, has_refresh_token in (("openid", False), ("openid offline_access", True)):
        assert ("refresh_token" in (older.back("token", {**form, "scope": scope}).json or {})) is has_refresh_token
