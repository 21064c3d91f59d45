"""Lifetimes of tokens: bound to the session, or offline with an absolute end."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app.contract.steps import SignedOutStep
from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, moved
from tests.support.oauth.world import NewWorld, World

OFFLINE = "openid offline_access"
DAY = 86_400


def tokens(client: RelyingParty, browser: Browser, person: Person, scope: str = "openid") -> dict[str, Any]:
    stored: dict[str, Any] = client.redeem(browser.code(client, person, scope=scope)).get_json()
    return stored


def is_valid(client: RelyingParty, stored: dict[str, Any]) -> tuple[bool, bool]:
    """Return whether the access token is valid, and whether the refresh token is (which is spent)."""
    is_good = client.userinfo(stored["access_token"]).status_code == 200
    return is_good, client.refresh(stored["refresh_token"]).status_code == 200


def sessions_of(browser: Browser) -> list[dict[str, Any]]:
    stored: list[dict[str, Any]] = (browser.send("GET", "/hub/own/security", b"").json or {})["Sessions"]
    return stored


def end(browser: Browser, **target: Any) -> None:
    answer = browser.send("POST", "/hub/sessions/end", json.dumps(target).encode())
    assert answer.status_code == 200, answer.text


def test_sign_out_revokes_session_tokens_and_keeps_offline_ones(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stays = world.application("stays", tokens_outlive_session=True)
    bound = tokens(shop, browser, ada)
    offline = tokens(shop, browser, ada, OFFLINE)
    by_setting = tokens(stays, browser, ada)
    assert browser.sign_out(confirmed=True).kind is SignedOutStep
    assert is_valid(shop, bound) == (False, False)
    assert is_valid(shop, offline) == (True, True)
    assert is_valid(stays, by_setting) == (True, True)


def test_rp_initiated_logout_revokes_session_tokens(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    bound, offline = tokens(shop, browser, ada), tokens(shop, browser, ada, OFFLINE)
    browser.sign_out(id_token_hint=bound["id_token"])
    assert is_valid(shop, bound) == (False, False)
    assert is_valid(shop, offline) == (True, True)


def test_narrowed_offline_token_still_outlives_session(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    first = tokens(shop, browser, ada, OFFLINE)
    narrow = shop.refresh(first["refresh_token"], scope="openid").json or {}
    assert claims_in(narrow["id_token"])["sid"] == claims_in(first["id_token"])["sid"]
    browser.sign_out(confirmed=True)
    assert is_valid(shop, narrow) == (True, True)


@pytest.mark.both_databases
def test_revoking_another_session_revokes_its_offline_tokens(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    thief = world.browser()
    stolen, own = tokens(shop, thief, ada, OFFLINE), tokens(shop, browser.signed_in(ada), ada, OFFLINE)
    (other,) = [session["Id"] for session in sessions_of(browser) if not session["IsCurrent"]]
    end(browser, Id=other)
    assert is_valid(shop, stolen) == (False, False)
    assert is_valid(shop, own) == (True, True)


def test_signing_out_other_sessions_revokes_offline_tokens(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stolen = tokens(shop, world.browser(), ada, OFFLINE)
    end(browser.signed_in(ada), Others=True)
    assert is_valid(shop, stolen) == (False, False)


def test_sign_in_of_another_account_revokes_session_tokens(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    bound, offline = tokens(shop, browser, ada), tokens(shop, browser, ada, OFFLINE)
    bob = world.person("bob@example.test")
    browser.sign_in(None, bob.email, bob.password)
    assert is_valid(shop, bound) == (False, False)
    assert is_valid(shop, offline) == (True, True)


def test_session_tokens_end_with_absolute_session_lifetime(services: IdentityServices, new_world: NewWorld) -> None:
    world = new_world(session_absolute_hours=2)
    browser, ada = world.browser(), world.person("ada@example.test")
    long = world.application("long", access_token_seconds=30 * DAY, access_token_format="jwt")
    first = tokens(long, browser, ada)
    assert first["expires_in"] <= 2 * 3600
    stored = claims_in(first["access_token"])
    assert stored["exp"] - stored["iat"] == first["expires_in"]
    with moved(services, minutes=90):
        second = long.refresh(first["refresh_token"]).json or {}
        assert second["expires_in"] <= 30 * 60
    with moved(services, minutes=121):
        assert long.introspect(second["access_token"]) == {"active": False}
        assert long.introspect(second["refresh_token"]) == {"active": False}
        assert is_valid(long, second) == (False, False)


def test_offline_tokens_end_with_absolute_token_lifetime(services: IdentityServices, new_world: NewWorld) -> None:
    world = new_world(session_absolute_hours=2, token_absolute_days=7)
    browser, ada = world.browser(), world.person("ada@example.test")
    shop = world.application("shop", refresh_token_seconds=5 * DAY, access_token_seconds=2 * DAY)
    body = tokens(shop, browser, ada, OFFLINE)
    for days in (4, 6.5):
        with moved(services, days=days):
            body = shop.refresh(body["refresh_token"]).json or {}
    assert body["expires_in"] <= DAY / 2
    with moved(services, days=7, seconds=1):
        assert is_valid(shop, body) == (False, False)


def test_removed_outlive_setting_ends_refresh_after_sign_out(world: World, browser: Browser, ada: Person) -> None:
    stays = world.application("stays", tokens_outlive_session=True)
    stored = tokens(stays, browser, ada)
    browser.sign_out(confirmed=True)
    world.change(stays, tokens_outlive_session=False)
    assert stays.refresh(stored["refresh_token"]).status_code == 400


def test_removed_offline_scope_ends_refresh_after_sign_out(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    body = tokens(shop, browser, ada, OFFLINE)
    browser.sign_out(confirmed=True)
    body = shop.refresh(body["refresh_token"]).json or {}
    world.change(shop, scope="openid profile email")
    assert shop.refresh(body["refresh_token"]).status_code == 400


def test_application_token_cannot_be_slid(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens(shop, browser, ada, OFFLINE)["access_token"]
    before = shop.introspect(token)["exp"]
    query = {"apikey": shop.api_key, "access_token": token}
    base = shop.services.settings.base_url
    slid = shop.wsgi.get("/identity/v2/auth/access_token/sliding_token", query_string=query, base_url=base)
    assert slid.status_code in (401, 403)
    assert shop.introspect(token)["exp"] == before


@pytest.fixture
def older(world: World) -> RelyingParty:
    return world.application("Older", grant_types=["password", "refresh_token"])


def by_password(client: RelyingParty, person: Person, scope: str = "openid") -> dict[str, Any]:
    form = {"grant_type": "password", "username": person.email, "password": person.password, "scope": scope}
    stored: dict[str, Any] = client.back("token", {**form, **client.client_credentials()}).get_json()
    return stored


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("scope", ["openid", OFFLINE])
def test_password_grant_session_is_listed_and_can_be_ended(
    older: RelyingParty, browser: Browser, ada: Person, scope: str
) -> None:
    body = by_password(older, ada, scope)
    browser.signed_in(ada)
    (opened,) = [session for session in sessions_of(browser) if not session["IsCurrent"]]
    assert opened["Application"] == "Older"
    assert claims_in(body["id_token"])["sid"] == opened["Id"]
    body = older.refresh(body["refresh_token"]).json or {}
    end(browser, Id=opened["Id"])
    assert is_valid(older, body) == (False, False)
    assert len(sessions_of(browser)) == 1


def test_session_of_password_grant_lasts_while_refreshed(
    services: IdentityServices, older: RelyingParty, ada: Person
) -> None:
    body = by_password(older, ada)
    for days in (50, 100, 150):
        with moved(services, days=days):
            body = older.refresh(body["refresh_token"]).json or {}
    with moved(services, days=179):
        assert older.refresh(body["refresh_token"]).status_code == 200


@pytest.mark.both_databases
def test_revoked_password_grant_leaves_no_session(older: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = by_password(older, ada)
    older.back("revoke", {"token": stored["refresh_token"], **older.client_credentials()})
    assert len(sessions_of(browser.signed_in(ada))) == 1


def test_password_grant_without_refresh_grants_no_offline_access(world: World, ada: Person) -> None:
    brief = world.application("brief", grant_types=["password"])
    assert by_password(brief, ada, OFFLINE)["scope"] == "openid"


def test_password_grant_sessions_ignore_session_limit(new_world: NewWorld) -> None:
    world = new_world(session_limit=2)
    older, ada = world.application("older", grant_types=["password", "refresh_token"]), world.person("ada@example.test")
    for _ in range(3):
        assert by_password(older, ada)["access_token"]


@pytest.mark.both_databases
def test_code_exchanged_during_sign_out_leaves_no_token(world: World, shop: RelyingParty, ada: Person) -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(12):
            browser = world.browser()
            code = browser.code(shop, ada)
            sign_out = pool.submit(browser.sign_out, confirmed=True)
            answer = shop.redeem(code)
            sign_out.result()
            if answer.status_code == 200:
                assert is_valid(shop, answer.json or {}) == (False, False)


@pytest.mark.both_databases
def test_refresh_during_sign_out_leaves_no_token(world: World, shop: RelyingParty, ada: Person) -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(12):
            browser = world.browser()
            body = tokens(shop, browser, ada)
            sign_out = pool.submit(browser.sign_out, confirmed=True)
            while (answer := shop.refresh(body["refresh_token"])).status_code == 200:
                body = answer.json or {}
            sign_out.result()
            assert is_valid(shop, body) == (False, False)


def test_renewed_session_extends_refresh_tokens(services: IdentityServices, new_world: NewWorld) -> None:
    """Signing in again within a session extends it and its tokens."""
    world = new_world(session_absolute_hours=2)
    browser, ada, shop = world.browser(), world.person("ada@example.test"), world.application("shop")
    body = tokens(shop, browser, ada)
    with moved(services, minutes=90):
        browser.sign_in(None, ada.email, ada.password)
        body = shop.refresh(body["refresh_token"]).json or {}
    with moved(services, minutes=125):
        assert shop.refresh(body["refresh_token"]).status_code == 200


def test_lifetime_checks_cost_no_extra_statement(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    assert timedelta(seconds=stored["expires_in"]) <= timedelta(minutes=15)
    assert browser.spent(shop.userinfo(stored["access_token"]))["sql"] <= 2
    assert (
        browser.spent(shop.back("introspect", {"token": stored["access_token"], **shop.client_credentials()}))["sql"]
        == 1
    )


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_used_refresh_token_is_detected_for_its_whole_lifetime(services: IdentityServices, new_world: NewWorld) -> None:
    """If a thief refreshed first, the client's reuse of the old token revokes the family, however late."""
    world = new_world()
    browser, ada, shop = world.browser(), world.person("ada@example.test"), world.application("shop")
    first, other = tokens(shop, browser, ada, OFFLINE), tokens(shop, browser, ada, OFFLINE)
    stolen = shop.refresh(first["refresh_token"]).json or {}
    with moved(services, days=59):
        clean(services.database, services.clock.now())
        assert shop.refresh(first["refresh_token"]).status_code == 400
        assert shop.refresh(stolen["refresh_token"]).status_code == 400, "the family is revoked"
    with moved(services, days=59):
        assert shop.refresh(other["refresh_token"]).status_code == 200, "an untouched family is still valid"
