"""Security in its owner's hands, in Chromium without scripts and in Arabic: a second step, its codes, the data, an application."""

from __future__ import annotations

import json
from pathlib import Path

import pyotp
import pytest
from playwright.sync_api import expect

from tests.support.hub_in_browser import Opened, sign_in_address, the_shop
from tests.support.oauth_world import NewWorld, World

ADA, PASSWORD = "ada@example.com", "correct horse 7"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(two_factor="optional", second_factors={"email": False, "passkey": False})


def test_a_person_looks_after_what_opens_the_account(world: World, served: str, opened: Opened) -> None:
    shop = the_shop(world, served)
    world.person(ADA, FirstName="Ada")
    page = opened(java_script_enabled=False, locale="ar", accept_downloads=True)
    page.goto(sign_in_address(served, shop))
    page.locator("[name=identifier]").fill(ADA)
    page.locator("main [name=password]").fill(PASSWORD)
    page.locator("main form:has([name=password]) button[type=submit]").last.click()
    page.wait_for_url("**/cb?**code=**")
    page.goto(f"{served}/security")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    page.locator('a[href="/second-factors"]').click()
    page.locator("button[value=totp]").click()
    page.locator("details.more summary").click()
    app = pyotp.TOTP(page.locator(".key").inner_text().replace(" ", ""))
    page.locator("[name=code]").fill(app.at(world.house.clock.now()))
    page.keyboard.press("Enter")
    page.wait_for_url("**/backup-codes")
    page.locator("main button[type=submit]").click()
    expect(page.locator(".paper code")).to_have_count(10)
    page.locator(".actions a").click()
    expect(page.locator('a[href="/second-factors/remove?kind=totp"]')).to_be_visible()

    page.goto(f"{served}/download-data")
    with page.expect_download() as awaited:
        page.locator("main button[type=submit]").last.click()
    made = json.loads(Path(awaited.value.path()).read_text("utf-8"))
    assert made["profile"]["FirstName"] == "Ada"
    assert app.secret not in json.dumps(made)

    page.goto(f"{served}/second-factors/remove?kind=totp")
    page.locator("main button[type=submit]").last.click()
    page.wait_for_url("**/second-factors?done=removed")
    expect(page.locator("button[value=totp]")).to_be_visible()
