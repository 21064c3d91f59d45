"""A required PIN at sign-in, and step-up on the account pages, in Chromium."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.factors import AppFactor, world_with
from tests.support.browsers.shop_user import AT_THE_SHOP, HOW, Ada, send, typed
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return world_with(new_world, AppFactor, pin={"is_on": True, "required": True})


@HOW
def test_required_pin_at_sign_in_and_factor_before_change(
    world: World, served: str, opened: Opened, how: dict[str, Any], identity_app: Any
) -> None:
    app, page = AppFactor(Ada(world, served), identity_app), opened(**how)
    app.ada.sign_in(page)
    app.enrol(page)
    page.wait_for_url("**/set-pin?**")
    page.locator("[name=pin]").fill("1234")
    send(page, "pin")
    expect(page.locator("[name=pin][aria-invalid=true]")).to_be_visible()
    page.locator("[name=pin]").fill(typed(page, "270486"))
    send(page, "pin")
    page.wait_for_url(AT_THE_SHOP)
    app.ada.advance_clock(minutes=10)
    page.goto(f"{served}/pin")
    page.wait_for_url("**/second-factor?**")
    app.verify(page)
    page.wait_for_url("**/pin")
    page.locator("[name=pin]").fill("905142")
    send(page, "pin")
    page.wait_for_url("**/security?done=saved")
