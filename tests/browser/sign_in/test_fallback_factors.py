"""Alternatives to a lost second factor, in Chromium: another factor or a backup code."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.browsers.chromium import Opened
from tests.support.browsers.factors import AppFactor, SmsFactor, expect_field_error, world_with
from tests.support.browsers.shop_user import AT_THE_SHOP, BARE, Ada, send
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return world_with(new_world, AppFactor, SmsFactor, factors={"backup_codes": True})


@pytest.fixture
def app(world: World, served: str, identity_app: Any) -> AppFactor:
    return AppFactor(Ada(world, served), identity_app)


def enrol_app(app: AppFactor, page: Page) -> list[str]:
    """Enrol the authenticator app and return the backup codes."""
    app.ada.sign_in(page)
    page.locator("button[value=totp]").click()
    app.enrol(page)
    codes = page.locator(".codes code").all_inner_texts()
    page.locator("button[value=save]").click()
    page.wait_for_url(AT_THE_SHOP)
    return codes


def test_lost_app_is_replaced_by_sms_or_backup_code(app: AppFactor, opened: Opened) -> None:
    page, sms = opened(**BARE), SmsFactor(app.ada, app.app)
    codes = enrol_app(app, page)
    page.goto(f"{app.ada.served}/second-factors")
    page.locator(".titled .menu summary").click()
    page.locator("button[value=sms]").click()
    sms.enrol(page)
    page.wait_for_url("**/second-factors?done=added")

    app.ada.advance_clock(seconds=31)
    page = opened(**BARE)
    app.ada.sign_in(page)
    page.locator(".aside a[href*=choose]").click()
    choices = page.locator("main button[name=kind]")
    # The method used last, here to enrol it, comes first.
    assert [choice.get_attribute("value") for choice in choices.all()] == ["sms", "totp", "backup_code"]
    page.locator("button[value=sms]").click()
    sms.verify(page)
    page.wait_for_url(AT_THE_SHOP)

    page = opened()
    app.ada.sign_in(page)
    page.locator(".aside a[href*=choose]").click()
    page.locator("button[value=backup_code]").click()
    page.locator("[name=backup_code]").fill("00000-00000")
    send(page, "backup_code")
    expect_field_error(page, "backup_code")
    page.locator("[name=backup_code]").fill(codes[3])
    send(page, "backup_code")
    page.wait_for_url(AT_THE_SHOP)
