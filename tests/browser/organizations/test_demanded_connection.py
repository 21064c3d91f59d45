"""An organization that demands its connections, in Chromium, with and without scripts: no page asks for a password first."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.connected_organization import MINA, ConnectedOrganization, business_of
from tests.support.organizations.management import PATH
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt

AT_THE_SHOP = "http://127.0.0.1:*/cb?**code=**"
BOTH = pytest.mark.parametrize("has_script", [True, False], ids=["scripts", "no scripts"])
OKTA = "Continue with okta"


@pytest.fixture(params=[True, False], ids=["two steps", "one page"])
def world(new_world: NewWorld, request: pytest.FixtureRequest) -> World:
    return new_world(identifier_first=request.param)


@pytest.fixture
def globex(
    world: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> ConnectedOrganization:
    """An organization that demands its two connections."""
    globex = ConnectedOrganization(world, business_of(world, identity_app), new_visitor_at, fake_provider, Domain=None)
    body = {
        "Name": "okta", "ConnectionType": "oidc_custom", "Issuer": fake_provider.url, "ClientId": CLIENT,
        "ClientSecret": SECRET,
    }  # fmt: skip
    answered(globex.business.send("POST", f"{PATH}/{globex.org}/connections", body))
    globex.set_policies(MethodPolicy={"AllowedMethods": ["connection"]})
    return globex


@pytest.fixture
def shop(world: World, served: str) -> RelyingParty:
    return the_shop(world, served)


def lets_in(globex: ConnectedOrganization, served: str) -> None:
    """Let the provider send the browser back at once, as Mina."""
    hub = globex.visitor.home
    globex.provider.lets_in = lambda redirected: globex.provider.callback_url(redirected, **MINA).replace(hub, served)


def give_email(page: Page, email: str) -> None:
    """Type an address; on a form with a password, as a password manager fills in both."""
    page.get_by_label("Email").fill(email)
    step = page.get_by_role("button", name="Continue", exact=True)
    if step.is_visible():
        step.click()
        return
    page.get_by_label("Password", exact=True).fill("filled by a manager 7")
    page.get_by_role("button", name="Sign in", exact=True).click()


@BOTH
def test_address_of_the_domain_chooses_a_connection(
    globex: ConnectedOrganization, shop: RelyingParty, served: str, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    lets_in(globex, served)
    page.goto(sign_in_address(served, shop))
    give_email(page, MINA["email"])
    expect(page.get_by_text("Globex Gardens requires a connected account")).to_be_visible()
    expect(page.locator("input[type=password]")).to_have_count(0)
    page.get_by_role("link", name=OKTA).click()
    page.wait_for_url(AT_THE_SHOP)


@BOTH
def test_guest_chooses_a_password_for_the_organization(
    globex: ConnectedOrganization, shop: RelyingParty, served: str, opened: Opened, has_script: bool
) -> None:
    """Its connections, and for a consultant a link to the password, which Back leaves again."""
    guest = globex.tenant.person("guest@partner.example")
    answered(globex.business.assign(guest.uid, globex.org, globex.member_role))
    page = opened(java_script_enabled=has_script)
    page.goto(f"{sign_in_address(served, shop)}&{urlencode({'organization': globex.org})}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Globex Gardens")
    expect(page.get_by_role("link", name=OKTA)).to_be_visible()
    expect(page.locator("input[type=password]")).to_have_count(0)
    page.get_by_role("link", name="Sign in another way").click()
    expect(page.get_by_label("Email")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Email")).to_have_count(0)
    page.get_by_role("link", name="Sign in another way").click()
    page.get_by_label("Email").fill(guest.email)
    step = page.get_by_role("button", name="Continue", exact=True)
    if step.is_visible():
        step.click()
    page.get_by_label("Password", exact=True).fill(guest.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(AT_THE_SHOP)


@BOTH
def test_sign_up_of_the_domain_chooses_a_connection(
    globex: ConnectedOrganization, served: str, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    lets_in(globex, served)
    page.goto(f"{served}/register")
    page.get_by_label("Email").fill(MINA["email"])
    page.get_by_label("Password", exact=True).fill("A staple & 9 horses")
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("link", name=OKTA).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Profile")
