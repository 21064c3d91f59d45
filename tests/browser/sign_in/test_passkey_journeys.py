"""Passkey journeys in Chromium with a virtual authenticator: offer, loss, signal API, second factor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.support.accounts.mailbox import link_in, mails_to, path_of
from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import ADA, AT_THE_SHOP, Ada
from tests.support.oauth.world import NewWorld, World
from tests.support.workflows.drawings import entering
from tests.support.workflows.running import put_in_force, runs, server_of

RECORD_SIGNALS = """
window.heard = [];
for (const name of ["signalAllAcceptedCredentials", "signalCurrentUserDetails", "signalUnknownCredential"]) {
  const told = PublicKeyCredential[name];
  PublicKeyCredential[name] = (said) => {
    window.heard.push([name, said]);
    return told ? told.call(PublicKeyCredential, said) : Promise.resolve();
  };
}
"""
"""Records calls of the WebAuthn signal API and passes them on to the browser."""
SIMULATE_CONDITIONAL_CREATE = """
PublicKeyCredential.getClientCapabilities = () => Promise.resolve({ conditionalCreate: true });
const create = navigator.credentials.create.bind(navigator.credentials);
navigator.credentials.create = (wish) => {
  const { mediation, ...rest } = wish;
  return mediation === "conditional" ? create(rest) : Promise.reject(new Error("asked with a question"));
};
"""
"""Simulates conditional creation, which the virtual authenticator does not support; other creation requests fail."""
NO_OFFERS = {"progressive_enrollment": False, "local_enrollment": False}


@dataclass
class Device:
    """A browser page with its own virtual authenticator."""

    page: Page
    cdp: CDPSession
    authenticator: str = ""

    def add_authenticator(self, **more: Any) -> Device:
        """Add an authenticator that approves every request."""
        self.cdp.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True, **more,
        }  # fmt: skip
        added = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        self.authenticator = added["authenticatorId"]
        return self

    @property
    def credentials(self) -> list[dict[str, Any]]:
        signal = self.cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.authenticator})
        return list(signal["credentials"])

    def recorded(self, name: str) -> list[dict[str, Any]]:
        """Return the recorded calls of one signal method on this page."""
        self.page.wait_for_function("name => (window.heard || []).some(one => one[0] === name)", arg=name)
        calls = self.page.evaluate("window.heard")
        return [argument for method, argument in calls if method == name]

    def present(self, *, yes: bool) -> None:
        """Set whether the authenticator approves requests automatically."""
        calls = {"authenticatorId": self.authenticator, "enabled": yes}
        self.cdp.send("WebAuthn.setAutomaticPresenceSimulation", calls)


class PasskeyUser(Ada):
    """Ada at a tenant with passkeys."""

    def configure(self, **passkeys: Any) -> None:
        """Set the tenant's passkey settings; the served port is a related origin."""
        self.world.change_settings(passkey_settings={**NO_OFFERS, "related_origins": [self.served], **passkeys})

    def sign_out(self, page: Page) -> None:
        """Delete the cookies."""
        page.context.clear_cookies()

    def add_passkey(self, page: Page) -> None:
        page.goto(f"{self.served}/passkeys/add")
        if page.locator("[name=identifier]").count():
            self.type_password(page)
            page.wait_for_url("**/passkeys/add")
        page.get_by_role("button", name="Create passkey").click()
        page.wait_for_url("**/passkeys?done=added")

    def enrol_as_factor(self, page: Page) -> None:
        """Enrol a passkey as the required second factor, then sign out."""
        alone = {"totp": False, "email": False, "backup_codes": False}
        self.world.change_settings(
            passkeys=False, two_factor="required", second_factors=alone, login_on_password_reset=True
        )
        self.sign_in(page)
        page.get_by_role("button", name="Create passkey").click()
        page.wait_for_url(AT_THE_SHOP)
        self.sign_out(page)


NewDevice = Callable[..., Device]


@pytest.fixture
def new_device(opened: Opened) -> NewDevice:
    def make(**how: Any) -> Device:
        page = opened(**how)
        return Device(page, page.context.new_cdp_session(page))

    return make


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passkeys=True, passkey_settings=NO_OFFERS)


@pytest.fixture
def ada(world: World, served: str) -> PasskeyUser:
    here = PasskeyUser(world, served, FirstName="Ada")
    here.configure()
    return here


def test_cancelled_ceremony_leaves_the_password(ada: PasskeyUser, new_device: NewDevice) -> None:
    device = new_device().add_authenticator(isUserVerified=False)
    ada.configure(selection="button")
    ada.open_login(device.page)
    device.page.get_by_role("button", name="Sign in with a passkey").click()
    expect(device.page.locator("#credential")).to_have_text("We couldn’t use a passkey. Try again, or try another way.")
    ada.type_password(device.page)
    device.page.wait_for_url(AT_THE_SHOP)


