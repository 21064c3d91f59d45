"""Security pages in Chromium, in Arabic without scripts: factor, backup codes, data download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.factors import AppFactor
from tests.support.browsers.shop_user import AT_THE_SHOP, BARE, Ada
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(two_factor="optional", second_factors={"email": False, "passkey": False})


def test_factor_is_added_data_downloaded_factor_removed(
    world: World, served: str, opened: Opened, identity_app: Any
) -> None:
    app, page = AppFactor(Ada(world, served, FirstName="Ada"), identity_app), opened(**BARE, accept_downloads=True)
    app.ada.sign_in(page)
    page.wait_for_url(AT_THE_SHOP)
    page.goto(f"{served}/security")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    page.locator('a.row[href="/second-factors"]').click()
    page.locator("button[value=totp]").click()
    app.enrol(page)
    expect(page.locator(".codes code")).to_have_count(10)
    page.locator("button[value=save]").click()
    page.locator(".row .menu summary").first.click()
    expect(page.locator('a[href="/second-factors/remove?kind=totp"]')).to_be_visible()

    page.goto(f"{served}/download-data")
    with page.expect_download() as download:
        page.locator("main button[type=submit]").last.click()
    exported = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert exported["profile"]["FirstName"] == "Ada"
    assert app.key.secret not in json.dumps(exported)

    page.goto(f"{served}/second-factors/remove?kind=totp")
    page.locator("main button[type=submit]").last.click()
    page.wait_for_url("**/second-factors?done=removed")
    expect(page.locator("button[value=totp]")).to_be_visible()
