"""The page of a locked sign-in's captcha in Chromium: it computes, sends the sign-in once, and never asks for the password."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.accounts.mailbox import mails_to
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.world import NewWorld, World

ADA, PASSWORD = "ada@example.com", "correct horse 7"
STOPPED = "window.now = Date.now; var hours = 0; Date.now = () => hours += 3600000"
"""Stops the proof of work, until `Date.now` is the browser's own again."""


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(lockout={"type": "captcha", "maximum_failed_attempts": 1}, captcha={"work_bits": 10})


def type_password(page: Page, address: str, password: str = PASSWORD) -> None:
    page.goto(address)
    page.get_by_label("Email").fill(ADA)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()


def posts_of(page: Page) -> list[str]:
    """Return a list that grows with each form that the page sends to the sign-in."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    return sent


@pytest.fixture
def address(world: World, served: str, opened: Opened) -> str:
    """Return the address of the sign-in to a shop, of an account that a wrong password locked."""
    shop = the_shop(world, served)
    world.person(ADA)
    type_password(page := opened(), sign_in_address(served, shop), "wrong")
    expect(page.locator("#password-problem")).to_contain_text("Wrong email or password.")
    return sign_in_address(served, shop)


def test_check_signs_in_by_itself_and_once(address: str, opened: Opened) -> None:
    page = opened()
    page_errors: list[str] = []
    page.on("pageerror", lambda problem: page_errors.append(str(problem)))
    sent = posts_of(page)
    type_password(page, address)
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    assert len([url for url in sent if url.endswith("/login")]) == 2  # the typed password, then the check
    assert page_errors == []


def test_early_submit_waits_and_sends_once(address: str, opened: Opened) -> None:
    page = opened()
    page.add_init_script(STOPPED)
    type_password(page, address)
    expect(page.get_by_role("heading", level=1)).to_have_text("One more check")
    expect(page.locator("#captcha[role=status]")).to_have_text("Checking your browser…")
    expect(page.get_by_role("button", name="Email me a link", exact=True)).to_be_hidden()
    sent = posts_of(page)
    expect(page.get_by_role("button", name="Continue")).to_be_hidden()
    page.locator("form[action='/login']").evaluate("form => form.requestSubmit()")
    expect(page.locator("form.busy .button[aria-busy=true]")).to_have_text("Checking…")
    page.evaluate("Date.now = window.now")
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    assert len([url for url in sent if url.endswith("/login")]) == 1


def test_check_offers_a_link_from_the_start(world: World, address: str, opened: Opened) -> None:
    page = opened()
    page.add_init_script(STOPPED)
    type_password(page, address)
    expect(page.locator("#captcha")).to_have_text("Checking your browser…")
    page.get_by_role("button", name="Email me a link instead").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    assert len(mails_to(world.services, world.tenant_id, ADA)) == 1


def test_wrong_password_leads_back_to_its_field(address: str, opened: Opened) -> None:
    page = opened()
    type_password(page, address, "wrong again")
    expect(page.locator("#password-problem")).to_contain_text("Wrong email or password.")
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    expect(page.get_by_label("Email")).to_have_value(ADA)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")


def test_without_scripts_only_the_link_is_offered(world: World, address: str, opened: Opened) -> None:
    page = opened(java_script_enabled=False)
    type_password(page, address)
    expect(page.get_by_role("heading", level=1)).to_have_text("One more check")
    expect(page.get_by_role("button", name="Continue")).to_be_hidden()
    expect(page.get_by_text("Checking your browser…")).to_be_hidden()
    page.get_by_role("button", name="Email me a link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    assert len(mails_to(world.services, world.tenant_id, ADA)) == 1
