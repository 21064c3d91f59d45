"""From the shop past a PIN that is required and back; and "is it still you?" on our own pages, in Chromium."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.test_second_factor import AT_THE_SHOP, Ada, send
from tests.support.hub_in_browser import Opened
from tests.support.oauth_world import NewWorld, World

HOW = pytest.mark.parametrize(
    "how", [{}, {"java_script_enabled": False, "locale": "ar"}], ids=["script", "no script, ar"]
)


@pytest.fixture
def world(new_world: NewWorld) -> World:
    alone, pin = {"email": False, "passkey": False}, {"is_on": True, "required": True}
    return new_world(two_factor="required", second_factors=alone, pin=pin)


@HOW
def test_a_pin_on_the_way_to_the_shop_and_the_second_factor_before_a_change(
    world: World, served: str, opened: Opened, how: dict[str, Any]
) -> None:
    ada, page = Ada(world, served), opened(**how)
    ada.signs_in(page)
    ada.scans(page)
    ada.types_code(page)
    page.wait_for_url("**/backup-codes?**")
    page.locator("main button[type=submit]").click()
    page.locator(".actions a").click()
    page.wait_for_url("**/set-pin?**")
    page.locator("[name=pin]").fill("1234")
    send(page, "pin")
    expect(page.locator("[name=pin][aria-invalid=true]")).to_be_visible()
    page.locator("[name=pin]").fill("٢٧٠٤٨٦" if how else "270486")
    send(page, "pin")
    page.wait_for_url(AT_THE_SHOP)
    world.house.clock.advance(minutes=10)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    page.goto(f"{served}/pin")
    page.wait_for_url("**/second-factor?**")
    ada.types_code(page)
    page.wait_for_url("**/pin")
    page.locator("[name=pin]").fill("905142")
    send(page, "pin")
    page.wait_for_url("**/security?done=saved")
