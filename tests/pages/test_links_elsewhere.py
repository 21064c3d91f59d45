"""Mailed links where nobody expected them: at machines, in a browser of somebody else, sent twice, long after the attempt."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

import pytest
from sqlalchemy import select

from app.identity.credentials.one_time_tokens.tables import proofs
from app.identity.platform.store.unit import UnitOfWork
from tests.pages.test_verification import ADA, PASSWORD, Door, is_verified, wait
from tests.support.mailbox import link_in, mails_to
from tests.support.oauth_world import World
from tests.support.people import forms_of, leads_on
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitor, Seen, Visitor

NEW, BOB = "Quartz-lantern-58", "bob@example.com"
SAVE = "Save the new password"
MACHINES = ("Barracuda Sentinel (EE)", "", "Mozilla/5.0 (compatible; SafeLinks preview)", "Mozilla/5.0 Firefox/140.0")


def states(world: World) -> set[tuple[str, str]]:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        asked = select(proofs.c.proof_id, proofs.c.state).where(proofs.c.tenant_id == world.tenant_id)
        return {(row.proof_id, row.state) for row in work.all(asked)}
    finally:
        work.rollback()


def newest_link(world: World, email: str = ADA) -> str:
    return link_in([mail for mail in mails_to(world.services, world.tenant_id, email) if "vtoken=" in str(mail)][-1])


def verification(world: World, visitor: Visitor) -> None:
    Door(world, visitor)


def recovery(world: World, visitor: Visitor) -> None:
    world.person(ADA)
    visitor.open("/login").follow("Forgot it?").press("Send it", identifier=ADA)


def deletion(world: World, visitor: Visitor) -> None:
    ada = world.person(ADA)
    visitor.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = visitor.open("/delete-account")
    form, button = next((form, button) for form, button in forms_of(page) if "lang" not in form.fields)
    page.press(button, **{name: PASSWORD for name in form.fields if "password" in name})


def alarm(world: World, visitor: Visitor) -> None:
    visitor.open("/profile").press("Sign in", identifier=world.person(ADA).email, password=PASSWORD)
    visitor.open("/change-password").press(SAVE, old_password=PASSWORD, new_password=NEW)


@pytest.mark.parametrize("mailed", [verification, recovery, deletion, alarm])
def test_no_machine_spends_a_link(world: World, visitor: Visitor, new_visitor: NewVisitor, mailed: Any) -> None:
    mailed(world, visitor)
    link, before = newest_link(world), states(world)
    for agent in MACHINES:
        for method in ("HEAD", "OPTIONS", "GET"):
            scanner = new_visitor()
            seen = scanner.send(method, link, None, **{"User-Agent": agent})
            assert seen.status in (200, 204), (method, agent, seen.status)
            assert not scanner.cookies("session")
        for part in re.findall(r'(?:href|src|action)="([^"#]+)"', seen.html):  # it fetches whatever the page names
            fetched = scanner.send("GET", urljoin(link, part.replace("&amp;", "&")), None, **{"User-Agent": agent})
            assert fetched.status < 500
    assert states(world) == before


@pytest.fixture
def bobs(world: World, new_visitor: NewVisitor) -> Visitor:
    """A browser in which Bob is signed in."""
    browser = new_visitor()
    browser.open("/profile").press("Sign in", identifier=world.person(BOB).email, password=PASSWORD)
    return browser


def test_a_link_confirms_in_a_browser_of_somebody_else_who_stays_who_they_are(
    world: World, visitor: Visitor, bobs: Visitor
) -> None:
    door = Door(world, visitor)
    looked = bobs.open(door.link)
    assert ADA in looked.text
    done = looked.press("Confirm")
    assert done.heading == "Your address is confirmed"
    assert is_verified(world, door.ada)
    assert bobs.open("/profile").heading == BOB
    assert door.is_home(door.page.press("I have opened the link"))


def test_a_reset_in_a_browser_of_somebody_else_makes_nobody_another_person(
    world: World, visitor: Visitor, bobs: Visitor
) -> None:
    recovery(world, visitor)
    page = bobs.open(newest_link(world))
    assert page.form(SAVE).fields["username"] == ADA
    page.press(SAVE, password=NEW)
    assert bobs.open("/profile").heading in (BOB, "Welcome back")
    assert visitor.open("/login").press("Sign in", identifier=ADA, password=NEW).address.endswith("/profile")


def test_a_reset_that_is_sent_twice_keeps_the_first_password(world: World, visitor: Visitor) -> None:
    recovery(world, visitor)
    page = visitor.open(newest_link(world))
    page.press(SAVE, password=NEW)
    second = page.press(SAVE, password="Amber-window-44")
    assert second.heading == "This link was used already"
    assert leads_on(second)
    assert visitor.open("/login").press("Sign in", identifier=ADA, password=NEW).address.endswith("/profile")


def sign_up(visitor: Visitor, shop: Any) -> Seen:
    return visitor.asked_by(shop).follow("Create an account")


def forgot(visitor: Visitor, shop: Any) -> Seen:
    return visitor.asked_by(shop).follow("Forgot it?")


def sent(visitor: Visitor, shop: Any) -> Seen:
    return forgot(visitor, shop).press("Send it", identifier=ADA)


def check_mail(visitor: Visitor, shop: Any) -> Seen:
    return sign_up(visitor, shop).press("Create account", email="new@example.com", password=NEW)


@pytest.mark.parametrize("stands_at", [sign_up, forgot, sent, check_mail])
def test_every_button_and_refresh_of_an_attempt_that_is_over_leads_on(
    world: World, visitor: Visitor, stands_at: Any
) -> None:
    person: Person = world.person(ADA)
    page = stands_at(visitor, world.application("shop", client_name="Acme Shop"))
    wait(world, hours=26)
    typed = {"email": person.email, "identifier": person.email, "password": NEW, "code": "123456"}
    seen = [
        page.press(button, **{n: t for n, t in typed.items() if n in form.fields}) for form, button in forms_of(page)
    ]
    for one in [*seen, visitor.open(page.address)]:
        assert one.status < 500
        assert leads_on(one), one.text
        assert not visitor.cookies("session")
