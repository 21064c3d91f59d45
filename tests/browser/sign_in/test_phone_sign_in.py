"""Sign-in by a phone in Chromium: the browser with the QR code continues by itself, with scripts and without."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.browsers.shop_user import AT_THE_SHOP, BARE, HOW
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(qr_sign_on=True)


@HOW
def test_browser_continues_once_the_phone_approved(
    world: World, served: str, opened: Opened, how: dict[str, object]
) -> None:
    ada = world.person("ada@example.com")
    page, phone = opened(**how), opened(**how)
    page.goto(sign_in_address(served, the_shop(world, served)))
    page.locator("main button[value=phone]").click()
    expect(page.locator(".qr svg")).to_be_visible()
    number = page.locator(".scan strong").inner_text()
    link = page.locator(".key").text_content() or ""
    phone.goto(f"{served}/{link.partition('://')[2].partition('/')[2]}")
    expect(page.locator(".number")).to_have_text(number, timeout=20_000)  # by itself: a phone opened the code
    phone.locator("[name=identifier]").fill(ada.email)
    phone.locator("[name=password]").fill(ada.password)
    phone.locator("main form:has([name=password]) button[type=submit]:not([aria-hidden])").last.click()
    approve = phone.locator("button[value=yes]")
    for typed in ("", number[:1], number):
        phone.locator("[name=number]").fill(typed)
        expect(approve).to_be_enabled(enabled=typed == number or how == BARE)
    approve.click()
    expect(phone.locator(".sign--ok")).to_be_visible()
    page.wait_for_url(AT_THE_SHOP, timeout=30_000)


SHARE = "navigator.share = (data) => { window.shared = data.url; return Promise.resolve(); }"


def test_link_can_be_copied_and_shared(world: World, served: str, opened: Opened) -> None:
    page = opened(alone=True, viewport={"width": 390, "height": 800}, permissions=["clipboard-read", "clipboard-write"])
    page.add_init_script(SHARE)
    page.goto(f"{served}/sign-in/phone")
    link = page.locator(".key").text_content()
    page.locator("[data-copies]").click()
    expect(page.locator("[data-copies]")).to_have_text("Copied")
    page.locator("[data-shares]").click()
    assert page.evaluate("window.shared") == link


def test_link_is_shared_only_where_the_system_can(world: World, served: str, opened: Opened) -> None:
    page = opened(alone=True, viewport={"width": 390, "height": 800})
    page.add_init_script("delete Navigator.prototype.share")
    page.goto(f"{served}/sign-in/phone")
    expect(page.locator("[data-copies]")).to_be_visible()
    expect(page.locator("[data-shares]")).to_be_hidden()


@HOW
def test_denied_browser_offers_a_new_code(world: World, served: str, opened: Opened, how: dict[str, object]) -> None:
    ada = world.person("ada@example.com")
    page, phone = opened(**how), opened(**how)
    page.goto(f"{served}/sign-in/phone")
    link = page.locator(".key").text_content() or ""
    phone.goto(f"{served}/{link.partition('://')[2].partition('/')[2]}")
    phone.locator("[name=identifier]").fill(ada.email)
    phone.locator("[name=password]").fill(ada.password)
    phone.locator("main form:has([name=password]) button[type=submit]:not([aria-hidden])").last.click()
    phone.locator("button[value=no]").click()
    page.locator("main button[value=renew].button").click(timeout=30_000)
    expect(page.locator(".qr svg")).to_be_visible()
