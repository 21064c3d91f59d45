"""Passkeys in Chromium, with a virtual authenticator, between processes: made, shown by button and from the field's list, removed, lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.support.hub_in_browser import Opened
from tests.support.installation import SHOP_SECRET, Installation, eventually, installed

PASSWORD = "Zebra-kettle-91"
_PEOPLE = itertools.count()


class Town:
    """The installation and the shop, each processes of their own."""

    def __init__(self, ours: Installation, shop: str) -> None:
        self.ours, self.shop = ours, shop

    def somebody(self) -> str:
        """Make an account, and return its address."""
        email = f"person{next(_PEOPLE)}@example.test"
        created = {"Email": [{"Type": "Primary", "Value": email}], "Password": PASSWORD, "EmailVerified": True}
        answer = self.ours.send("POST", "/identity/v2/manage/account", created, with_secret=True)
        assert answer.status_code == 200, answer.text
        return email


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with installed(tmp_path_factory.mktemp("town")) as ours:
        ours.start()
        shop = ours.open_shop()
        client = {"name": "shop", "client_name": "Acme Shop", "protocol": "openid", "client_id": "shop"}
        client |= {"client_secret": SHOP_SECRET, "token_endpoint_auth_method": "client_secret_basic"}
        addresses = {"redirect_uris": [f"{shop}/signed-in/acme"], "client_uri": f"{shop}/"}
        offered = {"selection": "both", "progressive_enrollment": False}
        ours.tenant({**client, **addresses}, email_login=True, passkeys=True, passkey_settings=offered)
        eventually(ours.knows_the_tenant, "the tenant is there")
        yield Town(ours, shop)


class Key:
    """A device that makes and shows passkeys."""

    def __init__(self, page: Page) -> None:
        self.cdp: CDPSession = page.context.new_cdp_session(page)
        self.cdp.send("WebAuthn.enable")
        wanted = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
        wanted |= {"isUserVerified": True, "automaticPresenceSimulation": True}
        self.name = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": wanted})["authenticatorId"]

    @property
    def held(self) -> list[Any]:
        return list(self.cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.name})["credentials"])


def comes(town: Town, page: Page) -> None:
    page.goto(town.shop)
    page.locator("a[href*='sign-in']").click()


def signs_in(town: Town, page: Page, email: str) -> None:
    comes(town, page)
    page.wait_for_url("**/login**")
    page.locator("[name=identifier]").fill(email)
    page.locator("main [name=password]").fill(PASSWORD)
    page.locator("main form:has([name=password]) button[type=submit]").last.click()
    is_welcome(town, page, email)


def is_welcome(town: Town, page: Page, email: str) -> None:
    page.wait_for_url(f"{town.shop}/")
    expect(page.get_by_text(email).first).to_be_visible()


def makes(town: Town, page: Page) -> None:
    """Make a passkey on the page of one's own."""
    page.goto(f"{town.ours.tenant_url}/passkeys/add")
    page.locator("form[data-passkey=create] button[type=submit]").click()
    page.wait_for_url("**/passkeys?**")
    expect(page.locator("main .row--wide")).to_have_count(1)


def has_no_list(page: Page) -> None:
    """Let the browser be one that shows no passkeys under a field: the authenticator here answers whatever asks first."""
    page.add_init_script("PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false)")


def leaves(page: Page) -> None:
    page.context.clear_cookies()


@pytest.fixture
def email(town: Town) -> str:
    return town.somebody()


def test_it_is_made_and_opens_the_account_by_the_button(town: Town, opened: Opened, email: str) -> None:
    page = opened()
    key = Key(page)
    signs_in(town, page, email)
    makes(town, page)
    assert len(key.held) == 1
    leaves(page)
    has_no_list(page)
    comes(town, page)
    page.get_by_label("Keep me signed in on this device").check()
    page.locator("form[data-passkey=get] button[type=submit]").click()
    is_welcome(town, page, email)
    (session,) = (one for one in page.context.cookies(town.ours.tenant_url) if "session" in str(one["name"]))
    assert session["expires"] > 0, "it outlives the browser"


def test_the_list_under_the_field_opens_it_too(town: Town, opened: Opened, email: str) -> None:
    page = opened()
    Key(page)
    signs_in(town, page, email)
    makes(town, page)
    leaves(page)
    comes(town, page)
    is_welcome(town, page, email)


def test_one_that_was_removed_opens_nothing(town: Town, opened: Opened, email: str) -> None:
    page = opened()
    Key(page)
    signs_in(town, page, email)
    makes(town, page)
    page.locator("main a[href*='/passkeys/edit']").click()
    page.locator("main button[value=remove]").click()
    page.wait_for_url("**/passkeys?**")
    expect(page.locator("main .row--wide")).to_have_count(0)
    leaves(page)
    has_no_list(page)
    comes(town, page)
    page.locator("form[data-passkey=get] button[type=submit]").click()
    expect(page.locator("#summary, form[data-passkey=get] [role=status]").first).not_to_be_empty()
    assert page.url.startswith(town.ours.tenant_url)


def test_without_javascript_the_password_is_the_way_round(town: Town, opened: Opened, email: str) -> None:
    page = opened(java_script_enabled=False)
    comes(town, page)
    page.locator("form[data-passkey=get] button[type=submit]").click()
    expect(page.locator("#summary")).to_contain_text("JavaScript")
    page.locator("[name=identifier]").fill(email)
    page.locator("main [name=password]").fill(PASSWORD)
    page.locator("main form:has([name=password]) button[type=submit]").last.click()
    is_welcome(town, page, email)
