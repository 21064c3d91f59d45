"""Somebody states a number that is not theirs, on our pages, and waits: its owner comes later and is alone.

By the operations: tests/api/test_contested_numbers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from app.identity.credentials.one_time_tokens import resend_delay
from tests.support.mailbox import code_in, link_in, mails_to, sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.visitor import Seen, Visitor

THIEFS, OWNERS = "Zebra-kettle-91", "Amber-window-77"
TYPED, SHOWN, KEPT = "020 7946 0123", "+44 20 7946 0123", "+442079460123"
THIEF = "thief@example.com"
FREE = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}
SENDING = {"sms": {"amount": 0, "minutes": 1}, "sms_per_address": {"amount": 0, "minutes": 1}}
FORM = [{"name": "email"}, {"name": "phone"}, {"name": "password", "type": "password", "required": True}]
At = Callable[[World], Visitor]


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(
        limits=FREE, sending=SENDING, phone_login=True, email_login=True, default_country="GB", registration_form=FORM
    )


def texts(world: World) -> list[dict[str, Any]]:
    return [one for one in sent_messages(world.services, world.tenant_id, "sms") if one["to"] == KEPT]


def sign_up(visitor: Visitor, password: str, email: str = "") -> Seen:
    return visitor.open("/register").press("Create account", phone=TYPED, email=email, password=password)


def sign_in(visitor: Visitor, password: str, name: str = TYPED) -> Seen:
    return visitor.open("/profile").press("Sign in", identifier=name, password=password)


def later(world: World, **by: float) -> None:
    clock: Any = world.services.clock
    clock.advance(**by)


def in_use(world: World, thief: Visitor) -> None:
    """The thief proved an address of their own, is signed in, and states somebody's number."""
    sign_up(thief, THIEFS, THIEF)
    thief.open(link_in(mails_to(world.services, world.tenant_id, THIEF)[-1])).press("Confirm")
    assert THIEF in thief.open("/profile").text


def is_alone(world: World, owner: Visitor, thief: Visitor, other: Visitor) -> None:
    """The owner has the number; the thief has neither their account nor a session in it."""
    page = owner.open("/profile")
    assert SHOWN in page.text.replace("\u00a0", " ")
    assert THIEF not in page.text
    assert sign_in(other, THIEFS).status == 401
    assert SHOWN not in thief.open("/profile").text.replace("\u00a0", " ")
    assert SHOWN in sign_in(other, OWNERS).text.replace("\u00a0", " ")


def test_a_thief_who_never_proved_anything_is_gone(world: World, new_visitor_at: At) -> None:
    thief, owner = new_visitor_at(world), new_visitor_at(world)
    waits = sign_up(thief, THIEFS)
    theirs = code_in(texts(world)[-1])
    mine = sign_up(owner, OWNERS)
    right = code_in(texts(world)[-1])
    if theirs != right:
        assert "That code did not work" in mine.press("Confirm", code=theirs).text, "a code is of one browser"
    assert mine.press("Confirm", code=right).address.endswith("/profile")
    if theirs != right:
        assert "That code did not work" in waits.press("Confirm", code=theirs).text, "the code went with the account"
    is_alone(world, owner, thief, new_visitor_at(world))


def test_a_thief_who_registers_after_the_owner_gets_no_code_of_theirs_in(world: World, new_visitor_at: At) -> None:
    thief, owner = new_visitor_at(world), new_visitor_at(world)
    mine = sign_up(owner, OWNERS)
    right = code_in(texts(world)[-1])
    waits = sign_up(thief, THIEFS)
    theirs = code_in(texts(world)[-1])
    if theirs != right:
        assert "That code did not work" in mine.press("Confirm", code=theirs).text
    assert mine.press("Confirm", code=right).address.endswith("/profile")
    assert waits.press("Confirm", code=theirs).heading != "thief"
    is_alone(world, owner, thief, new_visitor_at(world))


