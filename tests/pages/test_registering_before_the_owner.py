"""An account made with somebody else's address before its owner comes: the owner loses nothing and inherits nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.identity.accounts.tables import accounts, waiting_accounts
from app.identity.proofs.tables import proofs
from app.identity.sign_in.tables import sessions
from app.identity.store.unit import UnitOfWork
from app.identity.tokens.tables import access_tokens
from tests.support.letterbox import link_in, mailed_to
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitor, Seen, Visitor

MINE, SQUATTERS = "Teapot-zebra-91", "Kettle-zebra-17"
EMAIL = "owner@example.test"
UNLIMITED = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}
FORM = (
    {"name": "email", "required": True},
    {"name": "username"},
    {"name": "first_name"},
    {"name": "password", "type": "password", "required": True},
)
At = Callable[[World], Visitor]


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=UNLIMITED, registration_form=FORM, email_login=True, username_login=True)


def sign_up(visitor: Visitor, password: str, **more: str) -> Seen:
    return visitor.open("/register").press("Create account", email=EMAIL, password=password, **more)


def signed_in(visitor: Visitor, password: str, name: str = EMAIL) -> bool:
    page = visitor.open("/login").press("Sign in", identifier=name, password=password)
    return page.address.endswith("/profile")


def rows(world: World, table: Any) -> list[Any]:
    work = UnitOfWork(world.house.database, world.tenant_id)
    try:
        return list(work.all(table.select().where(table.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def links(world: World) -> list[str]:
    return [link_in(mail) for mail in mailed_to(world.house, world.tenant_id, EMAIL)]


def test_the_owner_gets_what_the_owner_typed_and_the_squatters_password_dies(
    world: World, new_visitor: NewVisitor
) -> None:
    squatter, owner = new_visitor(), new_visitor()
    sign_up(squatter, SQUATTERS, first_name="Eve", username="eve")
    sign_up(owner, MINE, first_name="Olivia")
    owner.open(links(world)[-1]).press("Confirm")
    (account,) = rows(world, accounts)
    assert (account.email_verified, account.profile["FirstName"], account.username) == (True, "Olivia", None)
    assert not signed_in(new_visitor(), SQUATTERS)
    assert signed_in(new_visitor(), MINE)


def test_the_squatters_link_is_dead_once_the_owner_has_come(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    sign_up(owner, MINE)
    first, last = links(world)
    owner.open(last).press("Confirm")
    page = new_visitor().open(first)
    assert "Confirm" not in page.html or page.press("Confirm").status >= 400
    assert signed_in(new_visitor(), MINE)
    assert rows(world, waiting_accounts) == []
    assert {row.uid for row in rows(world, proofs)} == {rows(world, accounts)[0].uid}


def test_a_squatter_who_comes_after_the_owner_cannot_take_the_owners_link_away(
    world: World, new_visitor: NewVisitor
) -> None:
    owner = new_visitor()
    sign_up(owner, MINE)
    sign_up(new_visitor(), SQUATTERS)
    owner.open(links(world)[0]).press("Confirm")
    assert signed_in(new_visitor(), MINE)
    assert not signed_in(new_visitor(), SQUATTERS)


def test_another_mail_is_that_of_this_browsers_own_registration(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    page = sign_up(owner, MINE)
    world.house.clock.advance(seconds=40)  # type: ignore[attr-defined]  # the tests' clock
    page.press("Send another mail")
    owner.open(links(world)[-1]).press("Confirm")
    assert signed_in(new_visitor(), MINE)


def test_where_sessions_begin_at_once_the_squatters_end(new_world: NewWorld, new_visitor_at: At) -> None:
    world = new_world(limits=UNLIMITED, email_verification="optional")
    squatter, owner = new_visitor_at(world), new_visitor_at(world)
    assert sign_up(squatter, SQUATTERS).address.endswith("/profile")
    assert not sign_up(owner, MINE).address.endswith("/profile")
    owner.open(links(world)[-1]).press("Confirm")
    assert squatter.open("/profile").heading == "Welcome back"
    (account,) = rows(world, accounts)
    assert {row.uid for row in rows(world, sessions)} <= {account.uid}
    assert {row.uid for row in rows(world, access_tokens)} <= {account.uid}


def test_an_account_that_the_tenant_made_does_not_give_way(world: World, new_visitor: NewVisitor) -> None:
    world.person(EMAIL, MINE)
    sign_up(new_visitor(), SQUATTERS)
    assert rows(world, waiting_accounts) == []
    assert "vtoken" not in str(mailed_to(world.house, world.tenant_id, EMAIL))
    assert signed_in(new_visitor(), MINE)


def test_a_username_that_was_taken_meanwhile_is_let_go(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), SQUATTERS)
    owner = new_visitor()
    sign_up(owner, MINE, username="olivia")
    new_visitor().open("/register").press(
        "Create account", email="other@example.test", password=SQUATTERS, username="Olivia"
    )
    owner.open(links(world)[-1]).press("Confirm")
    assert {row.username for row in rows(world, accounts)} == {None, "olivia"}
    assert signed_in(new_visitor(), MINE)
