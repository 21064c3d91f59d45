"""The set-up guide in Chromium, from its link to the first sign-in by an OpenID Connect product, with and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.fakes.dns_server import FakeDns
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import DOMAIN, MINA, business_of
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.visitors.visitor import NewVisitorAt

BOTH = pytest.mark.parametrize("has_script", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture
def setup(
    world: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, fake_dns: FakeDns
) -> SetupByLink:
    world.change_settings(organizations={"dns": True})
    return SetupByLink(world, business_of(world, identity_app), new_visitor_at(world), fake_provider, fake_dns)


def lets_in(setup: SetupByLink, served: str, **claims: Any) -> None:
    """Let the provider send the browser back at once, as Mina."""
    hub = setup.visitor.home
    setup.provider.lets_in = lambda redirected: setup.provider.callback_url(redirected, **{**MINA, **claims}).replace(
        hub, served
    )


def heading_is(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


@BOTH
def test_administrator_sets_up_and_people_sign_in(
    setup: SetupByLink, served: str, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    lets_in(setup, served)
    page.goto(f"{served}{setup.path}")
    press(page, "Start setup")
    page.get_by_label("Domain", exact=True).fill(DOMAIN)
    page.keyboard.press("Enter")
    record = page.locator("code", has_text="gatehouse-domain-verification=")
    expect(page.get_by_role("button", name=f"Copy the value for {DOMAIN}")).to_be_visible(visible=has_script)
    setup.dns.text(DOMAIN, record.inner_text())
    press(page, f"Verify {DOMAIN}")
    heading_is(page, "Choose your provider")
    press(page, "OpenID Connect")
    page.get_by_label("Issuer").fill("https://login.microsoftonline.com/common/v2.0")
    page.get_by_label("Client ID").fill(CLIENT)
    page.get_by_label("Client secret").fill(SECRET)
    press(page, "Save and continue")
    expect(page.get_by_text("Anyone can have an account there.")).to_be_visible()
    expect(page.get_by_label("Client ID")).to_have_value(CLIENT)
    page.get_by_label("Issuer").fill(setup.provider.url)
    press(page, "Save and continue")
    heading_is(page, "Test the sign-in")
    press(page, "Sign in to test")
    expect(page.get_by_text("The test worked")).to_be_visible()
    expect(page.get_by_label("Email", exact=True)).to_have_value("email")
    press(page, "Save and continue")
    press(page, "Activate")
    heading_is(page, "Single sign-on is active")
    page.get_by_role("link", name="Go to sign-in").click()
    page.get_by_label("Email").fill(MINA["email"])
    page.get_by_label("Password", exact=True).fill("filled by a manager 7")
    press(page, "Sign in")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Profile")


@BOTH
def test_administrator_goes_back_and_comes_again(
    setup: SetupByLink, served: str, opened: Opened, has_script: bool
) -> None:
    setup.with_values()
    page = opened(java_script_enabled=has_script)
    page.goto(f"{served}{setup.path}")
    press(page, "Start setup")
    heading_is(page, "Test the sign-in")
    page.get_by_role("link", name="Connection (done)").click()
    expect(page.get_by_label("Issuer")).to_have_value(setup.provider.url)
    page.go_back()
    heading_is(page, "Test the sign-in")
    page.reload()
    heading_is(page, "Test the sign-in")


def test_refused_test_can_be_mended(setup: SetupByLink, served: str, opened: Opened) -> None:
    setup.with_values(client_secret="wrong")
    setup.provider.answers["/token"] = (401, {"Content-Type": "application/json"}, b'{"error":"invalid_client"}')
    page = opened(viewport={"width": 390, "height": 844})
    lets_in(setup, served)
    page.goto(f"{served}{setup.path}")
    press(page, "Start setup")
    press(page, "Sign in to test")
    expect(page.get_by_text("The test didn’t work")).to_be_visible()
    expect(page.get_by_text("invalid_client").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name="Change the values").click()
    setup.provider.answers.clear()
    page.get_by_label("Client secret").fill(SECRET)
    press(page, "Save and continue")
    press(page, "Sign in to test")
    expect(page.get_by_text("The test worked")).to_be_visible()
