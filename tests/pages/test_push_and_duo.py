"""Approval on another device, and Duo, between the password and the shop."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.pages.test_own_factors import signed_in
from tests.pages.test_second_factor import signs_in
from tests.support.devices import AWS_KEY, PUSH, Phone, drawn, keeps, server_of
from tests.support.duo import DUO, SECRET, FakeDuo, duo
from tests.support.oauth_world import NewWorld, World
from tests.support.tenant_server import answered
from tests.support.visitor import NewVisitorAt, Seen, Visitor

ALONE = {"totp": False, "email": False, "passkey": False}
ONE_STORE = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
pytestmark = ONE_STORE


@pytest.fixture
def there(new_world: NewWorld, identity_app: Any) -> World:
    world = new_world(two_factor="required", push=PUSH, second_factors={**ALONE, "push": True})
    keeps(server_of(world, identity_app), push=AWS_KEY)
    return world


@pytest.fixture
def phone(there: World, identity_app: Any) -> Phone:
    return Phone(server_of(there, identity_app))


def test_a_device_is_enrolled_on_the_way_and_asked_from_then_on(
    there: World, phone: Phone, new_visitor_at: NewVisitorAt
) -> None:
    ada = there.person("ada@example.com")
    visitor: Visitor = new_visitor_at(there)
    page = signs_in(visitor, there, ada)
    assert "Scan this picture with the app" in page.text
    waiting = page.press("Check now")
    assert (waiting.status, "No answer yet" in waiting.text) == (403, True)
    answered(phone.scans(drawn(there)))
    seen = visitor.open(page.address)
    assert "Answer the request there" in seen.text
    poll = html.unescape(re.findall(r'data-poll="([^"]+)"', seen.html)[0])
    assert visitor.open(poll).html == "waits"
    answered(phone.says("Yes"))
    assert visitor.open(poll).html == "answered"
    paper = seen.press("Check now")
    assert paper.heading == "Backup codes"

    there.services.clock.advance(seconds=31)
    other: Visitor = new_visitor_at(there)
    asked = signs_in(other, there, ada)
    number = re.findall(r'class="number"[^>]*>(\d\d)<', asked.html)[0]
    choices = phone.asked()[-1]["numbers"].split(",")
    assert number in choices
    assert len(set(choices)) == 3
    wrong = next(one for one in choices if one != number)
    assert phone.says("Yes", number=wrong).status_code == 403
    refused = asked.press("Check now")
    assert "That was not the right number" in refused.text
    there.services.clock.advance(seconds=31)
    again = refused.press("Ask my device")
    right = re.findall(r'class="number"[^>]*>(\d\d)<', again.html)[0]
    answered(phone.says("Yes", number=right))
    assert again.press("Check now").query["code"]


def test_a_denied_request_is_said_and_another_is_asked_for(
    there: World, phone: Phone, new_visitor_at: NewVisitorAt
) -> None:
    ada = there.person("ada@example.com")
    visitor: Visitor = new_visitor_at(there)
    page = signs_in(visitor, there, ada)
    answered(phone.scans(drawn(there)))
    seen = visitor.open(page.address)
    answered(phone.says("No"))
    denied = seen.press("Check now")
    assert "The request was denied" in denied.text


@pytest.fixture
def elsewhere(there_duo: World) -> Iterator[FakeDuo]:
    with duo(there_duo.services) as running:
        yield running


@pytest.fixture
def there_duo(new_world: NewWorld, identity_app: Any) -> World:
    world = new_world(two_factor="required", duo=DUO, second_factors={**ALONE, "duo": True})
    keeps(server_of(world, identity_app), duo={"client_secret": SECRET})
    return world


def test_the_browser_is_led_to_duo_and_back_to_the_shop(
    there_duo: World, elsewhere: FakeDuo, new_visitor_at: NewVisitorAt
) -> None:
    ada = there_duo.person("ada@example.com")
    visitor: Visitor = new_visitor_at(there_duo)
    page = signs_in(visitor, there_duo, ada)
    led = page.press("Continue to Duo")
    back = elsewhere.back(led.address)
    paper = visitor.open(back)
    assert paper.heading == "Backup codes"
    other: Visitor = new_visitor_at(there_duo)
    asked = signs_in(other, there_duo, ada)
    denied = other.open(elsewhere.back(asked.press("Continue to Duo").address, auth_result={"result": "deny"}))
    assert "Duo did not confirm it" in denied.text
    led = denied.press("Continue to Duo")
    assert other.open(elsewhere.back(led.address)).query["code"]


def test_what_duo_gave_another_browser_opens_nothing_here(
    there_duo: World, elsewhere: FakeDuo, new_visitor_at: NewVisitorAt
) -> None:
    ada = there_duo.person("ada@example.com")
    mine: Visitor = new_visitor_at(there_duo)
    back = elsewhere.back(signs_in(mine, there_duo, ada).press("Continue to Duo").address)
    thief: Visitor = new_visitor_at(there_duo)
    assert thief.open(back).heading != "Backup codes"
    assert mine.open(back).heading == "Backup codes"


def test_whoever_is_signed_in_adds_duo_and_nobody_elses(
    there_duo: World, elsewhere: FakeDuo, new_visitor_at: NewVisitorAt
) -> None:
    there_duo.restate(two_factor="optional")
    people = [there_duo.person(f"{name}@example.com") for name in ("ada", "eve")]
    ada, eve = (new_visitor_at(there_duo) for _ in people)
    listed = [signed_in(visitor, who) for visitor, who in zip((ada, eve), people, strict=True)]
    assert " https:" in csp_of(listed[0]), "browsers hold the policy against redirects, too"
    led = listed[0].press("Duo")
    assert "Duo did not confirm it" in eve.open(elsewhere.back(led.address)).text
    denied = ada.open(elsewhere.back(listed[0].press("Duo").address, auth_result={"result": "deny"}))
    assert (denied.status, "Duo did not confirm it" in denied.text) == (403, True)
    back = elsewhere.back(denied.press("Continue to Duo").address)
    assert ada.open(back).heading == "Backup codes"
    assert "since " in ada.open("/second-factors").text
    assert "Set one up" in eve.open("/second-factors").text
    other: Visitor = new_visitor_at(there_duo)
    asked = signs_in(other, there_duo, people[0])
    assert other.open(elsewhere.back(asked.press("Continue to Duo").address)).query["code"]


def csp_of(page: Seen) -> str:
    answer = page.answer
    return answer.headers["Content-Security-Policy"].partition("form-action")[2] if answer else ""
