"""Signing in by an organization's SAML connection in Chromium, with and without scripts: the provider's page posts the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.connected_organization import MINA, business_of
from tests.support.organizations.saml_organization import SamlOrganization, read_request
from tests.support.saml.provider_server import ProviderServer, saml_provider
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

AT_THE_SHOP = "http://127.0.0.1:*/cb?**code=**"
BOTH = pytest.mark.parametrize("has_script", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(identifier_first=True)


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with saml_provider() as found:
        yield found


@pytest.fixture
def globex(
    world: World,
    identity_app: Flask,
    new_visitor_at: NewVisitorAt,
    fake_provider: FakeProvider,
    provider: ProviderServer,
    served: str,
) -> SamlOrganization:
    organization = SamlOrganization(
        world, business_of(world, identity_app), new_visitor_at, fake_provider,
        IDPSignInUrl=f"{provider.url}/sso", IsIDPInitiated=True,
    )  # fmt: skip
    lets_in(organization, provider, served)
    return organization


def lets_in(globex: SamlOrganization, provider: ProviderServer, served: str, **form: Any) -> None:
    """Let the provider answer as Mina; without a request it begins the sign-in itself."""

    def answer(address: str) -> tuple[str, dict[str, str]]:
        is_requested = "SAMLRequest=" in address
        made = globex.answer(VisitedPage(globex.visitor, address, None) if is_requested else None)
        fields = {"SAMLResponse": made.posted(**form)}
        fields |= {"RelayState": read_request(address).relay_state} if is_requested else {}
        return made.acs_url.replace(globex.visitor.home, served), fields

    provider.answer = answer


@pytest.fixture
def shop(world: World, served: str) -> RelyingParty:
    return the_shop(world, served)


def give_email(page: Page, *, has_script: bool) -> None:
    page.get_by_label("Email").fill(MINA["email"])
    page.get_by_role("button", name="Continue", exact=True).click()
    post(page, has_script=has_script)


def post(page: Page, *, has_script: bool) -> None:
    """Post the provider's form; a script does it where scripts run."""
    if not has_script:
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in at Globex")
        page.get_by_role("button", name="Sign in").click()


@BOTH
def test_person_signs_in_to_the_shop_by_saml(
    globex: SamlOrganization, shop: RelyingParty, served: str, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, shop))
    give_email(page, has_script=has_script)
    page.wait_for_url(AT_THE_SHOP)
    page.goto(f"{served}/profile")
    expect(page.get_by_text("Mina Harker").first).to_be_visible()
    assert globex.count_accounts() == 1


@BOTH
def test_sign_in_that_begins_at_the_provider_is_confirmed(
    globex: SamlOrganization, provider: ProviderServer, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    page.goto(f"{provider.url}/sso")
    post(page, has_script=has_script)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in?")
    assert globex.count_accounts() == 0
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Profile")


@BOTH
def test_refused_answer_shows_a_reference_and_a_link(
    globex: SamlOrganization,
    provider: ProviderServer,
    shop: RelyingParty,
    served: str,
    opened: Opened,
    has_script: bool,
) -> None:
    lets_in(globex, provider, served, signed=None)
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, shop))
    give_email(page, has_script=has_script)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in didn’t finish")
    expect(page.get_by_text("mention this ID")).to_be_visible()
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_label("Email")).to_be_visible()