def test_declined_offer_is_not_repeated(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(progressive_enrollment=True, selection="button")
    device = new_device().add_authenticator()
    device.present(yes=False)
    ada.sign_in(device.page)
    device.page.wait_for_url("**/passkeys/offer?**")
    device.page.get_by_role("button", name="Not now").click()
    device.page.wait_for_url(AT_THE_SHOP)
    ada.sign_out(device.page)
    ada.sign_in(device.page)
    device.page.wait_for_url(AT_THE_SHOP)
    assert device.credentials == []


def test_conditional_create_takes_the_offer_silently(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(progressive_enrollment=True, selection="button")
    device = new_device().add_authenticator()
    device.page.add_init_script(SIMULATE_CONDITIONAL_CREATE)
    ada.sign_in(device.page)
    device.page.wait_for_url(AT_THE_SHOP)
    assert len(device.credentials) == 1


def test_offer_is_taken_by_its_button(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(progressive_enrollment=True, selection="button")
    device = new_device().add_authenticator()
    device.page.add_init_script("delete PublicKeyCredential.getClientCapabilities")
    ada.sign_in(device.page)
    device.page.get_by_role("button", name="Create passkey").click()
    device.page.wait_for_url(AT_THE_SHOP)
    assert len(device.credentials) == 1


def test_renaming_and_removing_signal_the_manager(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(selection="button")
    device = new_device().add_authenticator()
    device.page.add_init_script(RECORD_SIGNALS)
    ada.add_passkey(device.page)
    device.page.locator("main a[href*='/passkeys/edit']").click()
    device.page.locator("[name=name]").fill("My blue key")
    device.page.get_by_role("button", name="Save").click()
    expect(device.page.locator(".what").first).to_contain_text("My blue key")
    assert [len(signal["allAcceptedCredentialIds"]) for signal in device.recorded("signalAllAcceptedCredentials")] == [
        1
    ]
    assert [signal["name"] for signal in device.recorded("signalCurrentUserDetails")] == [ADA]
    device.page.locator("main a[href*='/passkeys/edit']").click()
    device.page.get_by_role("button", name="Delete passkey").click()
    device.page.wait_for_url("**/passkeys?done=removed")
    assert [signal["allAcceptedCredentialIds"] for signal in device.recorded("signalAllAcceptedCredentials")] == [[]]
    assert [mail["subject"].partition(" ")[0] for mail in ada.mails()] == ["A", "A"]


def test_unknown_passkey_is_signalled(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(selection="button")
    device = new_device().add_authenticator()
    device.page.add_init_script(RECORD_SIGNALS)
    ada.add_passkey(device.page)
    ada.world.delete_passkeys()
    ada.sign_out(device.page)
    ada.open_login(device.page)
    device.page.get_by_role("button", name="Sign in with a passkey").click()
    expect(device.page.locator("#summary")).to_contain_text("That passkey didn’t work")
    (calls,) = device.recorded("signalUnknownCredential")
    assert calls["rpId"] == f"{ada.world.name}.localhost"


def test_lost_passkey_is_replaced_by_mailed_link(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(selection="button")
    ada.add_passkey(new_device().add_authenticator().page)
    device = new_device().add_authenticator()
    ada.open_login(device.page)
    device.page.get_by_role("button", name="Sign in with a passkey").click()
    device.page.get_by_role("button", name="Lost your passkey?").click()  # shown once a passkey was tried
    device.page.locator("[name=identifier]").fill(ADA)
    device.page.get_by_role("button", name="Email me a link").click()
    expect(device.page.get_by_role("heading", level=1)).to_have_text("Check your email")
    link = link_in(ada.mails()[-1])
    device.page.goto(ada.served + path_of(link))
    device.page.get_by_role("button", name="Create passkey").click()
    device.page.wait_for_url("**/login?**")
    expect(device.page.locator("#summary")).to_contain_text("Passkey created")
    device.page.get_by_role("button", name="Sign in with a passkey").click()
    device.page.wait_for_url("**/profile**")


def test_registration_by_passkey_then_sign_in(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(selection="button")
    device, email = new_device().add_authenticator(), "grace@example.test"
    page = device.page
    ada.open_login(page)
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("button", name="Continue with a passkey").click()
    expect(page.locator("#email-problem")).to_have_text("Enter your email.")
    assert device.credentials == [], "errors are shown before the ceremony"
    page.get_by_text("Use a password instead").click()
    page.get_by_label("Password", exact=True).fill("half")
    page.get_by_text("Use a passkey instead").click()
    page.get_by_label("Email").fill(email)
    page.get_by_label("Email").press("Enter")  # stands for the visible button
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    assert len(device.credentials) == 1
    (mail,) = mails_to(ada.world.services, ada.world.tenant_id, email)
    page.goto(ada.served + path_of(link_in(mail)))
    page.wait_for_url(AT_THE_SHOP)  # the page continues by itself
    ada.sign_out(page)
    ada.open_login(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(AT_THE_SHOP)


def test_passkey_node_of_a_workflow_signs_in(ada: PasskeyUser, new_device: NewDevice) -> None:
    ada.configure(selection="button")
    device, server = new_device().add_authenticator(), server_of(ada.world)
    ada.add_passkey(device.page)
    ada.sign_out(device.page)
    put_in_force(server, entering("PasskeyLogin"))
    ada.open_login(device.page).get_by_role("button", name="Sign in with a passkey").click()
    device.page.wait_for_url(AT_THE_SHOP)
    assert [step.partition(":")[0] for step in runs(server)[-1]["path"]] == ["start", "login", "end"]


def test_passkey_as_second_factor_is_enrolled_and_asked(ada: PasskeyUser, new_device: NewDevice) -> None:
    device = new_device().add_authenticator()
    ada.enrol_as_factor(device.page)
    ada.sign_in(device.page)
    device.page.get_by_role("button", name="Use a passkey").click()
    device.page.wait_for_url(AT_THE_SHOP)


def test_reset_does_not_bypass_the_passkey(ada: PasskeyUser, new_device: NewDevice) -> None:
    device = new_device().add_authenticator()
    ada.enrol_as_factor(device.page)
    ada.reset_password(device.page)
    device.page.wait_for_url("**/second-factor?**")
    device.page.get_by_role("button", name="Use a passkey").click()
    device.page.wait_for_url(AT_THE_SHOP)
