"""A sign-in that is approved on another device, in Chromium: the page goes on by itself, and by a button without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.pages.test_push_and_duo import ALONE, drawn, server_of
from tests.support.devices import AWS_KEY, PUSH, Phone, keeps
from tests.support.hub_in_browser import Opened, sign_in_address, the_shop
from tests.support.oauth_world import NewWorld, World
from tests.support.tenant_server import answered

pytestmark = pytest.mark.parametrize("house", ["sqlite"], indirect=True, scope="session")
AT_THE_SHOP = "http://127.0.0.1:*/cb?**code=**"


@pytest.fixture
def world(new_world: NewWorld, identity_app: Any) -> World:
    made = new_world(two_factor="required", push=PUSH, second_factors={**ALONE, "push": True, "backup_codes": False})
    keeps(server_of(made, identity_app), push=AWS_KEY)
    return made


def signs_in(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("[name=identifier]").fill("ada@example.com")
    page.locator("main [name=password]").fill("correct horse 7")
    page.locator("main form:has([name=password]) button[type=submit]").last.click()
    page.wait_for_url("**/second-factor?**")


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_the_page_goes_on_once_the_device_said_yes(
    world: World, served: str, opened: Opened, identity_app: Any, has_script: bool
) -> None:
    world.person("ada@example.com")
    phone, address = Phone(server_of(world, identity_app)), sign_in_address(served, the_shop(world, served))
    page = opened(java_script_enabled=has_script)
    signs_in(page, address)
    answered(phone.scans(drawn(world)))
    answered(phone.says("Yes"))
    if not has_script:
        page.locator("main button[value=prove]").click()
    page.wait_for_url(AT_THE_SHOP)

    world.house.clock.advance(seconds=31)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    page = opened(java_script_enabled=has_script)
    signs_in(page, address)
    shown = page.locator(".number").inner_text()
    answered(phone.says("Yes", number=shown))
    if not has_script:
        page.locator("main button[value=prove]").click()
    page.wait_for_url(AT_THE_SHOP)
