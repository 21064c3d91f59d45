"""An account made with somebody else's address before its owner comes: the owner loses nothing and inherits nothing."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.credentials.one_time_tokens.tables import proofs
from app.identity.directory.accounts.tables import accounts, waiting_accounts
from app.identity.entry.cleaning import clean
from app.identity.platform.store.unit import UnitOfWork
from tests.support.identity_service import MovableClock
from tests.support.mailbox import link_in, mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitor, NewVisitorAt, Seen, Visitor

MINE, SQUATTERS = "Teapot-zebra-91", "Kettle-zebra-17"
EMAIL = "owner@example.test"
ASKED = "Which registration is yours?"
UNLIMITED = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}
FORM = (
    {"name": "email", "required": True},
    {"name": "username"},
    {"name": "first_name"},
    {"name": "password", "type": "password", "required": True},
)


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=UNLIMITED, registration_form=FORM, email_login=True, username_login=True)


def sign_up(visitor: Visitor, password: str, **more: str) -> Seen:
    return visitor.open("/register").press("Create account", email=EMAIL, password=password, **more)


def signed_in(visitor: Visitor, password: str, name: str = EMAIL) -> bool:
    page = visitor.open("/login").press("Sign in", identifier=name, password=password)
    return page.address.endswith("/profile")


def confirm(visitor: Visitor, link: str, password: str) -> Seen:
    """Open a link, and show the password of its registration where it is asked."""
    page = visitor.open(link).press("Confirm")
    return page.press("Confirm", password=password) if page.heading == ASKED else page


def rows(world: World, table: Any) -> list[Any]:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return list(work.all(table.select().where(table.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def links(world: World) -> list[str]:
    return [link_in(mail) for mail in mails_to(world.services, world.tenant_id, EMAIL)]


def test_the_owner_gets_what_the_owner_typed_and_the_squatters_password_dies(
    world: World, new_visitor: NewVisitor
) -> None:
    squatter, owner = new_visitor(), new_visitor()
    sign_up(squatter, SQUATTERS, first_name="Eve", username="eve")
    sign_up(owner, MINE, first_name="Olivia")
    confirm(owner, links(world)[-1], MINE)
    (account,) = rows(world, accounts)
    assert (account.email_verified, account.profile["FirstName"], account.username) == (True, "Olivia", None)
    assert not signed_in(new_visitor(), SQUATTERS)
    assert signed_in(new_visitor(), MINE)


def test_the_squatters_link_is_dead_once_the_owner_has_come(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    sign_up(owner, MINE)
    first, last = links(world)
    confirm(owner, last, MINE)
    page = new_visitor().open(first)
    assert "Confirm" not in page.html or page.press("Confirm").status >= 400
    assert signed_in(new_visitor(), MINE)
    assert rows(world, waiting_accounts) == []
    assert {row.uid for row in rows(world, proofs)} == {rows(world, accounts)[0].uid}


@pytest.mark.database_alone
def test_a_link_of_who_waits_that_is_over_is_replaced_by_a_new_one(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    sign_up(owner, MINE)
    clock = world.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(minutes=4321)
    clean(world.services.database, world.services.clock.now())
    over = owner.open(links(world)[-1])
    assert over.heading == "This link no longer works"
    assert over.press("Send a new link").heading == "Check your mail"
    confirm(owner, links(world)[-1], MINE)
    assert signed_in(new_visitor(), MINE)
    assert not signed_in(new_visitor(), SQUATTERS)


def test_a_squatter_who_comes_after_the_owner_cannot_take_the_owners_link_away(
    world: World, new_visitor: NewVisitor
) -> None:
    owner = new_visitor()
    sign_up(owner, MINE)
    sign_up(new_visitor(), SQUATTERS)
    confirm(owner, links(world)[0], MINE)
    assert signed_in(new_visitor(), MINE)
    assert not signed_in(new_visitor(), SQUATTERS)


def test_another_mail_is_that_of_this_browsers_own_registration(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    page = sign_up(owner, MINE)
    world.services.clock.advance(seconds=40)  # type: ignore[attr-defined]  # the tests' clock
    page.press("Send another mail")
    owner.open(links(world)[-1]).press("Confirm")
    assert signed_in(new_visitor(), MINE)


@pytest.mark.parametrize("mode", ["optional", "disabled"])
def test_an_account_in_use_stays_whoever_registers_with_its_address(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, mode: str
) -> None:
    world = new_world(limits=UNLIMITED, email_verification=mode)
    owner, stranger = new_visitor_at(world), new_visitor_at(world)
    assert sign_up(owner, MINE).address.endswith("/profile")
    (before,) = rows(world, accounts)
    page = sign_up(stranger, SQUATTERS)
    assert "vtoken" not in str(mails_to(world.services, world.tenant_id, EMAIL)[-1])
    for mail in mails_to(world.services, world.tenant_id, EMAIL):
        if "vtoken" in str(mail):
            new_visitor_at(world).open(link_in(mail)).press("Confirm")
    assert not page.press("I have opened the link").visitor.cookies("session")
    assert owner.open("/profile").address.endswith("/profile")
    assert [row.uid for row in rows(world, accounts)] == [before.uid]
    assert rows(world, waiting_accounts) == []
    assert not signed_in(new_visitor_at(world), SQUATTERS)
    assert signed_in(new_visitor_at(world), MINE)


def test_a_strangers_link_opened_by_the_owner_gives_the_stranger_nothing(world: World, new_visitor: NewVisitor) -> None:
    owner, stranger = new_visitor(), new_visitor()
    sign_up(owner, MINE)
    (before,) = rows(world, accounts)
    page = sign_up(stranger, SQUATTERS)
    asked = owner.open(links(world)[-1]).press("Confirm")
    assert (asked.status, asked.heading) == (200, ASKED)
    assert asked.press("Confirm", password="").status == 400
    wrong = asked.press("Confirm", password=MINE)
    assert (wrong.status, wrong.heading) == (401, ASKED)
    assert "vtoken=" in wrong.html
    assert not page.press("I have opened the link").visitor.cookies("session")
    assert [(row.uid, row.email_verified) for row in rows(world, accounts)] == [(before.uid, False)]
    confirm(owner, links(world)[0], MINE)
    assert signed_in(new_visitor(), MINE)
    assert not signed_in(new_visitor(), SQUATTERS)


def test_who_waited_signs_in_with_the_password_and_not_by_a_click_elsewhere(
    world: World, new_visitor: NewVisitor
) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    page = sign_up(owner, MINE)
    confirm(new_visitor(), links(world)[-1], MINE)
    assert not page.press("I have opened the link").visitor.cookies("session")
    assert signed_in(owner, MINE)


def test_an_account_that_the_tenant_made_does_not_give_way(world: World, new_visitor: NewVisitor) -> None:
    world.person(EMAIL, MINE)
    sign_up(new_visitor(), SQUATTERS)
    assert rows(world, waiting_accounts) == []
    assert "vtoken" not in str(mails_to(world.services, world.tenant_id, EMAIL))
    assert signed_in(new_visitor(), MINE)


def test_a_username_that_was_taken_meanwhile_is_let_go(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    sign_up(owner, MINE, username="olivia")
    new_visitor().open("/register").press(
        "Create account", email="other@example.test", password=SQUATTERS, username="Olivia"
    )
    confirm(owner, links(world)[-1], MINE)
    assert {row.username for row in rows(world, accounts)} == {None, "olivia"}
    assert signed_in(new_visitor(), MINE)


def test_a_taken_username_is_said_whoever_has_the_address(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), MINE, username="olivia")
    said = [
        new_visitor().open("/register").press("Create account", email=one, password=SQUATTERS, username="Olivia")
        for one in (EMAIL, "free@example.test")
    ]
    assert [seen.status for seen in said] == [403, 403]
    assert said[0].says(but_for=EMAIL) == said[1].says(but_for="free@example.test")
    assert said[0].cost["hashes"] == said[1].cost["hashes"]
