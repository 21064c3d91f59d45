"""Passkeys in Chromium, with its virtual authenticator: offered after a password, lost, told to managers, and as second factor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.support.hub_in_browser import Opened
from tests.support.mailbox import link_in, mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.shopper import ADA, AT_THE_SHOP, Ada

HEARS = """
window.heard = [];
for (const name of ["signalAllAcceptedCredentials", "signalCurrentUserDetails", "signalUnknownCredential"]) {
  const told = PublicKeyCredential[name];
  PublicKeyCredential[name] = (said) => {
    window.heard.push([name, said]);
    return told ? told.call(PublicKeyCredential, said) : Promise.resolve();
  };
}
"""
"""Listens to what the browser is told, and lets it go on to the browser."""
UPGRADES = """
PublicKeyCredential.getClientCapabilities = () => Promise.resolve({ conditionalCreate: true });
const create = navigator.credentials.create.bind(navigator.credentials);
navigator.credentials.create = (wish) => {
  const { mediation, ...rest } = wish;
  return mediation === "conditional" ? create(rest) : Promise.reject(new Error("asked with a question"));
};
"""
"""A browser whose manager just filled in the password: Chromium makes one quietly then, and its virtual authenticator cannot
say so. Whatever is asked without `conditional` fails."""
QUIET = {"progressive_enrollment": False, "local_enrollment": False}


@dataclass
class Device:
    """One browser with an authenticator of its own."""

    page: Page
    cdp: CDPSession
    authenticator: str = ""

    def has_authenticator(self, **more: Any) -> Device:
        """Plug one in that says yes to everything."""
        self.cdp.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True, **more,
        }  # fmt: skip
        made = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        self.authenticator = made["authenticatorId"]
        return self

    @property
    def credentials(self) -> list[dict[str, Any]]:
        held = self.cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.authenticator})
        return list(held["credentials"])

    def heard(self, name: str) -> list[dict[str, Any]]:
        """What the browser was told by one of the methods that signal, on this page."""
        self.page.wait_for_function("name => (window.heard || []).some(one => one[0] === name)", arg=name)
        told = self.page.evaluate("window.heard")
        return [said for called, said in told if called == name]

    def present(self, *, yes: bool) -> None:
        """Whether somebody says yes by themselves."""
        told = {"authenticatorId": self.authenticator, "enabled": yes}
        self.cdp.send("WebAuthn.setAutomaticPresenceSimulation", told)


class Keyholder(Ada):
    """Ada, whose tenant has passkeys."""

    def states(self, **passkeys: Any) -> None:
        """Say how the tenant offers passkeys; its pages stand at another port than it believes, as a related origin."""
        self.world.restate(passkey_settings={**QUIET, "related_origins": [self.served], **passkeys})

    def leaves(self, page: Page) -> None:
        """Forget the session."""
        page.context.clear_cookies()

    def adds(self, page: Page) -> None:
        page.goto(f"{self.served}/passkeys/add")
        if page.locator("[name=identifier]").count():
            self.types(page)
            page.wait_for_url("**/passkeys/add")
        page.get_by_role("button", name="Make the passkey").click()
        page.wait_for_url("**/passkeys?done=added")

    def adds_as_factor(self, page: Page) -> None:
        """Be asked for a second factor on the way, make a passkey of it, and leave."""
        alone = {"totp": False, "email": False, "backup_codes": False}
        self.world.restate(passkeys=False, two_factor="required", second_factors=alone, login_on_password_reset=True)
        self.signs_in(page)
        page.get_by_role("button", name="Make the passkey").click()
        page.wait_for_url(AT_THE_SHOP)
        self.leaves(page)


NewDevice = Callable[..., Device]


@pytest.fixture
def new_device(opened: Opened) -> NewDevice:
    def make(**how: Any) -> Device:
        page = opened(**how)
        return Device(page, page.context.new_cdp_session(page))

    return make


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passkeys=True, passkey_settings=QUIET)


@pytest.fixture
def ada(world: World, served: str) -> Keyholder:
    here = Keyholder(world, served, FirstName="Ada")
    here.states()
    return here


def test_a_cancelled_question_leaves_every_other_way(ada: Keyholder, new_device: NewDevice) -> None:
    device = new_device().has_authenticator(isUserVerified=False)
    ada.states(selection="button")
    ada.comes(device.page)
    device.page.get_by_role("button", name="Sign in with a passkey").click()
    expect(device.page.locator("#credential")).to_have_text("Nothing was shown. Try again, or take another way.")
    ada.types(device.page)
    device.page.wait_for_url(AT_THE_SHOP)


def test_after_a_password_one_is_offered_and_a_no_is_kept(ada: Keyholder, new_device: NewDevice) -> None:
    ada.states(progressive_enrollment=True, selection="button")
    device = new_device().has_authenticator()
    device.present(yes=False)
    ada.signs_in(device.page)
    device.page.wait_for_url("**/passkeys/offer?**")
    device.page.get_by_role("button", name="Not now").click()
    device.page.wait_for_url(AT_THE_SHOP)
    ada.leaves(device.page)
    ada.signs_in(device.page)
    device.page.wait_for_url(AT_THE_SHOP)
    assert device.credentials == []


def test_the_offer_is_taken_without_a_click_where_the_browser_can(ada: Keyholder, new_device: NewDevice) -> None:
    ada.states(progressive_enrollment=True, selection="button")
    device = new_device().has_authenticator()
    device.page.add_init_script(UPGRADES)
    ada.signs_in(device.page)
    device.page.wait_for_url(AT_THE_SHOP)
    assert len(device.credentials) == 1


def test_the_offer_is_taken_by_its_button(ada: Keyholder, new_device: NewDevice) -> None:
    ada.states(progressive_enrollment=True, selection="button")
    device = new_device().has_authenticator()
    device.page.add_init_script("delete PublicKeyCredential.getClientCapabilities")
    ada.signs_in(device.page)
    device.page.get_by_role("button", name="Make a passkey").click()
    device.page.wait_for_url(AT_THE_SHOP)
    assert len(device.credentials) == 1


def test_one_that_is_removed_opens_nothing_and_managers_are_told(ada: Keyholder, new_device: NewDevice) -> None:
    ada.states(selection="button")
    device = new_device().has_authenticator()
    device.page.add_init_script(HEARS)
    ada.adds(device.page)
    device.page.get_by_role("link", name="Change:").click()
    device.page.locator("[name=name]").fill("My blue key")
    device.page.get_by_role("button", name="Save the name").click()
    expect(device.page.locator(".what").first).to_contain_text("My blue key")
    assert [len(held["allAcceptedCredentialIds"]) for held in device.heard("signalAllAcceptedCredentials")] == [1]
    assert [held["name"] for held in device.heard("signalCurrentUserDetails")] == [ADA]
    device.page.get_by_role("link", name="Change:").click()
    device.page.get_by_role("button", name="Yes, remove it").click()
    device.page.wait_for_url("**/passkeys?done=removed")
    assert [held["allAcceptedCredentialIds"] for held in device.heard("signalAllAcceptedCredentials")] == [[]]
    assert [mail["subject"].partition(" ")[0] for mail in ada.mails()] == ["A", "A"]


def test_one_that_nobody_has_is_told_to_its_manager(ada: Keyholder, new_device: NewDevice) -> None:
    ada.states(selection="button")
    device = new_device().has_authenticator()
    device.page.add_init_script(HEARS)
    ada.adds(device.page)
    ada.world.forgets_passkeys()
    ada.leaves(device.page)
    ada.comes(device.page)
    device.page.get_by_role("button", name="Sign in with a passkey").click()
    expect(device.page.locator("#summary")).to_contain_text("That passkey did not work")
    (told,) = device.heard("signalUnknownCredential")
    assert told["rpId"] == f"{ada.world.name}.localhost"


def test_a_lost_one_is_replaced_by_a_mailed_link(ada: Keyholder, new_device: NewDevice) -> None:
    ada.states(selection="button")
    ada.adds(new_device().has_authenticator().page)
    device = new_device().has_authenticator()
    ada.comes(device.page)
    device.page.get_by_role("link", name="Lost your passkey?").click()
    device.page.locator("[name=identifier]").fill(ADA)
    device.page.get_by_role("button", name="Send me a link").click()
    expect(device.page.get_by_role("heading", level=1)).to_have_text("Look into your mail")
    link = link_in(ada.mails()[-1])
    device.page.goto(ada.served + link[link.index("/passkeys/reset") :])
    device.page.get_by_role("button", name="Make the new passkey").click()
    device.page.wait_for_url("**/login?**")
    expect(device.page.locator("#summary")).to_contain_text("Your new passkey is set")
    device.page.get_by_role("button", name="Sign in with a passkey").click()
    device.page.wait_for_url("**/profile**")


def test_an_account_is_made_with_one_at_the_shop_and_opened_by_it_from_then_on(
    ada: Keyholder, new_device: NewDevice
) -> None:
    ada.states(selection="button")
    device, email = new_device().has_authenticator(), "grace@example.test"
    page = device.page
    ada.comes(page)
    page.get_by_role("link", name="Create an account").click()
    page.get_by_role("button", name="Create it with a passkey").click()
    expect(page.locator("#email-problem")).to_have_text("Enter your email.")
    assert device.credentials == [], "what is wrong is said before there is one"
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill("half")
    page.get_by_role("button", name="Create it with a passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your mail")
    assert len(device.credentials) == 1
    (mail,) = mails_to(ada.world.services, ada.world.tenant_id, email)
    page.goto(ada.served + "/verify" + link_in(mail).partition("/verify")[2])
    page.get_by_role("button", name="Confirm", exact=True).click()
    page.wait_for_url(AT_THE_SHOP)
    ada.leaves(page)
    ada.comes(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(AT_THE_SHOP)


def test_as_second_factor_it_is_enrolled_on_the_way_and_asked_from_then_on(
    ada: Keyholder, new_device: NewDevice
) -> None:
    device = new_device().has_authenticator()
    ada.adds_as_factor(device.page)
    ada.signs_in(device.page)
    device.page.get_by_role("button", name="Show the passkey").click()
    device.page.wait_for_url(AT_THE_SHOP)


def test_a_reset_does_not_go_around_it(ada: Keyholder, new_device: NewDevice) -> None:
    device = new_device().has_authenticator()
    ada.adds_as_factor(device.page)
    ada.resets(device.page)
    device.page.wait_for_url("**/second-factor?**")
    device.page.get_by_role("button", name="Show the passkey").click()
    device.page.wait_for_url(AT_THE_SHOP)