def test_a_thief_who_uses_the_account_loses_the_number_and_nothing_else(world: World, new_visitor_at: At) -> None:
    thief, owner = new_visitor_at(world), new_visitor_at(world)
    in_use(world, thief)
    mine = sign_up(owner, OWNERS)
    assert (mine.status, mine.heading) == (200, "Check your phone")
    assert "has an account" not in texts(world)[-1]["text"]
    assert mine.press("Confirm", code=code_in(texts(world)[-1])).address.endswith("/profile")
    is_alone(world, owner, thief, new_visitor_at(world))
    assert THIEF in thief.open("/profile").text


def test_the_answer_is_that_of_a_free_number(world: World, new_visitor_at: At) -> None:
    in_use(world, new_visitor_at(world))
    taken = sign_up(new_visitor_at(world), OWNERS)
    free = (
        new_visitor_at(world)
        .open("/register")
        .press("Create account", phone="020 7946 0124", email="", password=OWNERS)
    )
    assert (taken.status, taken.says(SHOWN)) == (free.status, free.says("+44 20 7946 0124"))


def test_the_owner_registers_with_an_address_and_the_number(world: World, new_visitor_at: At) -> None:
    thief, owner = new_visitor_at(world), new_visitor_at(world)
    in_use(world, thief)
    waits = sign_up(owner, OWNERS, "ada@example.com")
    assert (waits.status, waits.heading) == (200, "Check your mail")
    owner.open(link_in(mails_to(world.services, world.tenant_id, "ada@example.com")[-1])).press("Confirm")
    page = owner.open("/phone")
    assert "not confirmed" in page.text, "it is stated, and held by nobody who did not prove it"
    later(world, seconds=resend_delay.SECONDS)
    sent = page.follow("Confirm").press("Send the code")
    assert "Number confirmed" in sent.press("Confirm", code=code_in(texts(world)[-1])).text
    is_alone(world, owner, thief, new_visitor_at(world))


def test_the_owner_adds_the_number_to_an_account(world: World, new_visitor_at: At) -> None:
    thief, owner = new_visitor_at(world), new_visitor_at(world)
    in_use(world, thief)
    world.person("ada@example.com", OWNERS)
    sign_in(owner, OWNERS, "ada@example.com")
    sent = owner.open("/phone/change").press("Send the code", phone=TYPED)
    assert "Number confirmed" in sent.press("Confirm", code=code_in(texts(world)[-1])).text
    is_alone(world, owner, thief, new_visitor_at(world))


def test_a_thief_who_asked_for_the_number_first_has_no_part_of_it(world: World, new_visitor_at: At) -> None:
    """To ask for a number holds nothing: its owner registers, and the thief's own code comes too late."""
    thief, owner = new_visitor_at(world), new_visitor_at(world)
    world.person(THIEF, THIEFS)
    sign_in(thief, THIEFS, THIEF)
    asked = thief.open("/phone/change").press("Send the code", phone=TYPED)
    theirs = code_in(texts(world)[-1])
    mine = sign_up(owner, OWNERS)
    assert mine.press("Confirm", code=code_in(texts(world)[-1])).address.endswith("/profile")
    assert "Somebody else proved this number" in asked.press("Confirm", code=theirs).text
    is_alone(world, owner, thief, new_visitor_at(world))


def test_of_two_who_wait_and_click_at_once_one_has_it(world: World, new_visitor_at: At) -> None:
    in_use(world, new_visitor_at(world))
    waits, codes = [], []
    for password in (OWNERS, THIEFS):
        waits.append(sign_up(new_visitor_at(world), password))
        codes.append(code_in(texts(world)[-1]))
    clicks = [
        partial(tab.press, "Confirm", code=code)
        for page, code in zip(waits, codes, strict=True)
        for tab in tabs(page, 3)
    ]
    done = at_once(clicks)
    assert all(one.status < 500 for one in done)
    entered = [sign_in(new_visitor_at(world), password).status == 200 for password in (OWNERS, THIEFS)]
    assert sorted(entered) == [False, True]
