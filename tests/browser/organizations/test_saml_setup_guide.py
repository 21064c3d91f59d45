"""The set-up guide of a SAML product in Chromium, from its link to the first sign-in. pysaml2 is the identity provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.fakes.dns_server import FakeDns
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import DOMAIN, MINA, business_of
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.saml.provider_server import ProviderServer, saml_provider
from tests.support.saml.pysaml2_provider import Pysaml2Provider
from tests.support.visitors.visitor import NewVisitorAt

BOTH = pytest.mark.parametrize("has_script", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture
def pages() -> Iterator[ProviderServer]:
    with saml_provider() as found:
        yield found


@pytest.fixture
def idp(pages: ProviderServer, tmp_path: Path, world: World, served: str) -> Pysaml2Provider:
    provider = Pysaml2Provider(pages, tmp_path)
    provider.person = {"uid": "mina-1", "mail": MINA["email"], "givenName": "Mina", "sn": "Harker"}
    hub = world.services.settings.hub_url(world.name)

    def answer(address: str) -> tuple[str, dict[str, str]]:
        action, fields = provider.answer(address)
        return action.replace(hub, served), fields

    pages.answer = answer
    return provider


@pytest.fixture
def setup(
    world: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, fake_dns: FakeDns
) -> SetupByLink:
    world.change_settings(organizations={"dns": True})
    return SetupByLink(world, business_of(world, identity_app), new_visitor_at(world), fake_provider, fake_dns)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def at_the_provider(page: Page, *, has_script: bool) -> None:
    """Post the provider's form; a script does it where scripts run."""
    if not has_script:
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in at Globex")
        press(page, "Sign in")


def to_the_test(page: Page, setup: SetupByLink, idp: Pysaml2Provider, served: str) -> None:
    """Go from the link to the test: the provider is set up by the values of the guide, and its metadata is pasted."""
    page.goto(f"{served}{setup.path}")
    press(page, "Start setup")
    page.get_by_label("Domain", exact=True).fill(DOMAIN)
    page.keyboard.press("Enter")
    setup.dns.text(DOMAIN, page.locator("code", has_text="gatehouse-domain-verification=").inner_text())
    press(page, f"Verify {DOMAIN}")
    press(page, "SAML 2.0")
    entity_id = page.locator("#value-1").inner_text()
    idp.trust(setup.visitor.open(f"{urlsplit(entity_id).path}/metadata.xml").html)
    page.get_by_label("Metadata XML").fill(idp.metadata)
    press(page, "Save and continue")
    expect(page.get_by_role("heading", level=1)).to_have_text("Test the sign-in")


@BOTH
def test_administrator_sets_up_saml_and_people_sign_in(
    setup: SetupByLink, idp: Pysaml2Provider, served: str, opened: Opened, has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    to_the_test(page, setup, idp, served)
    press(page, "Sign in to test")
    at_the_provider(page, has_script=has_script)
    expect(
        page.get_by_text("changes with every sign-in")
    ).to_be_visible()  # pysaml2 sends a transient NameID unless told otherwise
    assert setup.connections() == []
    page.get_by_label("Account ID").select_option("uid")
    press(page, "Save and continue")
    expect(page.get_by_role("heading", level=1)).to_have_text("Test the sign-in")
    press(page, "Test again")
    at_the_provider(page, has_script=has_script)
    expect(page.get_by_text("The test worked")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text(MINA["email"])
    assert setup.connections() == []
    press(page, "Save and continue")
    press(page, "Activate")
    expect(page.get_by_role("heading", level=1)).to_have_text("Single sign-on is active")
    page.get_by_role("link", name="Go to sign-in").click()
    page.get_by_label("Email").fill(MINA["email"])
    page.get_by_label("Password", exact=True).fill("filled by a manager 7")
    press(page, "Sign in")
    at_the_provider(page, has_script=has_script)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Profile")
    expect(page.get_by_text("Mina Harker").first).to_be_visible()


def test_refused_saml_test_can_be_mended(setup: SetupByLink, idp: Pysaml2Provider, served: str, opened: Opened) -> None:
    page = opened(viewport={"width": 390, "height": 844})
    to_the_test(page, setup, idp, served)
    press(page, "Sign in to test")
    expect(page.get_by_text("The test didn’t work")).to_be_visible()
    page.get_by_label("Account ID").select_option("uid")
    press(page, "Save and continue")
    expect(page.get_by_text("You changed how people are identified")).to_be_visible()
    idp.person = {"uid": "mina-1", "givenName": "Mina"}
    press(page, "Test again")
    expect(page.get_by_text("no address")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    idp.person = {"uid": "mina-1", "mail": MINA["email"]}
    press(page, "Test again")
    expect(page.get_by_text("The test worked")).to_be_visible()
