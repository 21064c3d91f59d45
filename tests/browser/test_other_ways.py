"""Whoever lost one way to prove that it is them takes another one, in Chromium: a second factor beside the first, or the paper."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.hub_in_browser import Opened
from tests.support.oauth_world import NewWorld, World
from tests.support.second_steps import AppStep, SmsStep, told_at, world_with
from tests.support.shopper import AT_THE_SHOP, BARE, Ada, send


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return world_with(new_world, AppStep, SmsStep, factors={"backup_codes": True})


@pytest.fixture
def app(world: World, served: str, identity_app: Any) -> AppStep:
    return AppStep(Ada(world, served), identity_app)


def enrolled(app: AppStep, page: Page) -> list[str]:
    """Choose the app, enrol it and return the codes on paper that come with it."""
    app.ada.signs_in(page)
    page.locator("button[value=totp]").click()
    app.enrols(page)
    page.wait_for_url("**/backup-codes?**")
    page.locator("main button[type=submit]").click()
    codes = page.locator(".paper code").all_inner_texts()
    page.locator(".actions a").click()
    page.wait_for_url(AT_THE_SHOP)
    return codes


def test_whoever_lost_the_phone_takes_another_way_or_a_code_from_the_paper(app: AppStep, opened: Opened) -> None:
    page, sms = opened(**BARE), SmsStep(app.ada, app.app)
    codes = enrolled(app, page)
    page.goto(f"{app.ada.served}/second-factors")
    page.locator("button[value=sms]").click()
    sms.enrols(page)
    page.wait_for_url("**/second-factors?done=added")

    app.ada.waits(seconds=31)
    page = opened(**BARE)
    app.ada.signs_in(page)
    page.locator(".aside a[href*=choose]").click()
    ways = page.locator("main button[name=kind]")
    assert [way.get_attribute("value") for way in ways.all()] == ["totp", "sms", "backup_code"]
    page.locator("button[value=sms]").click()
    sms.proves(page)
    page.wait_for_url(AT_THE_SHOP)

    page = opened()
    app.ada.signs_in(page)
    page.locator(".aside a[href*=choose]").click()
    page.locator("button[value=backup_code]").click()
    page.locator("[name=backup_code]").fill("00000-00000")
    send(page, "backup_code")
    told_at(page, "backup_code")
    page.locator("[name=backup_code]").fill(codes[3])
    send(page, "backup_code")
    page.wait_for_url(AT_THE_SHOP)
