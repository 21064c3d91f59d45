"""Which applications may act for a person, and the end of that; and a password for who has none."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit import UnitOfWork
from tests.pages.test_own_factors import mails, signed_in
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person, RelyingParty
from tests.support.visitor import NewVisitorAt, Seen, Visitor


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada")


def allowed(visitor: Visitor, shop: RelyingParty, ada: Person) -> Seen:
    page = visitor.asked_by(shop)
    if page.answer is not None and page.heading == "Welcome back":
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    return page if "code" in page.query else page.press("Allow")


def test_an_application_is_listed_by_name_and_what_it_may_and_its_access_ends_at_once(
    world: World, visitor: Visitor, ada: Person
) -> None:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True)
    desk = world.application("desk", client_name="The Desk", require_consent=True)
    tokens = shop.redeem(allowed(visitor, shop, ada).query["code"]).json or {}
    kept = desk.redeem(allowed(visitor, desk, ada).query["code"]).json or {}
    waiting = allowed(visitor, shop, ada).query["code"]
    assert "2 applications" in visitor.open("/security").text
    page = visitor.open("/applications")
    assert "Acme Shop" in page.text
    assert "Know that it is you" in page.text
    ended = page.press("End access", client_id=shop.client_id)
    assert "Access ended" in ended.text
    assert "Acme Shop" not in ended.text
    assert "The Desk" in ended.text
    assert shop.userinfo(tokens["access_token"]).status_code == 401
    assert (shop.refresh(tokens["refresh_token"]).status_code, shop.redeem(waiting).status_code) == (400, 400)
    assert desk.userinfo(kept["access_token"]).status_code == 200
    assert visitor.asked_by(shop).heading.endswith("asks for access")


def test_the_access_of_somebody_else_stays(world: World, new_visitor: Any, ada: Person) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    theirs = shop.redeem(allowed(new_visitor(), shop, world.person("bob@example.com")).query["code"]).json or {}
    visitor = new_visitor()
    shop.redeem(allowed(visitor, shop, ada).query["code"])
    visitor.open("/applications").press("End access")
    assert "No application may act for you." in visitor.open("/applications").text
    assert shop.userinfo(theirs["access_token"]).status_code == 200


def test_a_form_of_elsewhere_ends_nothing(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    shop.redeem(allowed(visitor, shop, ada).query["code"])
    assert visitor.open("/applications").press("End access", token="x").status == 403
    assert "Acme Shop" in visitor.open("/applications").text


def test_whoever_has_no_password_sets_one_by_a_fresh_sign_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    there = new_world()
    ada, visitor = there.person("ada@example.com"), new_visitor_at(there)
    signed_in(visitor, ada, "/security")
    with UnitOfWork(there.services.database, there.tenant_id).apart() as work:
        work.run(update(accounts).where(accounts.c.uid == ada.uid).values(password_hash=None))
    page = visitor.open("/change-password")
    assert page.heading == "Set a password"
    weak = page.press("Save the new password", new_password="short")
    assert (weak.status, weak.title.startswith("Error: ")) == (422, True)
    there.services.clock.advance(minutes=6)
    assert visitor.open("/set-password").heading == "Is it still you?", "a session alone sets none"
    stale = page.press("Save the new password", new_password="Zebra-kettle-92")
    assert stale.heading == "Is it still you?"
    there.services.clock.advance(minutes=-6)
    assert "Your password is set" in page.press("Save the new password", new_password="Zebra-kettle-92").text
    assert len(mails(there, ada)) == 1
    assert visitor.open("/set-password").heading == "Change password"


def test_access_to_the_account_is_listed_and_ends(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop", require_consent=True, interface_access="read")
    held = shop.redeem(allowed(visitor, shop, ada).query["code"]).json or {}
    page = visitor.open("/applications")
    assert "See your full profile, your consents and your passkeys" in page.text
    assert "Change your profile and consents" not in page.text
    page.press("End access")
    assert not shop.introspect(held["access_token"])["active"]
