"""Backup codes in Chromium: copied, downloaded, printed and saved; with and without scripts, by keyboard, at 320 px."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.clipboard import copied
from tests.support.browsers.factors import AppFactor, world_with
from tests.support.browsers.shop_user import AT_THE_SHOP, BARE, Ada
from tests.support.oauth.world import NewWorld, World

NARROW = {"viewport": {"width": 320, "height": 640}}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return world_with(new_world, AppFactor, factors={"backup_codes": True})


@pytest.fixture
def app(world: World, served: str, identity_app: Any) -> AppFactor:
    return AppFactor(Ada(world, served), identity_app)


def enrol(app: AppFactor, page: Page) -> list[str]:
    """Enrol the authenticator app at a sign-in; return the codes, which the page shows without another click."""
    app.ada.sign_in(page)
    app.enrol(page)
    expect(page.locator(".codes code")).to_have_count(10)
    return page.locator(".codes code").all_inner_texts()


def codes_in(file: Path) -> list[str]:
    return re.findall(r"[0-9a-f]{5}-[0-9a-f]{5}", file.read_text("utf-8"))


def test_codes_are_copied_downloaded_printed_and_saved(app: AppFactor, opened: Opened) -> None:
    page = opened(accept_downloads=True, permissions=["clipboard-read", "clipboard-write"], **NARROW)
    page.add_init_script("window.print = () => { window.printed = true }")
    codes = enrol(app, page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    copy = page.locator("[data-copies]")
    copy.focus()
    page.keyboard.press("Enter")
    expect(copy).to_have_text("Copied")
    assert copied(page).split() == codes
    for _ in range(2):  # a second download works as well
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").press("Enter")
        assert download.value.suggested_filename.endswith("-backup-codes.txt")
        assert codes_in(Path(download.value.path())) == codes
    page.get_by_role("button", name="Print").press("Enter")
    assert page.evaluate("window.printed")
    page.emulate_media(media="print")
    expect(page.locator(".codes")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    page.emulate_media(media="screen")
    page.get_by_role("button", name="I’ve saved them").press("Enter")
    page.wait_for_url(AT_THE_SHOP)


def test_codes_are_copied_without_the_clipboard_api(app: AppFactor, opened: Opened) -> None:
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    codes = enrol(app, page)
    page.evaluate("document.addEventListener('copy', () => { window.copied = String(document.activeElement.value) })")
    page.locator("[data-copies]").click()
    expect(page.locator("[data-copies]")).to_have_text("Copied")
    assert page.evaluate("window.copied").split() == codes
    expect(page.locator("[data-copies]")).to_be_focused()


def test_codes_are_downloaded_and_saved_without_scripts(app: AppFactor, opened: Opened) -> None:
    page = opened(accept_downloads=True, **BARE)
    codes = enrol(app, page)
    expect(page.locator("[data-copies]")).to_be_hidden()
    expect(page.locator("[data-prints]")).to_be_hidden()
    with page.expect_download() as download:
        page.locator("form[action='/backup-codes/file'] button[type=submit]").click()
    assert codes_in(Path(download.value.path())) == codes
    attempt = page.locator("[name=attempt]").first.get_attribute("value")
    page.goto(f"{app.ada.served}/login?attempt={attempt}")
    expect(page.locator("button[value=save]")).to_have_count(0)
    page.locator("main .form button[type=submit]").click()  # the codes of the first page were not saved: new ones
    expect(page.locator(".codes code")).to_have_count(10)
    assert page.locator(".codes code").all_inner_texts() != codes
    page.locator("button[value=save]").click()
    page.wait_for_url(AT_THE_SHOP)


def test_code_field_is_focused_and_large(app: AppFactor, opened: Opened) -> None:
    page = opened()
    enrol(app, page)
    page.locator("button[value=save]").click()
    page.wait_for_url(AT_THE_SHOP)
    app.ada.advance_clock(seconds=31)
    page = opened(**NARROW)
    app.ada.sign_in(page)
    field = page.get_by_label("6-digit code")
    expect(field).to_be_focused()
    expect(field).to_have_css("font-size", "26px")
    expect(field).to_have_attribute("autocomplete", "one-time-code")
    expect(page.locator(".chip")).to_contain_text("ada@example.com")
    page.keyboard.type(app.code())
    page.wait_for_url(AT_THE_SHOP)


def test_not_you_leads_to_another_sign_in(app: AppFactor, opened: Opened) -> None:
    page = opened(**NARROW)
    enrol(app, page)
    page.get_by_role("button", name="Not you?").press("Enter")
    expect(page.locator("[name=identifier]")).to_be_visible()
