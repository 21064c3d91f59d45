"""Several tabs of one browser, a browser that blocks cookies, and the return to a native app, in Chromium."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import BLOCKS_COOKIES, sign_in_address, the_shop
from tests.support.oauth.relying_party import Pkce
from tests.support.oauth.world import World

PASSWORD = "correct horse 7"
SCRIPTS = pytest.mark.parametrize("has_script", [True, False], ids=["scripts", "no scripts"])


def sign_in(page: Page) -> None:
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


@SCRIPTS
def test_first_of_twelve_tabs_returns_to_its_request(
    world: World, served: str, opened: Opened, has_script: bool
) -> None:
    shop = the_shop(world, served)
    world.person("ada@example.com")
    first = opened(java_script_enabled=has_script)
    first.goto(sign_in_address(served, shop, state="first"))
    other = first.context.new_page()
    for number in range(11):
        other.goto(sign_in_address(served, shop, state=f"other {number}"))
    sign_in(first)
    first.wait_for_url("http://127.0.0.1:*/cb?**state=first**")


def test_other_tab_goes_on_by_itself(world: World, served: str, opened: Opened) -> None:
    shop = the_shop(world, served)
    world.person("ada@example.com")
    first = opened()
    first.goto(sign_in_address(served, shop, state="first"))
    second, typing = first.context.new_page(), first.context.new_page()
    second.goto(sign_in_address(served, shop, state="second"))
    typing.goto(sign_in_address(served, shop, state="typing"))
    typing.get_by_label("Email").press_sequentially("grace@")
    sign_in(first)
    first.wait_for_url("http://127.0.0.1:*/cb?**state=first**")
    second.wait_for_url("http://127.0.0.1:*/cb?**state=second**")
    expect(typing.get_by_label("Email")).to_have_value("grace@")
    typing.get_by_label("Email").fill("")
    typing.get_by_role("button", name="Sign in").click()
    typing.wait_for_url("http://127.0.0.1:*/cb?**state=typing**")


@SCRIPTS
def test_other_tab_goes_on_at_the_next_click(world: World, served: str, opened: Opened, has_script: bool) -> None:
    shop = the_shop(world, served)
    world.person("ada@example.com")
    first = opened(java_script_enabled=has_script)
    first.goto(sign_in_address(served, shop, state="first"))
    second = first.context.new_page()
    second.goto(sign_in_address(served, shop, state="second"))
    sign_in(first)
    first.wait_for_url("http://127.0.0.1:*/cb?**state=first**")
    if not has_script:
        second.get_by_role("button", name="Sign in").click()
    second.wait_for_url("http://127.0.0.1:*/cb?**state=second**")


@SCRIPTS
def test_blocked_cookies_are_named_before_the_password(
    world: World, served: str, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script, extra_http_headers={BLOCKS_COOKIES: "1"}, locale="de-DE")
    page.goto(sign_in_address(served, the_shop(world, served)))
    expect(page.get_by_role("heading", level=1)).to_have_text("Cookies sind blockiert")
    expect(page.get_by_role("link", name="Noch einmal versuchen")).to_be_visible()


def test_script_names_blocked_cookies_on_the_plain_page(world: World, served: str, opened: Opened) -> None:
    page = opened(extra_http_headers={BLOCKS_COOKIES: "1"})
    page.context.new_cdp_session(page).send("Emulation.setDocumentCookieDisabled", {"disabled": True})
    page.goto(f"{served}/login")
    expect(page.get_by_role("heading", level=1)).to_have_text("Cookies are blocked")


def test_browser_that_denies_its_cookies_gets_the_form(world: World, served: str, opened: Opened) -> None:
    page = opened()
    page.context.new_cdp_session(page).send("Emulation.setDocumentCookieDisabled", {"disabled": True})
    page.goto(sign_in_address(served, the_shop(world, served)))
    expect(page).to_have_url(re.compile(r"/login\?attempt=[\w-]+#cookies$"))
    sign_in(page)
    expect(page.get_by_text("Wrong email or password.")).to_be_visible()


@SCRIPTS
def test_native_app_opens_and_leaves_a_page_to_close(
    world: World, served: str, opened: Opened, has_script: bool
) -> None:
    pkce = Pkce()
    app = world.application(
        "notes", secret=None, client_name="Notes", application_type="native", redirect_uris=["com.example.notes:/cb"]
    )
    world.person("ada@example.com")
    page = opened(java_script_enabled=has_script)
    watch, opening = page.context.new_cdp_session(page), []
    watch.on("Page.frameRequestedNavigation", lambda event: opening.append((event["url"], event["reason"])))
    watch.send("Page.enable")
    challenge = {"code_challenge": pkce.challenge, "code_challenge_method": "S256"}
    page.goto(sign_in_address(served, app, **challenge))
    sign_in(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("You can close this window")
    with page.expect_request("com.example.notes:/cb?**"):
        page.get_by_role("link", name="Open Notes").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You can close this window")
    by_itself, by_button = [item for item in opening if item[0].startswith("com.example.notes:/cb?code=")]
    assert (by_itself[1], by_button[1]) == ("metaTagRefresh", "anchorClick")
    assert by_itself[0] == by_button[0]


def test_refused_form_keeps_what_was_typed(world: World, served: str, opened: Opened) -> None:
    """Its page is new and empty; a form of another tab leads away meanwhile, and signs no account in."""
    page = opened()
    page.goto(sign_in_address(served, the_shop(world, served), prompt="create"))
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_label("Password", exact=True).fill("short")
    page.get_by_role("button", name="Create account").click()
    refused = page.locator("[aria-invalid=true]").first
    expect(refused).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{served}/login")
    sign_in(other)
    expect(other.locator("[aria-invalid=true]").first).to_be_visible()
    page.bring_to_front()
    page.wait_for_timeout(500)
    expect(refused).to_be_visible()
    expect(page.get_by_label("Email")).to_have_value("ada@example.com")


def test_tab_that_goes_on_keeps_its_address(world: World, served: str, opened: Opened) -> None:
    page = opened()
    page.goto(sign_in_address(served, the_shop(world, served)))
    address = f"{page.url}&methods=all"
    page.goto(address)
    other = page.context.new_page()
    other.goto(f"{served}/login")
    with page.expect_navigation():
        sign_in(other)
        page.bring_to_front()
    assert page.url == address
