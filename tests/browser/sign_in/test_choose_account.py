"""Choosing an account, and leaving out a scope, in Chromium."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.relying_party import Person, claims_in
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import answered


def sign_in(page: Page, person: Person) -> None:
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password", exact=True).fill(person.password)
    page.get_by_role("button", name="Sign in").click()


def code_in(page: Page) -> str:
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    return parse_qs(urlsplit(page.url).query)["code"][0]


@pytest.mark.parametrize("has_script", [True, False])
def test_person_uses_two_accounts(world: World, served: str, opened: Opened, has_script: bool) -> None:
    shop = the_shop(world, served)
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace", FullName="Ada Lovelace")
    grace = world.person("grace@example.com")
    page = opened(java_script_enabled=has_script, viewport={"width": 320, "height": 800})
    page.goto(sign_in_address(served, shop))
    sign_in(page, ada)
    code_in(page)
    choose = f"{sign_in_address(served, shop)}&prompt=select_account"
    page.goto(choose)
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose an account")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("button", name="Use another account").click()
    sign_in(page, grace)
    assert claims_in(answered(shop.redeem(code_in(page)))["id_token"])["sub"] == grace.uid
    page.goto(choose)
    page.get_by_role("button", name="Ada Lovelace").focus()
    page.keyboard.press("Enter")
    assert claims_in(answered(shop.redeem(code_in(page)))["id_token"])["sub"] == ada.uid
    page.goto(choose)
    page.get_by_text("Sign out of an account").click()
    page.get_by_role("button", name=f"Sign out of {grace.email}").click()
    expect(page.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    expect(page.get_by_text(grace.email)).to_have_count(0)


@pytest.mark.parametrize("has_script", [True, False])
def test_form_of_the_other_account_is_sent_after_switching_back(
    world: World, served: str, opened: Opened, has_script: bool
) -> None:
    """One tab chooses another account while a form of the first one is open in a second tab (decision 0244)."""
    shop = the_shop(world, served)
    ada, grace = world.person("ada@example.com"), world.person("grace@example.com")
    page = opened(java_script_enabled=has_script, viewport={"width": 320, "height": 800})
    page.goto(sign_in_address(served, shop))
    sign_in(page, grace)
    code_in(page)
    choose = f"{sign_in_address(served, shop)}&prompt=select_account"
    page.goto(choose)
    page.get_by_role("button", name="Use another account").click()
    sign_in(page, ada)
    code_in(page)
    page.goto(f"{served}/profile/edit")
    page.get_by_label("First name").fill("Augusta")
    other = page.context.new_page()
    other.goto(choose)
    other.get_by_role("button", name=grace.email).first.click()
    code_in(other)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You switched accounts")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("button", name="Switch back").click()
    page.wait_for_url("**/profile?saved=1")
    expect(page.get_by_text("Augusta").first).to_be_visible()
    page.goto(f"{served}/profile/edit")
    expect(page.get_by_label("First name")).to_have_value("Augusta")


@pytest.mark.parametrize("has_script", [True, False])
def test_person_leaves_out_a_scope(world: World, served: str, opened: Opened, has_script: bool) -> None:
    shop = the_shop(world, served, require_consent=True, optional_scopes=["email", "profile"])
    page = opened(java_script_enabled=has_script, viewport={"width": 390, "height": 844})
    page.goto(sign_in_address(served, shop))
    sign_in(page, world.person("ada@example.com"))
    page.get_by_label("See your email address").uncheck()
    page.get_by_role("button", name="Allow access").click()
    assert "email" not in answered(shop.redeem(code_in(page)))["scope"].split()
