"""An attacker claims a phone number on the pages; its owner verifies it later and is alone in the account.

The same over the API: tests/api/verification/test_contested_numbers.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from app.identity.credentials.one_time_tokens import resend_delay
from tests.support.accounts.mailbox import code_in, link_in, mails_to, sent_messages
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ATTACKER_PASSWORD, OWNER_PASSWORD = "Zebra-kettle-91", "Amber-window-77"
TYPED, SHOWN, E164 = "020 7946 0123", "+44 20 7946 0123", "+442079460123"
ATTACKER = "thief@example.com"
FREE = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}
SENDING = {"sms": {"amount": 0, "minutes": 1}, "sms_per_address": {"amount": 0, "minutes": 1}}
FORM = [{"name": "email"}, {"name": "phone"}, {"name": "password", "type": "password", "required": True}]


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(
        limits=FREE, sending=SENDING, phone_login=True, email_login=True, default_country="GB", registration_form=FORM
    )


def texts(world: World) -> list[dict[str, Any]]:
    return [answer for answer in sent_messages(world.services, world.tenant_id, "sms") if answer["to"] == E164]


def sign_up(visitor: Visitor, password: str, email: str = "") -> VisitedPage:
    return visitor.open("/register").press("Create account", phone=TYPED, email=email, password=password)


def sign_in(visitor: Visitor, password: str, name: str = TYPED) -> VisitedPage:
    return visitor.open("/profile").press("Sign in", identifier=name, password=password)


def advance_clock(world: World, **delta: float) -> None:
    clock: Any = world.services.clock
    clock.advance(**delta)


def register_attacker(world: World, attacker: Visitor) -> None:
    """Sign the attacker in with their own address and the victim's unverified number."""
    sign_up(attacker, ATTACKER_PASSWORD, ATTACKER)
    attacker.open(link_in(mails_to(world.services, world.tenant_id, ATTACKER)[-1])).press("Verify")
    assert ATTACKER in attacker.open("/profile").text


def assert_owner_is_alone(world: World, owner: Visitor, attacker: Visitor, other: Visitor) -> None:
    """Assert that only the owner's account has the number and that the attacker has no access to it."""
    page = owner.open("/profile")
    assert SHOWN in page.text.replace("\u00a0", " ")
    assert ATTACKER not in page.text
    assert sign_in(other, ATTACKER_PASSWORD).status == 401
    assert SHOWN not in attacker.open("/profile").text.replace("\u00a0", " ")
    assert SHOWN in sign_in(other, OWNER_PASSWORD).text.replace("\u00a0", " ")


def test_unverified_attacker_loses_the_account(world: World, new_visitor_at: NewVisitorAt) -> None:
    attacker, owner = new_visitor_at(world), new_visitor_at(world)
    pending = sign_up(attacker, ATTACKER_PASSWORD)
    attacker_code = code_in(texts(world)[-1])
    owner_page = sign_up(owner, OWNER_PASSWORD)
    owner_code = code_in(texts(world)[-1])
    if attacker_code != owner_code:
        assert "Wrong or expired code" in owner_page.press("Verify", code=attacker_code).text, (
            "a code works in one browser"
        )
    assert owner_page.press("Verify", code=owner_code).address.endswith("/profile")
    if attacker_code != owner_code:
        assert "Wrong or expired code" in pending.press("Verify", code=attacker_code).text, (
            "the code was deleted with the account"
        )
    assert_owner_is_alone(world, owner, attacker, new_visitor_at(world))


def test_later_attacker_cannot_use_their_code(world: World, new_visitor_at: NewVisitorAt) -> None:
    attacker, owner = new_visitor_at(world), new_visitor_at(world)
    owner_page = sign_up(owner, OWNER_PASSWORD)
    owner_code = code_in(texts(world)[-1])
    pending = sign_up(attacker, ATTACKER_PASSWORD)
    attacker_code = code_in(texts(world)[-1])
    if attacker_code != owner_code:
        assert "Wrong or expired code" in owner_page.press("Verify", code=attacker_code).text
    assert owner_page.press("Verify", code=owner_code).address.endswith("/profile")
    assert pending.press("Verify", code=attacker_code).heading != "thief"
    assert_owner_is_alone(world, owner, attacker, new_visitor_at(world))


