"""PINs on our pages: asked for on the way to the shop, offered, set later, reset by the link of a mail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.mailbox import code_in, link_in, mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.tenant_server import TenantServer, answered
from tests.support.visitor import NewVisitorAt, Seen, Visitor

PIN, OTHER = "270486", "905142"
REQUIRED = {"pin": {"is_on": True, "required": True}}
OFFERED = {"pin": {"is_on": True, "ask_on_login": True}}


def at(new_world: NewWorld, new_visitor_at: NewVisitorAt, **settings: Any) -> tuple[World, Visitor, Person]:
    there = new_world(**settings)
    visitor: Visitor = new_visitor_at(there)
    return there, visitor, there.person("ada@example.com")


def signs_in(visitor: Visitor, there: World, ada: Person, name: str = "shop") -> Seen:
    shop = there.application(name, client_name="Acme Shop")
    return visitor.asked_by(shop).press("Sign in", identifier=ada.email, password=ada.password)


def test_a_pin_that_is_required_stands_before_the_shop_and_once_only(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    there, visitor, ada = at(new_world, new_visitor_at, **REQUIRED)
    page = signs_in(visitor, there, ada)
    assert page.heading == "Set a PIN"
    assert "Not now" not in page.html
    page = page.press("Save the PIN", pin="1234")
    assert (page.status, page.heading) == (400, "Set a PIN")
    assert "first that everybody tries" in page.text
    assert page.press("Save the PIN", pin=PIN).address.startswith("https://shop.example")
    assert visitor.asked_by(there.application("other")).address.startswith("https://")


def test_skipping_what_is_required_skips_nothing(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    there, visitor, ada = at(new_world, new_visitor_at, **REQUIRED)
    page = signs_in(visitor, there, ada)
    sent = {**page.form("Save the PIN").fields, "do": "skip"}
    assert visitor.send("POST", f"{visitor.home}/set-pin", sent).heading == "Set a PIN"


def test_a_pin_that_is_offered_can_be_left_out_for_good(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    there, visitor, ada = at(new_world, new_visitor_at, **OFFERED)
    page = signs_in(visitor, there, ada)
    assert page.press("Not now").address.startswith("https://shop.example")
    assert visitor.asked_by(there.application("other")).address.startswith("https://")


@pytest.mark.parametrize("waits", [0, 10])
def test_a_pin_is_set_later_by_whoever_proves_who_they_are(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, waits: int
) -> None:
    there, visitor, ada = at(new_world, new_visitor_at, pin={"is_on": True})
    signs_in(visitor, there, ada)
    there.services.clock.advance(minutes=waits)
    page = visitor.open("/pin")
    if waits:
        assert page.press("Save the PIN", pin=PIN, password="wrong").status == 401
        page = visitor.open("/pin")
    page = page.press("Save the PIN", pin=PIN, **({"password": ada.password} if waits else {}))
    assert page.address.endswith("/security?done=saved")
    assert visitor.open("/pin").heading == "Change your PIN"


def test_a_mailed_link_sets_a_new_pin_once(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Any
) -> None:
    there, visitor, ada = at(new_world, new_visitor_at, **REQUIRED)
    signs_in(visitor, there, ada).press("Save the PIN", pin=PIN)
    program = TenantServer(there.services, identity_app, there.tenant_id, there.name, there.api_key, "")
    answered(program.send("POST", "/identity/v2/auth/pin/forgot/email", {"email": ada.email}, with_secret=False))
    link = link_in(mails_to(there.services, there.tenant_id, ada.email)[-1])
    assert "/reset-pin?vtype=resetpin&vtoken=" in link
    page = visitor.open(link[link.index("/reset-pin") :])
    assert page.heading == "Set a new PIN"
    assert page.press("Save the PIN", pin=OTHER).heading == "Your PIN is new"
    assert visitor.open(link[link.index("/reset-pin") :]).heading == "This link no longer works"


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize("pins", [REQUIRED, OFFERED])
def test_whoever_came_long_ago_and_has_no_password_shows_first_what_they_have(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, pins: dict[str, Any]
) -> None:
    there, visitor, ada = at(new_world, new_visitor_at, passwordless_email=True)
    signs_in(visitor, there, ada)
    there.services.clock.advance(minutes=10)
    ada.lives(password_hash=None)
    there.restate(**pins)
    page = visitor.asked_by(there.application("other"))
    if pins is OFFERED:
        assert page.heading == "Set a PIN"
        page = page.press("Save the PIN", pin=PIN)
    assert page.heading == "Is it still you?"
    page = page.follow("Email me a link No password needed").press("Email me a link")
    page = page.press("Sign in", code=code_in(mails_to(there.services, there.tenant_id, ada.email)[-1]))
    assert page.heading == "Set a PIN"
    assert page.press("Save the PIN", pin=PIN).query["code"]
