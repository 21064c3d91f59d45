"""Front-channel logout and the session iframe in Chromium, with the application at another site."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World

WATCH = """([iframe, issuer]) => new Promise(done => {
  const frame = document.createElement("iframe");
  window.answers = [];
  window.ask = text => frame.contentWindow.postMessage(text, issuer);
  addEventListener("message", e => { if (e.origin === issuer) answers.push(e.data); });
  frame.onload = done;
  frame.src = iframe;
  document.body.append(frame);
})"""
"""What the application's page does (Session Management 1.0 section 3.1)."""


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(session_management=True)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.test")


def origin_of(shop: RelyingParty) -> str:
    return shop.redirect_uri.removesuffix("/cb")


def signed_in(page: Page, served: str, shop: RelyingParty, person: Person) -> dict[str, str]:
    """Sign in, and return the parameters of the authorization response."""
    page.goto(sign_in_address(served, shop))
    if urlsplit(page.url).path == "/login":
        page.get_by_label("Email").fill(person.email)
        page.get_by_label("Password", exact=True).fill(person.password)
        page.keyboard.press("Enter")
    page.wait_for_url(f"{shop.redirect_uri}?**")
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


@pytest.mark.parametrize("how", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
def test_frame_is_loaded_before_the_browser_goes_on(
    world: World, served: str, opened: Opened, ada: Person, how: dict[str, Any]
) -> None:
    origin = f"http://127.0.0.1:{served.rpartition(':')[2]}"
    shop = the_shop(world, served, frontchannel_logout_uri=f"{origin}/out", post_logout_redirect_uris=[f"{origin}/bye"])
    page = opened(**how)
    loaded: list[str] = []
    refused: list[str] = []

    def serve(route: Route) -> None:
        loaded.append(route.request.url)
        route.fulfill(body="<!doctype html><title>out</title>", content_type="text/html")

    page.context.route(f"{origin}/out**", serve)
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    signed_in(page, served, shop, ada)
    sent = {"client_id": shop.client_id, "post_logout_redirect_uri": f"{origin}/bye"}
    page.goto(f"{served}/service/oidc/logout?{urlencode(sent)}")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You’re signed out")
    page.wait_for_url(f"{origin}/bye", timeout=15_000)
    assert len(loaded) == 1
    assert set(parse_qs(urlsplit(loaded[0]).query)) == {"iss", "sid"}
    assert refused == []


def test_question_leads_back_to_an_application_of_another_site(
    world: World, served: str, opened: Opened, ada: Person
) -> None:
    """Chromium checks `form-action` on the redirect that follows the form."""
    origin = f"http://127.0.0.1:{served.rpartition(':')[2]}"
    shop = the_shop(world, served, post_logout_redirect_uris=[f"{origin}/bye"])
    page = opened()
    signed_in(page, served, shop, ada)
    sent = {"client_id": shop.client_id, "post_logout_redirect_uri": f"{origin}/bye"}
    page.goto(f"{served}/service/oidc/logout?{urlencode(sent)}")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{origin}/bye")


def watching(page: Page, served: str, shop: RelyingParty) -> Callable[[str], str]:
    """Open the application in another tab, and return a function that asks the session iframe there."""
    watcher = page.context.new_page()
    watcher.goto(f"{origin_of(shop)}/watch")
    watcher.evaluate(WATCH, [f"{served}/service/oidc/check-session", served])

    def answer_to(text: str) -> str:
        watcher.evaluate("text => { answers.length = 0; ask(text); }", text)
        watcher.wait_for_function("answers.length > 0")
        return str(watcher.evaluate("answers[0]"))

    return answer_to


def test_iframe_notices_the_sign_out(world: World, served: str, opened: Opened, ada: Person) -> None:
    """Session Management 1.0 section 3.1: unchanged after the sign-in, changed after the sign-out, error for other text.

    The application is at the same site: Chromium keeps the cookie from frames of others here. What the hub answers at its
    host has a policy, which the context bypasses.
    """
    origin = served.replace("://", "://shop.")
    shop, page = world.application("shop", redirect_uris=[f"{origin}/cb"]), opened(bypass_csp=True)
    state = signed_in(page, served, shop, ada)["session_state"]
    requested = watching(page, served, shop)
    assert requested(f"{shop.client_id} {state}") == "unchanged"
    assert requested(f"another {state}") == "changed"
    assert [requested(text) for text in ("", "x", f"{shop.client_id} x.y", "a b c", "x" * 2_000)] == ["error"] * 5
    page.goto(f"{served}/logout")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You’re signed out")
    assert requested(f"{shop.client_id} {state}") == "changed"


def test_iframe_without_its_cookie_answers_error(world: World, served: str, opened: Opened, ada: Person) -> None:
    """Browsers keep third-party cookies from frames, Chromium's headless shell does not: the test takes them away.

    `changed` would let the application ask for ever.
    """
    shop, page = the_shop(world, served), opened()
    state = signed_in(page, served, shop, ada)["session_state"]
    page.context.clear_cookies()
    assert watching(page, served, shop)(f"{shop.client_id} {state}") == "error"
