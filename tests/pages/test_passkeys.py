"""Passkey pages with a software authenticator: responses that a real browser cannot produce."""

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


def options(visitor: Visitor, page: Seen, path: str) -> dict[str, Any]:
    """Fetch the WebAuthn options as the page's script does."""
    form = page.form("Sign in with a passkey") if path.startswith("/login") else page.form("Make the passkey")
    answer = visitor.send("POST", f"{visitor.home}{path}", dict(form.fields))
    assert answer.status == 200, answer.html
    return dict(json.loads(answer.html))


def has_passkey(visitor: Visitor, ada: Person, device: Authenticator) -> None:
    visitor.open("/passkeys/add").press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.open("/passkeys/add")
    attestation = device.makes(options(visitor, page, "/passkeys/options"))
    assert page.press("Make the passkey", credential=json.dumps(attestation)).heading == "Passkeys"


def sign_in_by_passkey(
    visitor: Visitor, there: World, device: Authenticator, remember: str = "", **changes: Any
) -> Seen:
    page = visitor.authorize(there.application(f"shop{secrets.token_hex(3)}", client_name="Acme Shop"))
    assertion = device.shows(options(visitor, page, "/login/passkey/options"), device.passkeys[0], **changes)
    return page.press("Sign in with a passkey", credential=json.dumps(assertion), remember=remember)


def sign_out(visitor: Visitor) -> None:
    visitor.forget("session")


def test_passkey_endpoints_are_published(there: World, someone: Visitor) -> None:
    endpoints = json.loads(someone.open("/.well-known/passkey-endpoints").html)
    assert endpoints == {"enroll": f"{someone.home}/passkeys/add", "manage": f"{someone.home}/passkeys"}
    assert someone.open("/.well-known/webauthn").status == 404


def test_related_origins_are_published(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    other = "https://login.shop.example"
    visitor = new_visitor_at(new_world(passkeys=True, passkey_settings={"related_origins": [other]}))
    assert json.loads(visitor.open("/.well-known/webauthn").html) == {"origins": [visitor.home, other]}


def test_passkey_pages_answer_404_if_disabled(visitor: Visitor) -> None:
    for address in ("/.well-known/passkey-endpoints", "/.well-known/webauthn", "/passkeys", "/passkeys/lost"):
        assert visitor.open(address).status == 404, address
    assert "passkey" not in visitor.open("/login").html


def test_cross_device_passkey_offers_a_local_one(there: World, someone: Visitor, ada: Person) -> None:
    device = Authenticator(someone.home)
    has_passkey(someone, ada, device)
    sign_out(someone)
    offer = sign_in_by_passkey(someone, there, device, attachment="cross-platform")
    assert offer.heading == "A passkey for this device?"
    assert "code=" in offer.press("Not now").address
    sign_out(someone)
    assert "code=" in sign_in_by_passkey(someone, there, device, attachment="cross-platform").address


def test_refused_passkey_keeps_the_login_page(there: World, someone: Visitor, ada: Person) -> None:
    device = Authenticator(someone.home)
    has_passkey(someone, ada, device)
    sign_out(someone)
    page = sign_in_by_passkey(someone, there, device, origin="https://evil.example")
    assert (page.status, page.heading) == (403, "Welcome back")
    assert "That passkey did not work" in page.text
    assert "code=" in page.press("Sign in", identifier=ada.email, password=ada.password).address


@pytest.mark.parametrize("sent", ["", "x", "[]", "{}", '{"id": 1}', "[" * 20_000, "9" * 30_000])
def test_malformed_credential_shows_the_login_page(someone: Visitor, sent: str) -> None:
    page = someone.open("/login").press("Sign in with a passkey", credential=sent)
    assert (page.status, page.heading) == (422, "Welcome back")


def test_remember_me_works_with_a_passkey(there: World, someone: Visitor, ada: Person) -> None:
    device = Authenticator(someone.home)
    has_passkey(someone, ada, device)
    for remember, is_kept in (("", False), ("y", True)):
        sign_out(someone)
        assert sign_in_by_passkey(someone, there, device, remember).query["code"]
        assert bool(someone.cookie("session").max_age) is is_kept
    sign_out(someone)
    wrong = sign_in_by_passkey(someone, there, device, "y", origin="https://evil.example")
    assert re.search(r"<input[^>]* checked[^>]* name=\"remember\"", wrong.html), "the box stays ticked"
    there.change_settings(remember_me=False)
    assert sign_in_by_passkey(someone, there, device, "y").query["code"]
    assert someone.cookie("session").max_age is None


def test_options_need_a_form_token(someone: Visitor) -> None:
    answer = someone.send("POST", f"{someone.home}/login/passkey/options", {"token": "x"})
    assert (answer.status, answer.html) == (403, "{}")
