"""Passkeys in Chromium with a virtual authenticator, across processes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.processes.installation import SHOP_SECRET, Installation, eventually, installed

PASSWORD = "Zebra-kettle-91"
_PEOPLE = itertools.count()


class PasskeyScenario:
    """The installation and the address of the shop; both run as processes."""

    def __init__(self, installation: Installation, shop: str) -> None:
        self.installation, self.shop = installation, shop

    def create_account(self) -> str:
        """Create an account and return its email address."""
        email = f"person{next(_PEOPLE)}@example.test"
        created = {"Email": [{"Type": "Primary", "Value": email}], "Password": PASSWORD, "EmailVerified": True}
        answer = self.installation.send("POST", "/identity/v2/manage/account", created, with_secret=True)
        assert answer.status_code == 200, answer.text
        return email


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PasskeyScenario]:
    with installed(tmp_path_factory.mktemp("scenario")) as installation:
        installation.start()
        shop = installation.open_shop()
        client = {"name": "shop", "client_name": "Acme Shop", "protocol": "openid", "client_id": "shop"}
        client |= {"client_secret": SHOP_SECRET, "token_endpoint_auth_method": "client_secret_basic"}
        addresses = {"redirect_uris": [f"{shop}/signed-in/acme"], "client_uri": f"{shop}/"}
        settings = {"selection": "both", "progressive_enrollment": False}
        installation.tenant({**client, **addresses}, email_login=True, passkeys=True, passkey_settings=settings)
        eventually(installation.knows_the_tenant, "the tenant is configured")
        yield PasskeyScenario(installation, shop)


class VirtualAuthenticator:
    """A virtual authenticator."""

    def __init__(self, page: Page) -> None:
        self.cdp: CDPSession = page.context.new_cdp_session(page)
        self.cdp.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
        options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
        self.name = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    @property
    def credentials(self) -> list[Any]:
        return list(self.cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.name})["credentials"])


def open_login(scenario: PasskeyScenario, page: Page) -> None:
    page.goto(scenario.shop)
    page.locator("a[href*='sign-in']").click()


def sign_in(scenario: PasskeyScenario, page: Page, email: str) -> None:
    open_login(scenario, page)
    page.wait_for_url("**/login**")
    page.locator("[name=identifier]").fill(email)
    page.locator("main [name=password]").fill(PASSWORD)
    page.locator("main form:has([name=password]) button[type=submit]").last.click()
    expect_shop(scenario, page, email)


def expect_shop(scenario: PasskeyScenario, page: Page, email: str) -> None:
    page.wait_for_url(f"{scenario.shop}/")
    expect(page.get_by_text(email).first).to_be_visible()


def create_passkey(scenario: PasskeyScenario, page: Page) -> None:
    """Create a passkey on the account's page."""
    page.goto(f"{scenario.installation.tenant_url}/passkeys/add")
    page.locator("form[data-passkey=create] button[type=submit]").click()
    page.wait_for_url("**/passkeys?**")
    expect(page.locator("main .rows .row")).to_have_count(1)


def disable_autofill(page: Page) -> None:
    """Disable passkey autofill, since the virtual authenticator answers the first request."""
    page.add_init_script("PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false)")


def sign_out(page: Page) -> None:
    page.context.clear_cookies()


@pytest.fixture
def email(scenario: PasskeyScenario) -> str:
    return scenario.create_account()


def test_passkey_button_signs_in(scenario: PasskeyScenario, opened: Opened, email: str) -> None:
    page = opened()
    authenticator = VirtualAuthenticator(page)
    sign_in(scenario, page, email)
    create_passkey(scenario, page)
    assert len(authenticator.credentials) == 1
    sign_out(page)
    disable_autofill(page)
    open_login(scenario, page)
    page.get_by_label("Keep me signed in").check()
    page.locator("form[data-passkey=get] button[type=submit]").click()
    expect_shop(scenario, page, email)
    (session,) = (
        cookie for cookie in page.context.cookies(scenario.installation.tenant_url) if "session" in str(cookie["name"])
    )
    assert session["expires"] > 0, "the cookie is persistent"


def test_passkey_autofill_signs_in(scenario: PasskeyScenario, opened: Opened, email: str) -> None:
    page = opened()
    VirtualAuthenticator(page)
    sign_in(scenario, page, email)
    create_passkey(scenario, page)
    sign_out(page)
    open_login(scenario, page)
    expect_shop(scenario, page, email)


def test_removed_passkey_is_refused(scenario: PasskeyScenario, opened: Opened, email: str) -> None:
    page = opened()
    VirtualAuthenticator(page)
    sign_in(scenario, page, email)
    create_passkey(scenario, page)
    page.locator("main a[href*='/passkeys/edit']").click()
    page.locator("main button[value=remove]").click()
    page.wait_for_url("**/passkeys?**")
    expect(page.locator("main .rows .row")).to_have_count(0)
    sign_out(page)
    disable_autofill(page)
    open_login(scenario, page)
    page.locator("form[data-passkey=get] button[type=submit]").click()
    expect(page.locator("#summary, form[data-passkey=get] [role=status]").first).not_to_be_empty()
    assert page.url.startswith(scenario.installation.tenant_url)


def test_without_javascript_the_password_signs_in(scenario: PasskeyScenario, opened: Opened, email: str) -> None:
    page = opened(java_script_enabled=False)
    open_login(scenario, page)
    page.locator("form[data-passkey=get] button[type=submit]").click()
    expect(page.locator("#summary")).to_contain_text("JavaScript")
    page.locator("[name=identifier]").fill(email)
    page.locator("main [name=password]").fill(PASSWORD)
    page.locator("main form:has([name=password]) button[type=submit]").last.click()
    expect_shop(scenario, page, email)
