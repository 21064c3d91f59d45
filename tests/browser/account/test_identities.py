"""Linking an identity in Chromium without scripts: link, sign in with it, unlink after reauthentication."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import AT_THE_SHOP, BARE, PASSWORD, Ada, send
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def world(new_world: NewWorld, fake_provider: FakeProvider) -> World:
    return new_world(connections={"globex": fake_provider.openid()})


def test_identity_is_linked_signs_in_and_is_unlinked(
    world: World, served: str, opened: Opened, fake_provider: FakeProvider
) -> None:
    ada, page = Ada(world, served), opened(**BARE)
    fake_provider.lets_in = lambda redirected: ada.served_address(
        fake_provider.callback_url(redirected, sub="4711", email="countess@globex.example")
    )
    ada.sign_in(page)
    page.wait_for_url(AT_THE_SHOP)
    page.goto(f"{served}/security")
    page.locator('a[href="/identities"]').click()
    page.locator('a[href="/identities/add?provider=globex"]').click()
    page.locator("main button[type=submit]").last.click()
    page.wait_for_url("**/identities?done=linked")
    expect(page.get_by_text("countess@globex.example")).to_be_visible()

    page.context.clear_cookies()
    ada.open_login(page).locator('a[href^="/sign-in/with?provider=globex"]').click()
    page.wait_for_url(AT_THE_SHOP)

    ada.advance_clock(minutes=10)
    page.context.clear_cookies()
    ada.sign_in(page)
    page.wait_for_url(AT_THE_SHOP)
    ada.advance_clock(minutes=10)
    page.goto(f"{served}/identities")
    page.locator('a[href^="/identities/remove?id="]').click()
    page.locator("main [name=password]").fill("not the password 7")
    send(page, "password")
    page.locator("main [name=password]").fill(PASSWORD)
    send(page, "password")
    page.wait_for_url("**/identities?done=removed")
    expect(page.get_by_text("countess@globex.example")).to_have_count(0)

    page.context.clear_cookies()
    ada.open_login(page).locator('a[href^="/sign-in/with?provider=globex"]').click()
    page.wait_for_url("**/register?**")
