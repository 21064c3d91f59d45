"""Passkeys on our pages, shown by an authenticator in software: what a browser cannot be made to say."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

import pytest

from tests.support.authenticator import Authenticator
from tests.support.oauth_world import NewWorld, World
from tests.support.people import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor


@pytest.fixture
def there(new_world: NewWorld) -> World:
    return new_world(passkeys=True, passkey_settings={"progressive_enrollment": False})


@pytest.fixture
def someone(there: World, new_visitor_at: NewVisitorAt) -> Visitor:
    visitor: Visitor = new_visitor_at(there)
    return visitor


@pytest.fixture
def ada(there: World) -> Person:
    return there.person("ada@example.com")


def options(visitor: Visitor, page: Seen, at: str) -> dict[str, Any]:
    """Ask for options as the script of the page does."""
    form = page.form("Sign in with a passkey") if at.startswith("/login") else page.form("Make the passkey")
    answer = visitor.send("POST", f"{visitor.home}{at}", dict(form.fields))
    assert answer.status == 200, answer.html
    return dict(json.loads(answer.html))


def has_passkey(visitor: Visitor, ada: Person, device: Authenticator) -> None:
    visitor.open("/passkeys/add").press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.open("/passkeys/add")
    made = device.makes(options(visitor, page, "/passkeys/options"))
    assert page.press("Make the passkey", credential=json.dumps(made)).heading == "Passkeys"


def comes(visitor: Visitor, there: World, device: Authenticator, remember: str = "", **said: Any) -> Seen:
    page = visitor.asked_by(there.application(f"shop{secrets.token_hex(3)}", client_name="Acme Shop"))
    shown = device.shows(options(visitor, page, "/login/passkey/options"), device.passkeys[0], **said)
    return page.press("Sign in with a passkey", credential=json.dumps(shown), remember=remember)


def leaves(visitor: Visitor) -> None:
    visitor.forget("session")


def test_managers_of_passwords_find_the_pages(there: World, someone: Visitor) -> None:
    told = json.loads(someone.open("/.well-known/passkey-endpoints").html)
    assert told == {"enroll": f"{someone.home}/passkeys/add", "manage": f"{someone.home}/passkeys"}
    assert someone.open("/.well-known/webauthn").status == 404


def test_related_origins_are_told(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    other = "https://login.shop.example"
    visitor = new_visitor_at(new_world(passkeys=True, passkey_settings={"related_origins": [other]}))
    assert json.loads(visitor.open("/.well-known/webauthn").html) == {"origins": [visitor.home, other]}


def test_a_tenant_without_passkeys_has_none_of_these_pages(visitor: Visitor) -> None:
    for address in ("/.well-known/passkey-endpoints", "/.well-known/webauthn", "/passkeys", "/passkeys/lost"):
        assert visitor.open(address).status == 404, address
    assert "passkey" not in visitor.open("/login").html


def test_whoever_used_another_device_is_offered_one_of_this(there: World, someone: Visitor, ada: Person) -> None:
    device = Authenticator(someone.home)
    has_passkey(someone, ada, device)
    leaves(someone)
    offer = comes(someone, there, device, attachment="cross-platform")
    assert offer.heading == "A passkey for this device?"
    assert "code=" in offer.press("Not now").address
    leaves(someone)
    assert "code=" in comes(someone, there, device, attachment="cross-platform").address


def test_a_wrong_one_leaves_the_page_and_every_other_way(there: World, someone: Visitor, ada: Person) -> None:
    device = Authenticator(someone.home)
    has_passkey(someone, ada, device)
    leaves(someone)
    page = comes(someone, there, device, origin="https://evil.example")
    assert (page.status, page.heading) == (403, "Welcome back")
    assert "That passkey did not work" in page.text
    assert "code=" in page.press("Sign in", identifier=ada.email, password=ada.password).address


@pytest.mark.parametrize("sent", ["", "x", "[]", "{}", '{"id": 1}', "[" * 20_000, "9" * 30_000])
def test_what_is_no_credential_is_led_on(someone: Visitor, sent: str) -> None:
    page = someone.open("/login").press("Sign in with a passkey", credential=sent)
    assert (page.status, page.heading) == (422, "Welcome back")


def test_whoever_wants_to_stay_signed_in_does_by_passkey_too(there: World, someone: Visitor, ada: Person) -> None:
    device = Authenticator(someone.home)
    has_passkey(someone, ada, device)
    for wish, is_kept in (("", False), ("y", True)):
        leaves(someone)
        assert comes(someone, there, device, wish).query["code"]
        assert bool(someone.cookie("session").max_age) is is_kept
    leaves(someone)
    wrong = comes(someone, there, device, "y", origin="https://evil.example")
    assert re.search(r"<input[^>]* checked[^>]* name=\"remember\"", wrong.html), "what was ticked stays ticked"
    there.restate(remember_me=False)
    assert comes(someone, there, device, "y").query["code"]
    assert someone.cookie("session").max_age is None


def test_options_are_given_to_our_own_pages_alone(someone: Visitor) -> None:
    answer = someone.send("POST", f"{someone.home}/login/passkey/options", {"token": "x"})
    assert (answer.status, answer.html) == (403, "{}")
