"""Sign-in at a social provider in Chromium: first and second time, an existing account, refused, down, Back, two tabs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.identity.directory.accounts import accounts, linked_identities
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.browsers.shop_user import ADA, AT_THE_SHOP, BARE, HOW, PASSWORD, Ada, send
from tests.support.fakes.identity_provider import FakeProvider, ReceivedRequest
from tests.support.oauth.world import NewWorld, World
from tests.support.refused_answers.providers import ConnectedProvider, connected
from tests.support.tenants.callers import call_of

YAHOO = 'a[href^="/sign-in/with?provider=yahoo"]'
ASKS = "http://provider.localhost:*/authorize?**"
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/pages has the databases


@pytest.fixture
def yahoo(fake_provider: FakeProvider) -> ConnectedProvider:
    return connected("yahoo", fake_provider, trusts_email=True)


@pytest.fixture
def world(new_world: NewWorld, yahoo: ConnectedProvider) -> World:
    world = new_world()
    yahoo.store(world)
    return world


@pytest.fixture
def asking(world: World, served: str, yahoo: ConnectedProvider) -> ConnectedProvider:
    """The provider with a page of its own, where the person signs in or cancels."""
    home = world.services.settings.hub_url(world.name)

    def page(request: ReceivedRequest) -> tuple[int, Any] | None:
        if request.path != "/authorize":
            return None
        back = yahoo.callback(request.url, sub="1", email=ADA).replace("&", "&amp;")
        refused = f"{request.query['redirect_uri'].replace(home, served)}?error=access_denied&amp;state={request.query['state']}"
        links = f'<a href="{served}{back}">Continue as Ada</a> <a href="{refused}">Cancel</a>'
        return 200, f"<!doctype html><title>Yahoo</title><h1>Yahoo</h1>{links}".encode()

    yahoo.fake.for_apps = page
    return yahoo


def at_the_provider(page: Page, address: str) -> Page:
    """Open a sign-in, and the provider's page from there."""
    page.goto(address)
    page.locator(YAHOO).click()
    page.wait_for_url(ASKS)
    return page


def linked(world: World) -> list[str]:
    with call_of(world.services, world.name) as call:
        account = accounts.by_email(call, ADA)
        return [identity.subject for identity in linked_identities.of(account)] if account is not None else []


@HOW
@pytest.mark.usefixtures("asking")
def test_first_and_second_sign_in(world: World, served: str, opened: Opened, how: dict[str, Any]) -> None:
    address, page = sign_in_address(served, the_shop(world, served)), opened(**how)
    for _time in ("first", "second"):
        at_the_provider(page, address).get_by_text("Continue as Ada").click()
        page.wait_for_url(AT_THE_SHOP)
        assert linked(world) == ["1"]
        page.context.clear_cookies(name=re.compile("session"))
    page.goto(address)
    expect(page.locator(f"{YAHOO} .tag")).to_be_visible()  # the method that this browser used last


@HOW
@pytest.mark.usefixtures("asking")
def test_existing_account_signs_in_once(world: World, served: str, opened: Opened, how: dict[str, Any]) -> None:
    ada, page = Ada(world, served), opened(**how)
    address = sign_in_address(served, ada.shop)
    at_the_provider(page, address).get_by_text("Continue as Ada").click()
    page.wait_for_url("**/login?**needs=connects")
    expect(page.locator(".chip")).to_contain_text(ADA)
    expect(page.locator(".lead")).to_contain_text("Yahoo")
    page.locator("main [name=password]").fill("not the password 7")
    send(page, "password")
    expect(page.locator("#password-problem")).to_be_visible()
    page.go_back()
    page.locator("main [name=password]").fill(PASSWORD)
    assert linked(world) == []
    send(page, "password")
    page.wait_for_url(AT_THE_SHOP)
    assert linked(world) == ["1"]
    page.context.clear_cookies()
    at_the_provider(page, address).get_by_text("Continue as Ada").click()
    page.wait_for_url(AT_THE_SHOP)


@HOW
def test_refused_and_broken_provider_leave_other_methods(
    world: World, served: str, opened: Opened, asking: ConnectedProvider, how: dict[str, Any]
) -> None:
    ada, page = Ada(world, served), opened(**how)
    at_the_provider(page, sign_in_address(served, ada.shop)).get_by_text("Cancel").click()
    page.wait_for_url("**/login?**needs=denied**")
    asking.fake.answers["/token"] = (503, {"Content-Type": "text/html"}, b"<h1>Service Unavailable</h1>")
    page.locator(YAHOO).click()
    page.get_by_text("Continue as Ada").click()
    page.wait_for_url("**/login?**needs=broken**")
    expect(page.get_by_text(re.compile("([A-Z]{4}-){2}[A-Z]{4}"))).to_be_visible()  # the ID that `gatehouse why` takes
    ada.type_password(page)
    page.wait_for_url(AT_THE_SHOP)
    assert linked(world) == []


@HOW
@pytest.mark.usefixtures("asking")
def test_back_from_the_provider_and_from_the_shop(
    world: World, served: str, opened: Opened, how: dict[str, Any]
) -> None:
    page = opened(**how)
    at_the_provider(page, sign_in_address(served, the_shop(world, served)))
    page.go_back()
    page.locator(YAHOO).click()
    page.wait_for_url(ASKS)
    page.get_by_text("Continue as Ada").click()
    page.wait_for_url(AT_THE_SHOP)
    page.go_back()  # to the provider's page, whose answer is used up
    page.get_by_text("Continue as Ada").click()
    page.wait_for_url(f"{served}/profile**")
    assert linked(world) == ["1"]


@pytest.mark.usefixtures("asking")
def test_two_tabs_end_where_each_began(world: World, served: str, opened: Opened) -> None:
    address, first = sign_in_address(served, the_shop(world, served)), opened()
    second = first.context.new_page()
    for tab in (first, second):
        at_the_provider(tab, address)
    for tab in (first, second):
        tab.get_by_text("Continue as Ada").click()
        tab.wait_for_url(AT_THE_SHOP)
    assert linked(world) == ["1"]


@pytest.mark.usefixtures("asking")
def test_account_page_connects_and_survives_a_refusal(world: World, served: str, opened: Opened) -> None:
    ada, page = Ada(world, served), opened()
    ada.sign_in(page)
    page.wait_for_url(AT_THE_SHOP)
    for answer, landing in (
        ("Cancel", "**/identities?problem=denied**"),
        ("Continue as Ada", "**/identities?done=linked"),
    ):
        page.goto(f"{served}/identities/add?provider=yahoo")
        page.locator("main button[type=submit]").last.click()
        page.wait_for_url(ASKS)
        page.get_by_text(answer).click()
        page.wait_for_url(landing)
    page.locator('a[href^="/identities/remove?id="]').click()
    page.locator("main form:not([action='/switch-account']) button[type=submit]").last.click()
    page.wait_for_url("**/identities?done=removed")
    assert linked(world) == []


def test_provider_that_is_down_is_named_at_once(
    world: World, served: str, opened: Opened, yahoo: ConnectedProvider
) -> None:
    yahoo.fake.answers["/.well-known/openid-configuration"] = (500, {}, b"")
    page = opened(**BARE)
    page.goto(sign_in_address(served, the_shop(world, served)))
    page.locator(YAHOO).click()
    page.wait_for_url("**/login?**needs=broken**")
    expect(page.locator(YAHOO)).to_be_visible()
