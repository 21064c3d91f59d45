"""Pages of a sign-in that were left open, for minutes, over night and over a weekend, and pages of many tabs."""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import httpx
import pytest

from app.hub import create_app
from app.kit.operations.server import OperationServer
from tests.support.journeys.second_factors import app_of
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"
MAX_HEADER = 8_000
"""Characters of cookies that common servers and proxies accept in one header."""


def signed_in(page: VisitedPage, **typed: str) -> VisitedPage:
    return page.press("Sign in", **{"identifier": "ada@example.com", "password": PASSWORD, **typed})


@pytest.mark.both_databases
@pytest.mark.parametrize("hours", [11 / 60, 7, 9, 70], ids=["11 minutes", "a day's work", "over night", "a weekend"])
def test_right_password_on_old_page_ends_at_the_app(world: World, visitor: Visitor, hours: float) -> None:
    shop = world.application("shop")
    world.person("ada@example.com")
    page = visitor.authorize(shop, state="of the tab")
    pass_time(world.services, hours=hours)
    callback = signed_in(page)
    assert callback.address.startswith(shop.redirect_uri)
    assert callback.query["state"] == "of the tab"
    assert shop.redeem(callback.query["code"]).status_code == 200


def test_old_page_opens_again(world: World, visitor: Visitor) -> None:
    world.person("ada@example.com")
    page = visitor.authorize(world.application("shop", client_name="Acme Shop"), login_hint="ada@example.com")
    pass_time(world.services, hours=9)
    again = visitor.open(page.address)
    assert again.status == 200
    assert "Acme Shop" in again.text
    assert again.press("Sign in", password=PASSWORD).query["code"]


def test_wrong_password_on_old_page_asks_again(world: World, visitor: Visitor) -> None:
    world.person("ada@example.com")
    page = visitor.authorize(world.application("shop"))
    pass_time(world.services, hours=9)
    refused = signed_in(page, password="wrong")
    assert refused.status == 401
    assert refused.press("Sign in", password=PASSWORD).query["code"]


