"""How long an application's tokens live: with their session, or beyond it; never for ever."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app.contract.hub import Step
from app.identity.entry.cleaning import clean
from app.identity.platform.services import Services
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Browser, Person, RelyingParty, claims_in, moved

OFFLINE = "openid offline_access"
DAY = 86_400


def tokens(client: RelyingParty, browser: Browser, person: Person, scope: str = "openid") -> dict[str, Any]:
    held: dict[str, Any] = client.redeem(browser.code(client, person, scope=scope)).json
    return held


def lives(client: RelyingParty, held: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the access token is good, and whether it is refreshed; the order matters, as a refresh spends."""
    is_good = client.userinfo(held["access_token"]).status_code == 200
    return is_good, client.refresh(held["refresh_token"]).status_code == 200


def listed(browser: Browser) -> list[dict[str, Any]]:
    held: list[dict[str, Any]] = (browser.send("GET", "/hub/own/security", b"").json or {})["Sessions"]
    return held


def end(browser: Browser, **what: Any) -> None:
    answer = browser.send("POST", "/hub/sessions/end", json.dumps(what).encode())
    assert answer.status_code == 200, answer.text


def test_signing_out_ends_tokens_but_those_that_are_offline(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stays = world.application("stays", tokens_outlive_session=True)
    bound, offline, set_so = (
        tokens(shop, browser, ada),
        tokens(shop, browser, ada, OFFLINE),
        tokens(stays, browser, ada),
    )
    assert browser.sign_out(confirmed=True).step is Step.SIGNED_OUT
    assert lives(shop, bound) == (False, False)
    assert lives(shop, offline) == (True, True)
    assert lives(stays, set_so) == (True, True)


def test_logout_begun_by_the_application_ends_them_too(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    bound, offline = tokens(shop, browser, ada), tokens(shop, browser, ada, OFFLINE)
    browser.sign_out(id_token_hint=bound["id_token"])
    assert lives(shop, bound) == (False, False)
    assert lives(shop, offline) == (True, True)


def test_refreshed_offline_token_still_outlives_the_session(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    first = tokens(shop, browser, ada, OFFLINE)
    narrow = shop.refresh(first["refresh_token"], scope="openid").json or {}
    assert claims_in(narrow["id_token"])["sid"] == claims_in(first["id_token"])["sid"]
    browser.sign_out(confirmed=True)
    assert lives(shop, narrow) == (True, True)


def test_revoking_a_session_elsewhere_ends_offline_tokens(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    thief = world.browser()
    taken, own = tokens(shop, thief, ada, OFFLINE), tokens(shop, browser.signed_in(ada), ada, OFFLINE)
    (other,) = [one["Id"] for one in listed(browser) if not one["IsCurrent"]]
    end(browser, Id=other)
    assert lives(shop, taken) == (False, False)
    assert lives(shop, own) == (True, True)


def test_signing_out_everywhere_else_ends_offline_tokens(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    taken = tokens(shop, world.browser(), ada, OFFLINE)
    end(browser.signed_in(ada), Others=True)
    assert lives(shop, taken) == (False, False)


def test_another_person_in_the_browser_ends_the_first_ones_tokens(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    bound, offline = tokens(shop, browser, ada), tokens(shop, browser, ada, OFFLINE)
    bob = world.person("bob@example.test")
    browser.sign_in(None, bob.email, bob.password)
    assert lives(shop, bound) == (False, False)
    assert lives(shop, offline) == (True, True)


def test_no_token_passes_the_absolute_end_of_its_session(services: Services, new_world: NewWorld) -> None:
    world = new_world(session_absolute_hours=2)
    browser, ada = world.browser(), world.person("ada@example.test")
    long = world.application("long", access_token_seconds=30 * DAY, access_token_format="jwt")
    first = tokens(long, browser, ada)
    assert first["expires_in"] <= 2 * 3600
    held = claims_in(first["access_token"])
    assert held["exp"] - held["iat"] == first["expires_in"]
    with moved(services, minutes=90):
        second = long.refresh(first["refresh_token"]).json or {}
        assert second["expires_in"] <= 30 * 60
    with moved(services, minutes=121):
        assert long.introspect(second["access_token"]) == {"active": False}
        assert long.introspect(second["refresh_token"]) == {"active": False}
        assert lives(long, second) == (False, False)


def test_offline_tokens_end_with_the_absolute_end_of_all_tokens(services: Services, new_world: NewWorld) -> None:
    world = new_world(session_absolute_hours=2, token_absolute_days=7)
    browser, ada = world.browser(), world.person("ada@example.test")
    shop = world.application("shop", refresh_token_seconds=5 * DAY, access_token_seconds=2 * DAY)
    held = tokens(shop, browser, ada, OFFLINE)
    for days in (4, 6.5):
        with moved(services, days=days):
            held = shop.refresh(held["refresh_token"]).json or {}
    assert held["expires_in"] <= DAY / 2
    with moved(services, days=7, seconds=1):
        assert lives(shop, held) == (False, False)


def test_setting_taken_back_binds_what_is_refreshed_again(world: World, browser: Browser, ada: Person) -> None:
    stays = world.application("stays", tokens_outlive_session=True)
    held = tokens(stays, browser, ada)
    browser.sign_out(confirmed=True)
    world.change(stays, tokens_outlive_session=False)
    assert stays.refresh(held["refresh_token"]).status_code == 400


def test_offline_access_taken_from_the_client_ends_what_was_granted(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    held = tokens(shop, browser, ada, OFFLINE)
    browser.sign_out(confirmed=True)
    held = shop.refresh(held["refresh_token"]).json or {}
    world.change(shop, scope="openid profile email")
    assert shop.refresh(held["refresh_token"]).status_code == 400


def test_applications_tokens_are_not_slid_or_prolonged(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens(shop, browser, ada, OFFLINE)["access_token"]
    before = shop.introspect(token)["exp"]
    asked = {"apikey": shop.api_key, "access_token": token}
    base = shop.services.settings.base_url
    slid = shop.wsgi.get("/identity/v2/auth/access_token/sliding_token", query_string=asked, base_url=base)
    assert slid.status_code in (401, 403)
    assert shop.introspect(token)["exp"] == before


@pytest.fixture
def older(world: World) -> RelyingParty:
    return world.application("Older", grant_types=["password", "refresh_token"])


def by_password(client: RelyingParty, person: Person, scope: str = "openid") -> dict[str, Any]:
    form = {"grant_type": "password", "username": person.email, "password": person.password, "scope": scope}
    held: dict[str, Any] = client.back("token", {**form, **client.proves()}).json
    return held


@pytest.mark.parametrize("scope", ["openid", OFFLINE])
def test_the_password_grant_opens_a_session_that_is_listed_and_ended(
    older: RelyingParty, browser: Browser, ada: Person, scope: str
) -> None:
    held = by_password(older, ada, scope)
    browser.signed_in(ada)
    (opened,) = [one for one in listed(browser) if not one["IsCurrent"]]
    assert opened["Application"] == "Older"
    assert claims_in(held["id_token"])["sid"] == opened["Id"]
    held = older.refresh(held["refresh_token"]).json or {}
    end(browser, Id=opened["Id"])
    assert lives(older, held) == (False, False)
    assert len(listed(browser)) == 1


def test_session_of_a_grant_goes_on_while_it_is_refreshed(services: Services, older: RelyingParty, ada: Person) -> None:
    held = by_password(older, ada)
    for days in (50, 100, 150):
        with moved(services, days=days):
            held = older.refresh(held["refresh_token"]).json or {}
    with moved(services, days=179):
        assert older.refresh(held["refresh_token"]).status_code == 200


def test_revoked_grant_leaves_no_session(older: RelyingParty, browser: Browser, ada: Person) -> None:
    held = by_password(older, ada)
    older.back("revoke", {"token": held["refresh_token"], **older.proves()})
    assert len(listed(browser.signed_in(ada))) == 1


def test_password_grant_without_refresh_grants_no_offline_access(world: World, ada: Person) -> None:
    brief = world.application("brief", grant_types=["password"])
    assert by_password(brief, ada, OFFLINE)["scope"] == "openid"


def test_sessions_of_grants_do_not_use_the_session_limit_up(new_world: NewWorld) -> None:
    world = new_world(session_limit=2)
    older, ada = world.application("older", grant_types=["password", "refresh_token"]), world.person("ada@example.test")
    for _ in range(3):
        assert by_password(older, ada)["access_token"]


def test_code_exchanged_during_sign_out_leaves_no_token(world: World, shop: RelyingParty, ada: Person) -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(12):
            browser = world.browser()
            code = browser.code(shop, ada)
            gone = pool.submit(browser.sign_out, confirmed=True)
            answer = shop.redeem(code)
            gone.result()
            if answer.status_code == 200:
                assert lives(shop, answer.json or {}) == (False, False)


def test_refresh_during_sign_out_leaves_no_token(world: World, shop: RelyingParty, ada: Person) -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(12):
            browser = world.browser()
            held = tokens(shop, browser, ada)
            gone = pool.submit(browser.sign_out, confirmed=True)
            while (answer := shop.refresh(held["refresh_token"])).status_code == 200:
                held = answer.json or {}
            gone.result()
            assert lives(shop, held) == (False, False)


def test_refresh_keeps_its_place_when_the_session_is_renewed(services: Services, new_world: NewWorld) -> None:
    """Signing in again within a session extends it and its tokens."""
    world = new_world(session_absolute_hours=2)
    browser, ada, shop = world.browser(), world.person("ada@example.test"), world.application("shop")
    held = tokens(shop, browser, ada)
    with moved(services, minutes=90):
        browser.sign_in(None, ada.email, ada.password)
        held = shop.refresh(held["refresh_token"]).json or {}
    with moved(services, minutes=125):
        assert shop.refresh(held["refresh_token"]).status_code == 200


def test_lifetime_stands_in_the_store_so_that_look_ups_cost_nothing(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    held = tokens(shop, browser, ada)
    assert timedelta(seconds=held["expires_in"]) <= timedelta(minutes=15)
    assert browser.spent(shop.userinfo(held["access_token"]))["sql"] <= 2
    assert browser.spent(shop.back("introspect", {"token": held["access_token"], **shop.proves()}))["sql"] == 1


@pytest.mark.database_alone
def test_used_refresh_token_is_known_as_long_as_it_would_have_lived(services: Services, new_world: NewWorld) -> None:
    """If a thief refreshed first, the client's reuse of the old token revokes the family, however late."""
    world = new_world()
    browser, ada, shop = world.browser(), world.person("ada@example.test"), world.application("shop")
    first, other = tokens(shop, browser, ada, OFFLINE), tokens(shop, browser, ada, OFFLINE)
    stolen = shop.refresh(first["refresh_token"]).json or {}
    with moved(services, days=59):
        clean(services.database, services.clock.now())
        assert shop.refresh(first["refresh_token"]).status_code == 400
        assert shop.refresh(stolen["refresh_token"]).status_code == 400, "its family ended"
    with moved(services, days=59):
        assert shop.refresh(other["refresh_token"]).status_code == 200, "without that it would have lived"
