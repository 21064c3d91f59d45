"""An account that is named by a phone number: registered, proved, signed in to, and back after a forgotten password."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pages.test_verification import wait
from tests.support.mailbox import code_in, sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitorAt, Seen, Visitor

PASSWORD = "Zebra-kettle-91"
TYPED, SHOWN, KEPT = "020 7946 0123", "+44 20 7946 0123", "+442079460123"
FREE = {"register_per_minute_per_address": 0}
ARABIC = str.maketrans("0123456789", "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669")


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=FREE, phone_login=True, email_login=False, default_country="GB")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def texts(world: World) -> list[dict[str, Any]]:
    return sent_messages(world.services, world.tenant_id, "sms")


def sign_up(page: Seen, phone: str = TYPED) -> Seen:
    return page.press("Create account", phone=phone, password=PASSWORD)


def sign_in(page: Seen) -> Seen:
    return page.press("Sign in", identifier=TYPED, password=PASSWORD)


def test_a_person_signs_up_by_a_number_types_the_code_and_is_at_the_application(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    waiting = sign_up(visitor.asked_by(shop).follow("Create an account"))
    assert (waiting.status, waiting.heading) == (200, "Check your phone")
    assert SHOWN in waiting.text
    assert 'autocomplete="one-time-code"' in waiting.html
    assert 'inputmode="numeric"' in waiting.html
    assert "I have opened the link" not in waiting.text
    assert texts(world)[-1]["to"] == KEPT
    right = code_in(texts(world)[-1])
    wrong = waiting.press("Confirm", code=f"{(int(right) + 1) % 1_000_000:06}")
    assert "That code did not work" in wrong.text
    landed = wrong.press("Confirm", code=f" {right[:3]} {right[3:]}".translate(ARABIC))
    assert landed.address.startswith(shop.redirect_uri)
    assert landed.query["code"]


def test_a_number_that_was_not_proved_is_asked_for_at_sign_in(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    sign_up(visitor.asked_by(shop).follow("Create an account"))
    waiting = sign_in(visitor.asked_by(shop))
    assert (waiting.status, waiting.heading) == (200, "Check your phone")
    assert len(texts(world)) == 2
    landed = waiting.press("Confirm", code=code_in(texts(world)[-1]))
    assert landed.address.startswith(shop.redirect_uri)


def test_another_message_is_sent_after_a_while_and_not_for_ever(world: World, visitor: Visitor) -> None:
    waiting = sign_up(visitor.open("/register"))
    early = waiting.press("Send it again")
    assert early.status == 429
    assert "A message is on its way" in early.text
    for _ in range(4):
        wait(world, seconds=31)
        waiting = waiting.press("Send it again")
        assert "We sent another message" in waiting.text
    wait(world, seconds=31)
    over = waiting.press("Send it again")
    assert "That is enough messages for now" in over.text
    assert len(texts(world)) == 5
    assert over.press("Confirm", code=code_in(texts(world)[-1])).address.endswith("/profile")


def test_a_number_that_has_an_account_is_answered_as_any_other(world: World, new_visitor_at: NewVisitorAt) -> None:
    first = sign_up(new_visitor_at(world).open("/register"))
    first.press("Confirm", code=code_in(texts(world)[-1]))
    known = sign_up(new_visitor_at(world).open("/register"))
    fresh = sign_up(new_visitor_at(world).open("/register"), "020 7946 0124")
    assert known.says(but_for=SHOWN) == fresh.says(but_for="+44 20 7946 0124")
    assert known.status == fresh.status
    assert "/login" in texts(world)[-2]["text"]  # its owner is told, without a code
    assert "That code did not work" in known.press("Confirm", code="123456").text


def test_who_registered_first_and_proved_nothing_keeps_nobody_out(world: World, new_visitor_at: NewVisitorAt) -> None:
    squatter = sign_up(new_visitor_at(world).open("/register"))
    owner = new_visitor_at(world)
    waiting = sign_up(owner.open("/register"))
    assert waiting.press("Confirm", code=code_in(texts(world)[-1])).address.endswith("/profile")
    assert "That code did not work" in squatter.press("Confirm", code="123456").text


def test_a_forgotten_password_is_set_by_a_code_from_a_message(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    world = new_world(
        limits=FREE, phone_login=True, email_login=False, default_country="GB", login_on_password_reset=True
    )
    shop, visitor = world.application("shop"), new_visitor_at(world)
    sign_up(visitor.open("/register")).press("Confirm", code=code_in(texts(world)[-1]))
    other = new_visitor_at(world)
    sent = other.asked_by(shop).follow("Forgot it?").press("Send it", identifier=TYPED)
    assert (sent.status, sent.heading) == (200, "Check your phone")
    new = sent.press("Continue", code=code_in(texts(world)[-1]))
    assert new.heading == "Choose a new password"
    landed = new.press("Save the new password", password="Amber-window-77")
    assert landed.address.startswith(shop.redirect_uri)