@pytest.mark.both_databases
def test_active_attacker_loses_only_the_number(world: World, new_visitor_at: NewVisitorAt) -> None:
    attacker, owner = new_visitor_at(world), new_visitor_at(world)
    register_attacker(world, attacker)
    owner_page = sign_up(owner, OWNER_PASSWORD)
    assert (owner_page.status, owner_page.heading) == (200, "Check your phone")
    assert "has an account" not in texts(world)[-1]["text"]
    assert owner_page.press("Verify", code=code_in(texts(world)[-1])).address.endswith("/profile")
    assert_owner_is_alone(world, owner, attacker, new_visitor_at(world))
    assert ATTACKER in attacker.open("/profile").text


def test_taken_number_answers_like_a_free_one(world: World, new_visitor_at: NewVisitorAt) -> None:
    register_attacker(world, new_visitor_at(world))
    taken = sign_up(new_visitor_at(world), OWNER_PASSWORD)
    free = (
        new_visitor_at(world)
        .open("/register")
        .press("Create account", phone="020 7946 0124", email="", password=OWNER_PASSWORD)
    )
    assert (taken.status, taken.comparable_text(SHOWN)) == (free.status, free.comparable_text("+44 20 7946 0124"))


def test_owner_registers_with_address_and_number(world: World, new_visitor_at: NewVisitorAt) -> None:
    attacker, owner = new_visitor_at(world), new_visitor_at(world)
    register_attacker(world, attacker)
    pending = sign_up(owner, OWNER_PASSWORD, "ada@example.com")
    assert (pending.status, pending.heading) == (200, "Check your email")
    owner.open(link_in(mails_to(world.services, world.tenant_id, "ada@example.com")[-1])).press("Verify")
    page = owner.open("/phone")
    assert "Not verified" in page.text, "stated, but not held before it is confirmed"
    advance_clock(world, seconds=resend_delay.SECONDS)
    sent = page.follow("Verify").press("Send code")
    assert "Phone verified" in sent.press("Verify", code=code_in(texts(world)[-1])).text
    assert_owner_is_alone(world, owner, attacker, new_visitor_at(world))


def test_owner_adds_the_number_to_an_account(world: World, new_visitor_at: NewVisitorAt) -> None:
    attacker, owner = new_visitor_at(world), new_visitor_at(world)
    register_attacker(world, attacker)
    world.person("ada@example.com", OWNER_PASSWORD)
    sign_in(owner, OWNER_PASSWORD, "ada@example.com")
    sent = owner.open("/phone/change").press("Send code", phone=TYPED)
    assert "Phone verified" in sent.press("Verify", code=code_in(texts(world)[-1])).text
    assert_owner_is_alone(world, owner, attacker, new_visitor_at(world))


def test_earlier_request_reserves_no_number(world: World, new_visitor_at: NewVisitorAt) -> None:
    """A requested number is not reserved: after the owner registered it, the attacker's code is refused."""
    attacker, owner = new_visitor_at(world), new_visitor_at(world)
    world.person(ATTACKER, ATTACKER_PASSWORD)
    sign_in(attacker, ATTACKER_PASSWORD, ATTACKER)
    page = attacker.open("/phone/change").press("Send code", phone=TYPED)
    attacker_code = code_in(texts(world)[-1])
    owner_page = sign_up(owner, OWNER_PASSWORD)
    assert owner_page.press("Verify", code=code_in(texts(world)[-1])).address.endswith("/profile")
    assert "Number already in use" in page.press("Verify", code=attacker_code).text
    assert_owner_is_alone(world, owner, attacker, new_visitor_at(world))


def test_concurrent_verifications_have_one_winner(world: World, new_visitor_at: NewVisitorAt) -> None:
    register_attacker(world, new_visitor_at(world))
    pending, codes = [], []
    for password in (OWNER_PASSWORD, ATTACKER_PASSWORD):
        pending.append(sign_up(new_visitor_at(world), password))
        codes.append(code_in(texts(world)[-1]))
    clicks = [
        partial(tab.press, "Verify", code=code)
        for page, code in zip(pending, codes, strict=True)
        for tab in tabs(page, 3)
    ]
    done = at_once(clicks)
    assert all(answer.status < 500 for answer in done)
    entered = [
        sign_in(new_visitor_at(world), password).status == 200 for password in (OWNER_PASSWORD, ATTACKER_PASSWORD)
    ]
    assert sorted(entered) == [False, True]
