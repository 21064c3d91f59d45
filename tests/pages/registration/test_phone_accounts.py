"""Accounts identified by a phone number: registration, verification, sign-in, password reset."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.journeys.verification import wait
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor, is_empty_with_focus

PASSWORD = "Zebra-kettle-91"
TYPED, SHOWN, E164 = "020 7946 0123", "+44 20 7946 0123", "+442079460123"
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


def sign_up(page: VisitedPage, phone: str = TYPED) -> VisitedPage:
    return page.press("Create account", phone=phone, password=PASSWORD)


def sign_in(page: VisitedPage) -> VisitedPage:
    return page.press("Sign in", identifier=TYPED, password=PASSWORD)


def test_registration_by_number_continues_to_application(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    waiting = sign_up(visitor.authorize(shop).follow("Create account"))
    assert (waiting.status, waiting.heading) == (200, "Check your phone")
    assert SHOWN in waiting.text
    assert 'autocomplete="one-time-code"' in waiting.html
    assert 'inputmode="numeric"' in waiting.html
    assert "Continue" not in waiting.text
    assert texts(world)[-1]["to"] == E164
    right_code = code_in(texts(world)[-1])
    wrong = waiting.press("Verify", code=f"{(int(right_code) + 1) % 1_000_000:06}")
    assert "Wrong or expired code" in wrong.text
    assert is_empty_with_focus(wrong, "code")
    callback = wrong.press("Verify", code=f" {right_code[:3]} {right_code[3:]}".translate(ARABIC))
    assert callback.address.startswith(shop.redirect_uri)
    assert callback.query["code"]


def test_unverified_number_is_verified_at_sign_in(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    sign_up(visitor.authorize(shop).follow("Create account"))
    waiting = sign_in(visitor.authorize(shop))
    assert (waiting.status, waiting.heading) == (200, "Check your phone")
    assert len(texts(world)) == 2
    callback = waiting.press("Verify", code=code_in(texts(world)[-1]))
    assert callback.address.startswith(shop.redirect_uri)


def test_resends_are_delayed_and_limited(world: World, visitor: Visitor) -> None:
    waiting = sign_up(visitor.open("/register"))
    early = waiting.press("Resend code")
    assert early.status == 429
    assert "Code sent" in early.text
    for _ in range(4):
        wait(world, seconds=31)
        waiting = waiting.press("Resend code")
        assert "Code resent" in waiting.text
    wait(world, seconds=31)
    limited = waiting.press("Resend code")
    assert "Too many messages" in limited.text
    assert len(texts(world)) == 5
    assert limited.press("Verify", code=code_in(texts(world)[-1])).address.endswith("/profile")


def test_registered_number_answers_like_a_free_one(world: World, new_visitor_at: NewVisitorAt) -> None:
    first = sign_up(new_visitor_at(world).open("/register"))
    first.press("Verify", code=code_in(texts(world)[-1]))
    known = sign_up(new_visitor_at(world).open("/register"))
    fresh = sign_up(new_visitor_at(world).open("/register"), "020 7946 0124")
    assert known.comparable_text(but_for=SHOWN) == fresh.comparable_text(but_for="+44 20 7946 0124")
    assert known.status == fresh.status
    assert "/login" in texts(world)[-2]["text"]  # the owner is notified, without a code
    assert "Wrong or expired code" in known.press("Verify", code="123456").text


def test_unverified_registration_does_not_block_the_owner(world: World, new_visitor_at: NewVisitorAt) -> None:
    attacker = sign_up(new_visitor_at(world).open("/register"))
    owner = new_visitor_at(world)
    waiting = sign_up(owner.open("/register"))
    assert waiting.press("Verify", code=code_in(texts(world)[-1])).address.endswith("/profile")
    assert "Wrong or expired code" in attacker.press("Verify", code="123456").text


def test_texted_code_resets_the_password(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(
        limits=FREE, phone_login=True, email_login=False, default_country="GB", login_on_password_reset=True
    )
    shop, visitor = world.application("shop"), new_visitor_at(world)
    sign_up(visitor.open("/register")).press("Verify", code=code_in(texts(world)[-1]))
    other = new_visitor_at(world)
    sent = other.authorize(shop).follow("Forgot password?").press("Send code", identifier=TYPED)
    assert (sent.status, sent.heading) == (200, "Check your phone")
    new = sent.press("Verify", code=code_in(texts(world)[-1]))
    assert new.heading == "Choose a new password"
    callback = new.press("Save password", password="Amber-window-77")
    assert callback.address.startswith(shop.redirect_uri)
