"""Passkey pages with a software authenticator: responses that a real browser cannot produce."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.credentials.software_authenticator import Authenticator
from tests.support.journeys.passkeys import add_passkey, sign_in_and_add_passkey, sign_in_by_passkey, sign_out
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, Visitor


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(passkeys=True, passkey_settings={"progressive_enrollment": False})


@pytest.fixture
def browser(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    visitor: Visitor = new_visitor_at(tenant)
    return visitor


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


@pytest.mark.parametrize("two_factor", ["disabled", "optional", "required"])
def test_security_page_names_passkeys_of_each_kind(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, two_factor: str
) -> None:
    """Those in place of a password, and those enrolled as second factor; the check-up counts them too."""
    tenant = new_world(passkeys=True, passkey_settings={"progressive_enrollment": False})
    visitor, ada = new_visitor_at(tenant), tenant.person("ada@example.com")
    device = Authenticator(visitor.home)
    visitor.open("/security").press("Sign in", identifier=ada.email, password=ada.password)
    before = visitor.open("/security").text
    assert ("None yet" in before, "Create a passkey" in before) == (True, True)
    add_passkey(visitor, device)
    tenant.change_settings(two_factor=two_factor)
    after = visitor.open("/security").text
    assert ("Passkeys Apple Passwords " in after, "Passkey created" in after, "Create a passkey" in after) == (
        True,
        True,
        False,
    )
    assert "Apple Passwords · " not in after
    add_passkey(visitor, device)
    assert "Passkeys Apple Passwords · Apple Passwords " in visitor.open("/security").text


def test_passkey_endpoints_are_published(tenant: World, browser: Visitor) -> None:
    endpoints = json.loads(browser.open("/.well-known/passkey-endpoints").html)
    assert endpoints == {"enroll": f"{browser.home}/passkeys/add", "manage": f"{browser.home}/passkeys"}
    assert browser.open("/.well-known/webauthn").status == 404


def test_related_origins_are_published(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    other = "https://login.shop.example"
    visitor = new_visitor_at(new_world(passkeys=True, passkey_settings={"related_origins": [other]}))
    assert json.loads(visitor.open("/.well-known/webauthn").html) == {"origins": [visitor.home, other]}


def test_passkey_pages_answer_404_if_disabled(visitor: Visitor) -> None:
    for address in ("/.well-known/passkey-endpoints", "/.well-known/webauthn", "/passkeys", "/passkeys/lost"):
        assert visitor.open(address).status == 404, address
    assert "passkey" not in visitor.open("/login").html


def test_cross_device_passkey_offers_a_local_one(tenant: World, browser: Visitor, ada: Person) -> None:
    device = Authenticator(browser.home)
    sign_in_and_add_passkey(browser, ada, device)
    sign_out(browser)
    offer = sign_in_by_passkey(browser, tenant, device, attachment="cross-platform")
    assert offer.heading == "Create a passkey?"
    assert "code=" in offer.press("Not now").address
    sign_out(browser)
    assert "code=" in sign_in_by_passkey(browser, tenant, device, attachment="cross-platform").address


def test_refused_passkey_keeps_the_login_page(tenant: World, browser: Visitor, ada: Person) -> None:
    device = Authenticator(browser.home)
    sign_in_and_add_passkey(browser, ada, device)
    sign_out(browser)
    page = sign_in_by_passkey(browser, tenant, device, origin="https://evil.example")
    assert (page.status, page.is_sign_in) == (403, True)
    assert "That passkey didn’t work" in page.text
    assert "code=" in page.press("Sign in", identifier=ada.email, password=ada.password).address


@pytest.mark.parametrize("sent", ["", "x", "[]", "{}", '{"id": 1}', "[" * 20_000, "9" * 30_000])
def test_malformed_credential_shows_the_login_page(browser: Visitor, sent: str) -> None:
    page = browser.open("/login").press("Sign in with a passkey", credential=sent)
    assert (page.status, page.is_sign_in) == (422, True)


def test_remember_me_works_with_a_passkey(tenant: World, browser: Visitor, ada: Person) -> None:
    device = Authenticator(browser.home)
    sign_in_and_add_passkey(browser, ada, device)
    for remember, is_remembered in (("", False), ("y", True)):
        sign_out(browser)
        assert sign_in_by_passkey(browser, tenant, device, remember).query["code"]
        assert bool(browser.cookie("session").max_age) is is_remembered
    sign_out(browser)
    wrong = sign_in_by_passkey(browser, tenant, device, "y", origin="https://evil.example")
    assert re.search(r"<input[^>]* checked[^>]* name=\"remember\"", wrong.html), "the box stays ticked"
    tenant.change_settings(remember_me=False)
    assert sign_in_by_passkey(browser, tenant, device, "y").query["code"]
    assert browser.cookie("session").max_age is None


def test_options_need_a_form_token(browser: Visitor) -> None:
    answer = browser.send("POST", f"{browser.home}/login/passkey/options", {"token": "x"})
    assert (answer.status, answer.html) == (403, "{}")


def test_list_marks_the_passkey_of_this_device(
    tenant: World, browser: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    device = Authenticator(browser.home)
    sign_in_and_add_passkey(browser, ada, device)
    assert "This device" in sign_in_here(browser, tenant, device).open("/passkeys").text
    assert "Last used" in browser.open("/passkeys").text
    other = new_visitor_at(tenant)
    assert "This device" not in sign_in_here(other, tenant, device, attachment="cross-platform").open("/passkeys").text


def test_removal_of_no_passkey_shows_the_list(browser: Visitor, ada: Person, subtests: pytest.Subtests) -> None:
    sign_in_and_add_passkey(browser, ada, Authenticator(browser.home))
    found = re.findall(r"/passkeys/edit\?id=\w+", browser.open("/passkeys").html)
    for sent in ("", "0" * 32, "../account", "a/b", "..", "é", "x\x00"):
        with subtests.test(sent=sent):
            page = browser.open(found[0]).press("Delete passkey", passkey=sent)
            assert (page.status, page.heading) == (200, "Passkeys")
            assert re.findall(r"/passkeys/edit\?id=\w+", page.html) == found


def test_password_that_is_too_long_is_refused_at_its_field(tenant: World, browser: Visitor, ada: Person) -> None:
    sign_in_and_add_passkey(browser, ada, Authenticator(browser.home))
    found = re.findall(r"/passkeys/edit\?id=\w+", browser.open("/passkeys").html)
    pass_time(tenant.services, minutes=6)
    page = browser.open(found[0])
    refused = page.press("Delete passkey", password="x" * 1025)
    assert (refused.status, "Use 1024 characters or fewer." in refused.text) == (422, True)
    longest = page.press("Delete passkey", password="\N{SNOWMAN WITHOUT SNOW}" * 1024)
    assert (longest.status, "Wrong password." in longest.text) == (401, True)
    assert page.press("Delete passkey", password=ada.password).heading == "Passkeys"
    assert "/passkeys/edit?id=" not in browser.open("/passkeys").html


def sign_in_here(visitor: Visitor, tenant: World, device: Authenticator, **changes: Any) -> Visitor:
    sign_out(visitor)
    sign_in_by_passkey(visitor, tenant, device, **changes)
    return visitor
