"""Invited people join an organization in Chromium: with and without scripts, on phones, in Arabic, by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from tests.support.accounts.mailbox import link_in
from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import BARE
from tests.support.oauth.world import World
from tests.support.organizations.invitations import GUEST, InvitingBusiness
from tests.support.tenants.tenant_server import TenantServer

PASSWORD, NEW_PASSWORD = "correct horse 7", "Zebra-kettle-91"
PHONE = {"width": 390, "height": 844}
WORDS = {
    "en": ("Join Acme", "Create account to join", "Password", "Create account"),
    "ar": ("انضم إلى Acme", "إنشاء حساب للانضمام", "كلمة المرور", "إنشاء حساب"),
}


@pytest.fixture
def business(world: World, identity_app: Flask) -> InvitingBusiness:
    """Grace's organization, which invited the guest."""
    server = TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, world.api_secret)
    made = InvitingBusiness(server)
    made.invite()
    return made


def link_of(world: World, served: str, business: InvitingBusiness) -> str:
    """Return the mailed link, rewritten to the served port."""
    return link_in(business.mail()).replace(world.services.settings.hub_url(world.name), served)


def members(business: InvitingBusiness) -> list[str]:
    return [member["Email"] for member in business.members() if member["Uid"] != business.grace]


def is_wider_than_its_window(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.mark.parametrize("how", [{}, {**BARE, "viewport": PHONE}], ids=["script", "no script, ar, phone"])
def test_new_person_signs_up_and_joins(
    world: World, served: str, opened: Opened, business: InvitingBusiness, how: dict[str, Any]
) -> None:
    title, create, password, submit = WORDS[how.get("locale", "en")]
    page = opened(**how)
    page.goto(link_of(world, served, business))
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.get_by_text(GUEST)).to_be_visible()
    assert not is_wider_than_its_window(page)
    page.get_by_role("button", name=create).click()
    email = page.locator("input[name=email]")
    expect(email).to_have_value(GUEST)
    assert email.get_attribute("readonly") is not None
    page.get_by_label(password, exact=True).fill(NEW_PASSWORD)
    page.get_by_role("button", name=submit, exact=True).click()
    page.wait_for_url("**/profile**")
    assert members(business) == [GUEST]


def test_another_account_switches_and_joins(
    world: World, served: str, opened: Opened, business: InvitingBusiness
) -> None:
    for email in (GUEST, "eve@example.com"):
        world.person(email)
    page = opened()
    page.goto(f"{served}/login")
    page.get_by_label("Email").fill("eve@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/profile**")
    page.goto(link_of(world, served, business))
    expect(page.get_by_role("heading", level=1)).to_have_text("Switch account to join")
    page.get_by_role("button", name="Switch account").click()
    expect(page.get_by_label("Email")).to_have_value(GUEST)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/profile**")
    assert members(business) == [GUEST]
    page.goto(link_of(world, served, business))
    expect(page.get_by_role("heading", level=1)).to_have_text("You’re already a member")
