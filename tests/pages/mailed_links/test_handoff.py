"""Pages that wait for an emailed link: they continue by the link in the same browser, or by their number typed in another.

The attacks: an attacker starts the journey with the victim's address, so that the link reaches the victim.
"""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import link_in, mails_to, token_of
from tests.support.journeys.link_handoff import ADA, NEW, Journey
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, Visitor

KINDS = pytest.mark.parametrize("kind", ["verification", "sign-in link", "reset"])


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passwordless_email=True)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@KINDS
def test_number_typed_in_another_browser_lets_page_go_on(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    journey = Journey(kind, world, visitor)
    assert journey.state == "waits"
    journey.use(new_visitor_at(world), journey.number)
    assert journey.state == "approved"
    assert journey.continues().query["code"]


@KINDS
def test_link_in_the_same_browser_lets_the_page_go_on(kind: str, world: World, visitor: Visitor) -> None:
    journey = Journey(kind, world, visitor)
    page = visitor.open(journey.link)
    assert "Number shown on the other device" not in page.text, "no number is asked in the browser that waits"
    button = {"verification": "Verify", "sign-in link": "Sign in", "reset": "Save password"}[kind]
    assert page.press(button, **({"password": NEW} if kind == "reset" else {})).query["code"]
    assert journey.state == "over"
    assert journey.continues().address == "https://shop.example/"


@KINDS
def test_click_in_another_browser_alone_never_continues(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    """The attacker waits; the victim opens the link and acts on it, but was shown no number."""
    journey = Journey(kind, world, visitor)
    journey.use(new_visitor_at(world))
    assert journey.state == "waits"
    assert "code" not in journey.continues().query
    assert not visitor.cookies("session")


@KINDS
def test_three_wrong_numbers_end_the_handover(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    journey = Journey(kind, world, visitor)
    for _ in range(3):
        refused = journey.use(new_visitor_at(world), journey.wrong)
        assert (refused.status, "Wrong number" in refused.text) == (403, True)
    assert "Number shown on the other device" not in new_visitor_at(world).open(journey.link).text
    assert journey.state == "waits"


@KINDS
def test_number_without_the_link_is_worthless(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    """The attacker knows the number that his own page shows, but not the link."""
    journey = Journey(kind, world, visitor)
    page = new_visitor_at(world).open(journey.link)
    forged = page.address.replace(token_of(journey.link), f"x{token_of(journey.link)}")
    form = page.form({"verification": "Verify", "sign-in link": "Sign in here", "reset": "Save password"}[kind])
    do = {"verification": "link", "sign-in link": "there", "reset": ""}[kind]
    page.visitor.send("POST", forged, {**form.fields, "number": journey.number, "password": NEW, "do": do})
    assert journey.state == "waits"


@KINDS
def test_handover_is_taken_once(kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    journey = Journey(kind, world, visitor)
    journey.use(new_visitor_at(world), journey.number)
    assert journey.continues().query["code"]
    visitor.client.delete_cookie(visitor.cookie("session").key, domain=visitor.cookie("session").domain)
    assert "code" not in journey.continues().query
    assert not visitor.cookies("session")


@KINDS
def test_late_page_does_not_go_on(kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    journey = Journey(kind, world, visitor)
    journey.use(new_visitor_at(world), journey.number)
    pass_time(world.services, minutes=11)
    assert "code" not in journey.continues().query


def test_new_password_ends_an_approved_sign_in(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    """The victim typed the attacker's number, notices it, and resets the password."""
    journey, victim = Journey("sign-in link", world, visitor), new_visitor_at(world)
    journey.use(victim, journey.number)
    pass_time(world.services, seconds=31)
    victim.open("/forgot-password").press("Send reset link", identifier=ADA)
    victim.open(link_in(mails_to(world.services, world.tenant_id, ADA)[-1])).press("Save password", password=NEW)
    assert "code" not in journey.continues().query
    assert not visitor.cookies("session")


def test_second_factor_is_still_asked_after_handover(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(two_factor="required")
    visitor = new_visitor_at(world)
    journey = Journey("reset", world, visitor)
    journey.use(new_visitor_at(world), journey.number)
    page = journey.continues()
    assert page.heading == "Protect your account"
    assert not visitor.cookies("session")


def test_unknown_identifier_shows_a_number_too(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    known = Journey("reset", world, visitor).page
    unknown = new_visitor_at(world).open("/forgot-password").press("Send reset link", identifier="bob@example.com")
    assert known.comparable_text(but_for=ADA) == unknown.comparable_text(but_for="bob@example.com")


def test_another_browser_cannot_read_the_state(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    journey = Journey("reset", world, visitor)
    journey.use(new_visitor_at(world), journey.number)
    other = new_visitor_at(world)
    assert other.open(f"/forgot-password/waiting?attempt={journey.page.query['attempt']}").html == "over"
    assert journey.state == "approved"
