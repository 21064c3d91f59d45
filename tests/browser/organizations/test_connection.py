"""Signing in by an organization's connection in Chromium, with and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, business_of
from tests.support.visitors.visitor import NewVisitorAt

AT_THE_SHOP = "http://127.0.0.1:*/cb?**code=**"
BOTH = pytest.mark.parametrize("has_script", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture(params=[True, False], ids=["two steps", "one page"])
def world(new_world: NewWorld, request: pytest.FixtureRequest) -> World:
    return new_world(identifier_first=request.param)


@pytest.fixture
def globex(
    world: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> ConnectedOrganization:
    return ConnectedOrganization(world, business_of(world, identity_app), new_visitor_at, fake_provider)


@pytest.fixture
def shop(world: World, served: str) -> RelyingParty:
    return the_shop(world, served)


def lets_in(globex: ConnectedOrganization, served: str, **claims: Any) -> None:
    """Let the provider send the browser back at once, as Mina."""
    hub = globex.visitor.home
    globex.provider.lets_in = lambda redirected: globex.provider.callback_url(redirected, **{**MINA, **claims}).replace(
        hub, served
    )


def is_first_step(page: Page) -> bool:
    return page.get_by_role("button", name="Continue", exact=True).is_visible()


def give_email(page: Page, email: str) -> None:
    """Type an address; on a form with a password, as a password manager fills in both."""
    page.get_by_label("Email").fill(email)
    if is_first_step(page):
        page.get_by_role("button", name="Continue", exact=True).click()
        return
    page.get_by_label("Password", exact=True).fill("filled by a manager 7")
    page.get_by_role("button", name="Sign in", exact=True).click()


@BOTH
def test_person_signs_in_first_and_second_time(
    globex: ConnectedOrganization, shop: RelyingParty, served: str, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    lets_in(globex, served)
    page.goto(sign_in_address(served, shop))
    give_email(page, MINA["email"])
    page.wait_for_url(AT_THE_SHOP)
    for cookie in page.context.cookies():
        if "session" in cookie["name"]:
            page.context.clear_cookies(name=cookie["name"])
    page.goto(f"{served}/login")
    last = page.get_by_role("link", name="Continue with Globex Gardens")
    expect(last).to_contain_text("Last used")
    last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Profile")


@BOTH
def test_refused_person_reads_why_and_uses_a_password(
    globex: ConnectedOrganization, shop: RelyingParty, served: str, opened: Opened, has_script: bool
) -> None:
    mina = globex.tenant.person(MINA["email"])
    page = opened(java_script_enabled=has_script)
    lets_in(globex, served, email="mina@initech.example")
    page.goto(sign_in_address(served, shop))
    give_email(page, mina.email)
    expect(page.get_by_text("This email can’t be used here")).to_be_visible()
    page.get_by_label("Email").fill(mina.email)
    if is_first_step(page):
        page.get_by_role("button", name="Continue", exact=True).click()
    page.get_by_label("Password", exact=True).fill(mina.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(AT_THE_SHOP)


@BOTH
def test_back_from_the_provider_shows_the_address_again(
    globex: ConnectedOrganization, shop: RelyingParty, served: str, opened: Opened, has_script: bool
) -> None:
    globex.provider.answers["/authorize"] = (200, {"Content-Type": "text/html"}, b"<h1>Sign in at Globex</h1>")
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, shop))
    give_email(page, MINA["email"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in at Globex")
    page.go_back()
    expect(page.get_by_label("Email")).to_be_visible()
    give_email(page, MINA["email"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in at Globex")


def test_provider_that_is_down_leaves_the_form(
    globex: ConnectedOrganization, shop: RelyingParty, served: str, opened: Opened
) -> None:
    page = opened()
    lets_in(globex, served)
    globex.provider.answers["/token"] = (503, {}, b"")
    page.goto(sign_in_address(served, shop))
    give_email(page, f"anyone@{DOMAIN}")
    expect(page.get_by_text("This provider isn’t responding")).to_be_visible()
    expect(page.get_by_label("Email")).to_be_visible()
