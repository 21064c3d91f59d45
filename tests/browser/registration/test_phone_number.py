"""An account with a phone number in Chromium, with and without scripts: register, change the number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from werkzeug.test import Client

from app.demo.inbox import create_inbox
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.browsers.shop_user import enter_code
from tests.support.oauth.world import NewWorld, World

pytestmark = pytest.mark.database_alone  # the inbox lists the whole database, and other tests write to these numbers
PASSWORD = "Zebra-kettle-91"
TYPED, E164 = "020 7946 0123", "+442079460123"
OTHER, OTHER_SHOWN, OTHER_E164 = "+44 20 7946 0124", "+44\u00a020\u00a07946\u00a00124", "+442079460124"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(phone_login=True, email_login=False, default_country="GB")


@pytest.fixture
def code_to(world: World) -> Callable[[str], str]:
    """Return a function that reads the newest code for a number from the demo inbox."""
    inbox = Client(create_inbox(world.services.database, world.services.encryption))

    def read(number: str) -> str:
        messages: list[dict[str, Any]] = inbox.get("/messages.json").json or []
        newest = next(message for message in messages if message["kind"] == "sms" and message["to"] == number)
        assert newest["codes"][0] in inbox.get("/").text
        return str(newest["codes"][0])

    return read


@pytest.mark.parametrize("has_script", [True, False])
def test_registration_by_phone_and_change_of_number(
    world: World, served: str, opened: Opened, code_to: Callable[[str], str], has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, the_shop(world, served)))
    page.get_by_role("button", name="Create account").click()
    page.get_by_label("Phone number").fill(TYPED)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your phone")
    enter_code(page, code_to(E164))
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    expect(page.get_by_role("heading")).to_have_text("Welcome to the shop")

    page.goto(f"{served}/profile")
    page.get_by_role("link", name="Phone number").click()
    page.get_by_role("link", name="Change number").click()
    page.get_by_label("Phone number").fill(OTHER)
    page.get_by_role("button", name="Send code").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your phone")
    enter_code(page, code_to(OTHER_E164))
    expect(page.get_by_text("Phone verified")).to_be_visible()
    expect(page.locator("bdi", has_text=OTHER_SHOWN)).to_be_visible()
    page.locator("details.menu summary").click()
    page.get_by_role("link", name="Remove number").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Your only way to sign in")).to_be_visible()