def test_forgotten_page_links_to_the_app_in_the_end(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(
        world.application("shop", client_name="Acme Shop", client_uri="https://shop.example/start")
    )
    pass_time(world.services, days=3, hours=9)
    gone = signed_in(page)
    assert gone.status == 410
    assert gone.follow("Continue to Acme Shop").address == "https://shop.example/start"
    assert visitor.open(page.address).status == 410


def test_hours_are_the_tenants(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(sign_in_page_hours=2)
    page = new_visitor_at(world).authorize(world.application("shop"))
    attempt = page.query["attempt"]
    pass_time(world.services, hours=1, minutes=59)
    assert page.visitor.open(f"/login?attempt={attempt}").cost["api"] == 0
    pass_time(world.services, minutes=2)
    assert page.visitor.open(f"/login?attempt={attempt}").cost["api"] == 1, "it restarts"
    assert page.visitor.open(f"/login?attempt={attempt}").cost["api"] == 0, "and is as new"


def test_restart_checks_the_request_anew(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    world.person("ada@example.com")
    page = visitor.authorize(shop)
    pass_time(world.services, hours=9)
    world.change(shop, redirect_uris=["https://shop.example/other"])
    refused = signed_in(page)
    assert refused.status == 410
    assert "code" not in refused.query


def test_restart_of_a_closed_app_gets_no_code(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    world.person("ada@example.com")
    page = visitor.authorize(shop)
    pass_time(world.services, hours=9)
    world.change(shop, is_active=False)
    assert signed_in(page).status == 410


def test_consent_left_open_over_night_asks_to_sign_in(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", require_consent=True), world.person("ada@example.com")
    page = signed_in(visitor.authorize(shop), identifier=ada.email)
    pass_time(world.services, hours=9)
    shown_page = page.press("Allow access")
    assert shown_page.is_sign_in, "the session ended meanwhile"
    assert signed_in(shown_page).press("Allow access").query["code"]


def test_consent_left_open_goes_on(world: World, visitor: Visitor) -> None:
    world.person("ada@example.com")
    page = signed_in(visitor.authorize(world.application("shop", require_consent=True), state="kept"))
    pass_time(world.services, minutes=31)
    assert page.press("Allow access").query["state"] == "kept"


def test_second_factor_left_open_keeps_the_request(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(two_factor="required", second_factors={"email": False, "passkey": False, "backup_codes": False})
    shop, ada = world.application("shop"), world.person("ada@example.com")
    visitor = new_visitor_at(world)
    page = signed_in(visitor.authorize(shop))
    totp = app_of(page)
    assert page.press("Verify", code=str(totp.at(world.services.clock.now()))).query["code"]
    visitor.forget("session")
    page = signed_in(visitor.authorize(shop, state="kept"))
    pass_time(world.services, minutes=11)
    login = page.press("Verify", code=str(totp.at(world.services.clock.now())))
    assert login.is_sign_in
    again = signed_in(login, identifier=ada.email)
    assert again.press("Verify", code=str(totp.at(world.services.clock.now()))).query["state"] == "kept"


def test_registration_left_open_keeps_what_was_typed(world: World, visitor: Visitor) -> None:
    attempt = visitor.authorize(world.application("shop")).query["attempt"]
    page = visitor.open(f"/register?attempt={attempt}")
    pass_time(world.services, hours=9)
    sent = page.press("Create account", email="new@example.com", password="Unusual horse 7!")
    assert sent.status == 200
    assert "new@example.com" in sent.text


def test_forgotten_password_page_left_open_sends(world: World, visitor: Visitor) -> None:
    world.person("ada@example.com")
    attempt = visitor.authorize(world.application("shop")).query["attempt"]
    page = visitor.open(f"/forgot-password?attempt={attempt}")
    pass_time(world.services, hours=9)
    sent = page.press("Send reset link", identifier="ada@example.com")
    assert sent.query["attempt"] == attempt


def test_return_address_stays_over_night(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(url_whitelist=["https://shop.example"])
    world.person("ada@example.com")
    page = new_visitor_at(world).open("/auth.aspx?return_url=https://shop.example/cart")
    pass_time(world.services, hours=9)
    assert signed_in(page).address == "https://shop.example/cart"


@pytest.mark.both_databases
@pytest.mark.parametrize("number", [6, 12, 30])
def test_each_of_many_tabs_returns_to_its_own_request(world: World, visitor: Visitor, number: int) -> None:
    shop = world.application("shop")
    world.person("ada@example.com")
    tabs = []
    for tab in range(number):
        tabs.append(visitor.authorize(shop, state=f"tab {tab}"))
        pass_time(world.services, seconds=1)
    assert len(visitor.cookies("gatehouse-attempt-")) == 5
    sent = "; ".join(f"{cookie.key}={cookie.value}" for cookie in (visitor.client._cookies or {}).values())
    assert len(sent) < MAX_HEADER
    for tab in (0, number - 1, number // 2):
        assert signed_in(tabs[tab]).query["state"] == f"tab {tab}"
        visitor.forget("session")


def test_other_tabs_go_on_with_the_session(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    world.person("ada@example.com")
    tabs = [visitor.authorize(shop, state=f"tab {tab}") for tab in range(12)]
    assert signed_in(tabs[3]).query["state"] == "tab 3"
    assert visitor.open(tabs[0].address).query["state"] == "tab 0", "a reload"
    assert tabs[1].press("Sign in").query["state"] == "tab 1", "a click, with nothing typed"
    assert visitor.open(tabs[2].address.replace("/login", "/register")).query["state"] == "tab 2"
    assert visitor.open(tabs[4].address.replace("/login", "/forgot-password")).query["state"] == "tab 4"


@pytest.mark.parametrize("parameters", [{"prompt": "login"}, {"max_age": "300"}, {"login_hint": "bob@example.com"}])
def test_session_of_another_tab_does_not_do_later(world: World, visitor: Visitor, parameters: dict[str, str]) -> None:
    """A sign-in of another tab counts for a request for ten minutes only; after that, all that the request asks holds."""
    shop = world.application("shop")
    world.person("ada@example.com")
    world.person("bob@example.com")
    strict, plain = visitor.authorize(shop, **parameters), visitor.authorize(shop)
    assert signed_in(plain).query["code"]
    pass_time(world.services, minutes=11)
    assert "Password" in visitor.open(strict.address).text
    assert "Password" in strict.press("Sign in").text, "a click, with nothing typed"


def test_other_browser_cannot_reopen_an_interaction(world: World, new_visitor: NewVisitor) -> None:
    shop, outsider = world.application("shop", client_name="Acme Shop"), new_visitor()
    page = new_visitor().authorize(shop)
    outsider.authorize(shop)
    for hours in (0, 9):
        pass_time(world.services, hours=hours)
        foreign = outsider.open(page.address)
        assert foreign.status == 410
        assert "Acme Shop" not in foreign.text
    assert signed_in(page, password="wrong").status == 401, "its own browser goes on"


def test_interaction_of_another_tenant_is_not_reopened(
    world: World, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    mine, other = new_visitor_at(world), new_visitor_at(new_world())
    page = mine.authorize(world.application("shop"))
    other.client.set_cookie("gatehouse-browser", mine.cookie("gatehouse-browser").value, domain=_host(other))
    assert other.open(f"/login?attempt={page.query['attempt']}").status == 410


def _host(visitor: Visitor) -> str:
    return visitor.home.partition("://")[2].partition(":")[0]


@pytest.mark.parametrize("attempt", ["a/../b", "%2e%2e", "x" * 65, "\x00", "ä", "' OR 1=1 --"])
def test_strange_id_is_not_looked_up(world: World, visitor: Visitor, attempt: str) -> None:
    visitor.authorize(world.application("shop"))
    page = (
        visitor.send("GET", f"{visitor.home}/login", None) if not attempt else visitor.open(f"/login?attempt={attempt}")
    )
    assert page.status == 410
    assert page.cost.get("api", 0) == 0


@pytest.mark.both_databases
def test_pushed_request_left_open_is_used_once(world: World, new_visitor: NewVisitor) -> None:
    shop = world.application("shop")
    world.person("ada@example.com")
    address = str((shop.push().json or {})["request_uri"])
    first, second = new_visitor(), new_visitor()
    pages = [_begin_pushed(item, shop, address) for item in (first, second)]
    pass_time(world.services, hours=9)
    assert signed_in(pages[0]).query["code"]
    assert signed_in(pages[1]).query["error"] == "invalid_request_uri"
    expired = _begin_pushed(new_visitor(), shop, address)
    assert "code" not in expired.query, "it is begun within 90 seconds, or never"


def _begin_pushed(visitor: Visitor, shop: RelyingParty, address: str) -> VisitedPage:
    return visitor.open(f"/service/oidc/authorize?client_id={shop.client_id}&request_uri={address}")


@pytest.mark.parametrize("has_cookie", [True, False], ids=["expired", "without its cookie"])
def test_identity_service_of_the_previous_release_starts_over(
    world: World, identity_app: OperationServer, has_cookie: bool
) -> None:
    """In an upgrade, a new hub calls an old service, which knows no such operation."""

    def previous(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        return identity_app(
            {**environ, "PATH_INFO": "/hub/unknown" if path.endswith("/reopen") else path}, start_response
        )

    services = world.services
    hub = create_app(services.settings, httpx.WSGITransport(app=previous), services.clock)
    visitor = Visitor(PlainClient(hub), services.settings.hub_url(world.name))
    page = visitor.authorize(world.application("shop"))
    pass_time(services, hours=9)
    if not has_cookie:
        visitor.forget("gatehouse-attempt-")
    assert visitor.open(page.address).heading == "Let’s start over"
    assert page.press("Sign in", identifier="ada@example.com", password=PASSWORD).status == 410


def test_tab_of_many_that_opened_again_lives_on(world: World, visitor: Visitor) -> None:
    """Its cookie went to make room; opened again, it has one whose end is not before the interaction's own."""
    shop = world.application("shop")
    world.person("ada@example.com")
    page = visitor.authorize(shop, state="first")
    pass_time(world.services, minutes=1)
    for _ in range(6):
        visitor.authorize(shop)
    pass_time(world.services, hours=7)
    again = visitor.open(page.address)
    pass_time(world.services, hours=2)
    assert signed_in(again).query["state"] == "first"
