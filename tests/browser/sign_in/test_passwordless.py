"""Passwordless sign-in in Chromium: mailed link, texted code, approval on another device, one-touch."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.support.accounts.mailbox import code_in, link_in, mails_to, sent_messages
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.browsers.shop_user import AT_THE_SHOP, HOW, enter_code
from tests.support.oauth.world import NewWorld, World

ADA, NEW, NUMBER = "ada@example.com", "new@example.com", "020 7946 0123"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(
        passwordless_email=True,
        smart_login=True,
        one_touch=True,
        email_login=True,
        phone_login=True,
        default_country="GB",
    )


class BrowserTab:
    """A browser tab that starts at the shop."""

    def __init__(self, world: World, served: str, page: Page) -> None:
        self.world, self.served, self.page = world, served, page

    def request(self, method: str, name: str) -> None:
        self.page.goto(sign_in_address(self.served, the_shop(self.world, self.served)))
        for more in self.page.locator("main details.more summary").all():
            more.click()
        self.page.locator(f"main button[value={method}]").click()
        self.page.locator("[name=identifier]").fill(name)
        self.page.locator("main form:has([name=identifier]) button[type=submit]").click()
        self.page.wait_for_url("**/sign-in/sent?**")

    def open_mail(self, page: Page, name: str) -> Page:
        parts = urlsplit(link_in(mails_to(self.world.services, self.world.tenant_id, name)[-1]))
        page.goto(f"{self.served}{parts.path}?{parts.query}")
        return page


@HOW
def test_mailed_link_signs_in(world: World, served: str, opened: Opened, how: dict[str, object]) -> None:
    world.person(ADA)
    tab = BrowserTab(world, served, opened(**how))
    tab.request("mail", ADA)
    link_page = tab.open_mail(tab.page, ADA)
    if how.get("java_script_enabled") is False:
        link_page.locator("button[value=link]").click()
    tab.page.wait_for_url(AT_THE_SHOP)  # with scripts the page continues by itself


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_link_in_another_browser_signs_in_by_number(
    world: World, served: str, opened: Opened, has_script: bool
) -> None:
    world.person(ADA)
    tab, other = BrowserTab(world, served, opened(java_script_enabled=has_script)), opened()
    tab.request("mail", ADA)
    tab.page.get_by_text("Opening the link on another device?").click()
    number = tab.page.locator(".number-shown").text_content() or ""
    tab.open_mail(other, ADA).locator("[name=number]").fill(number)
    other.locator("button[value=there]").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Approved")
    if not has_script:
        tab.page.locator("button[value=go]").click()
    tab.page.wait_for_url(AT_THE_SHOP)


def test_texted_code_signs_in(world: World, served: str, opened: Opened) -> None:
    tab = BrowserTab(world, served, opened())
    tab.request("sms", NUMBER)
    enter_code(tab.page, code_in(sent_messages(world.services, world.tenant_id, "sms")[-1]))
    tab.page.wait_for_url(AT_THE_SHOP)


@HOW
def test_approval_on_another_device_signs_in(world: World, served: str, opened: Opened, how: dict[str, object]) -> None:
    """With scripts the waiting page continues by itself, without them by a click."""
    world.person(ADA)
    tab, other = BrowserTab(world, served, opened(**how)), opened(**how)
    tab.request("device", ADA)
    number = tab.page.locator(".number").inner_text()
    tab.open_mail(other, ADA)
    expect(other.locator(".scopes")).to_contain_text("Chrome, Linux")
    other.locator("[name=number]").fill(number)
    other.locator("button[value=yes]").click()
    expect(other.locator("[name=number]")).to_have_count(0)
    if how.get("java_script_enabled") is False:
        tab.page.locator("button[value=go]").click()
    tab.page.wait_for_url(AT_THE_SHOP)


def test_one_touch_registers_a_new_account(world: World, served: str, opened: Opened) -> None:
    tab = BrowserTab(world, served, opened())
    tab.request("mail", NEW)
    tab.open_mail(tab.page, NEW)
    tab.page.wait_for_url(AT_THE_SHOP)
    tab.page.goto(f"{served}/profile")
    expect(tab.page.get_by_text(NEW).first).to_be_visible()
