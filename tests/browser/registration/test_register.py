"""Registration in Chromium, with and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.accounts.mailbox import link_in, mails_to, path_of
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.world import World

EMAIL, PASSWORD = "neu@example.test", "Zebra-kettle-91"


@pytest.mark.parametrize("has_script", [True, False])
def test_registration_returns_to_the_shop(world: World, served: str, opened: Opened, has_script: bool) -> None:
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, the_shop(world, served)))
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text("to continue to Acme Shop")).to_be_visible()
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text(EMAIL)).to_be_visible()
    (mail,) = mails_to(world.services, world.tenant_id, EMAIL)
    page.goto(served + path_of(link_in(mail)))
    if not has_script:
        page.get_by_role("button", name="Verify", exact=True).click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    expect(page.get_by_role("heading")).to_have_text("Welcome to the shop")


def test_password_rules_are_ticked_while_typing(world: World, served: str, opened: Opened) -> None:
    page = opened()
    page.goto(f"{served}/register")
    rules = page.locator(".rules li")
    met = page.locator(".rules .kept")
    expect(rules).to_have_count(3)
    expect(met).to_have_count(0)
    field = page.get_by_label("Password", exact=True)
    field.press_sequentially("zebra1")
    expect(met).to_have_text(["A number met,"])
    field.press_sequentially("-kettle")
    expect(met).to_have_count(3)
    page.get_by_role("button", name="Show: Password").click()
    assert field.get_attribute("type") == "text"
