"""Push approval and Duo as second factors at sign-in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.credentials.devices import (
    AWS_KEY,
    PUSH,
    Phone,
    pairing_address,
    store_service_secrets,
    tenant_server_of,
)
from tests.support.fakes.duo import DUO, SECRET, FakeDuo, duo
from tests.support.journeys.account_security import signed_in
from tests.support.journeys.second_factors import sign_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ALONE = {"totp": False, "email": False, "passkey": False}
ONE_DATABASE = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
pytestmark = ONE_DATABASE


@pytest.fixture
def tenant(new_world: NewWorld, identity_app: Any) -> World:
    world = new_world(two_factor="required", push=PUSH, second_factors={**ALONE, "push": True})
    store_service_secrets(tenant_server_of(world, identity_app), push=AWS_KEY)
    return world


@pytest.fixture
def phone(tenant: World, identity_app: Any) -> Phone:
    return Phone(tenant_server_of(tenant, identity_app))


def test_device_is_enrolled_at_sign_in_and_then_asked(
    tenant: World, phone: Phone, new_visitor_at: NewVisitorAt
) -> None:
    ada = tenant.person("ada@example.com")
    visitor: Visitor = new_visitor_at(tenant)
    page = sign_in(visitor, tenant, ada)
    assert "Scan this code with the" in page.text
    waiting = page.press("Check now")
    assert (waiting.status, "No answer yet" in waiting.text) == (403, True)
    answered(phone.scan(pairing_address(tenant)))
    page_after = visitor.open(page.address)
    assert f"We sent a request to {phone.name}" in page_after.text
    poll = html.unescape(re.findall(r'data-poll="([^"]+)"', page_after.html)[0])
    assert visitor.open(poll).html == "waits"
    answered(phone.respond("Yes"))
    assert visitor.open(poll).html == "answered"
    codes_page = page_after.press("Check now")
    assert codes_page.heading == "Save your backup codes"

    pass_time(tenant.services, seconds=31)
    other: Visitor = new_visitor_at(tenant)
    challenge = sign_in(other, tenant, ada)
    number = re.findall(r'class="number"[^>]*>(\d\d)<', challenge.html)[0]
    choices = phone.received_messages()[-1]["numbers"].split(",")
    assert number in choices
    assert len(set(choices)) == 3
    wrong = next(choice for choice in choices if choice != number)
    assert phone.respond("Yes", number=wrong).status_code == 403
    refused = challenge.press("Check now")
    assert "Wrong number" in refused.text
    pass_time(tenant.services, seconds=31)
    again = refused.press("Send request")
    right_number = re.findall(r'class="number"[^>]*>(\d\d)<', again.html)[0]
    answered(phone.respond("Yes", number=right_number))
    assert again.press("Check now").query["code"]


def test_denied_push_request_is_reported(tenant: World, phone: Phone, new_visitor_at: NewVisitorAt) -> None:
    ada = tenant.person("ada@example.com")
    visitor: Visitor = new_visitor_at(tenant)
    page = sign_in(visitor, tenant, ada)
    answered(phone.scan(pairing_address(tenant)))
    page_after = visitor.open(page.address)
    answered(phone.respond("No"))
    denied = page_after.press("Check now")
    assert "Request denied" in denied.text


@pytest.fixture
def fake_duo(duo_world: World) -> Iterator[FakeDuo]:
    with duo(duo_world.services) as running:
        yield running


@pytest.fixture
def duo_world(new_world: NewWorld, identity_app: Any) -> World:
    world = new_world(two_factor="required", duo=DUO, second_factors={**ALONE, "duo": True})
    store_service_secrets(tenant_server_of(world, identity_app), duo={"client_secret": SECRET})
    return world


def test_duo_redirect_completes_sign_in(duo_world: World, fake_duo: FakeDuo, new_visitor_at: NewVisitorAt) -> None:
    ada = duo_world.person("ada@example.com")
    visitor: Visitor = new_visitor_at(duo_world)
    page = sign_in(visitor, duo_world, ada)
    redirected = page.press("Continue to Duo")
    callback_url = fake_duo.back(redirected.address)
    codes_page = visitor.open(callback_url)
    assert codes_page.heading == "Save your backup codes"
    other: Visitor = new_visitor_at(duo_world)
    challenge = sign_in(other, duo_world, ada)
    denied = other.open(fake_duo.back(challenge.press("Continue to Duo").address, auth_result={"result": "deny"}))
    assert "Duo didn’t approve the sign-in" in denied.text
    redirected = denied.press("Continue to Duo")
    assert other.open(fake_duo.back(redirected.address)).query["code"]


def test_duo_callback_in_another_browser_is_refused(
    duo_world: World, fake_duo: FakeDuo, new_visitor_at: NewVisitorAt
) -> None:
    ada = duo_world.person("ada@example.com")
    owner: Visitor = new_visitor_at(duo_world)
    callback_url = fake_duo.back(sign_in(owner, duo_world, ada).press("Continue to Duo").address)
    attacker: Visitor = new_visitor_at(duo_world)
    assert attacker.open(callback_url).heading != "Save your backup codes"
    assert owner.open(callback_url).heading == "Save your backup codes"


def test_duo_is_added_only_to_the_own_account(
    duo_world: World, fake_duo: FakeDuo, new_visitor_at: NewVisitorAt
) -> None:
    duo_world.change_settings(two_factor="optional")
    people = [duo_world.person(f"{name}@example.com") for name in ("ada", "eve")]
    ada, eve = (new_visitor_at(duo_world) for _ in people)
    listed = [signed_in(visitor, who) for visitor, who in zip((ada, eve), people, strict=True)]
    assert " https:" in csp_of(listed[0]), "browsers apply form-action to redirects, too"
    redirected = listed[0].press("Duo")
    assert "Duo didn’t approve the sign-in" in eve.open(fake_duo.back(redirected.address)).text
    denied = ada.open(fake_duo.back(listed[0].press("Duo").address, auth_result={"result": "deny"}))
    assert (denied.status, "Duo didn’t approve the sign-in" in denied.text) == (403, True)
    callback_url = fake_duo.back(denied.press("Continue to Duo").address)
    assert ada.open(callback_url).heading == "Save your backup codes"
    assert "Added " in ada.open("/second-factors").text
    assert "Set up" in eve.open("/second-factors").text
    other: Visitor = new_visitor_at(duo_world)
    challenge = sign_in(other, duo_world, people[0])
    assert other.open(fake_duo.back(challenge.press("Continue to Duo").address)).query["code"]


def csp_of(page: VisitedPage) -> str:
    answer = page.answer
    return answer.headers["Content-Security-Policy"].partition("form-action")[2] if answer else ""
