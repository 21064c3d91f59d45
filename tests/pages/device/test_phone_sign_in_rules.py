"""What a browser gets whose QR code a phone approved: no more than the phone has, under the browser's own rules (decision 0241)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from app.identity.authentication.sign_in.tables import sessions
from tests.support.accounts.risky_sign_ins import CHROME
from tests.support.journeys.second_factors import close_browser, code_now, enrol_totp, sign_in
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.relying_party import Person, claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.phone_sign_in import approved, newest_session, path_on, rows, shown, signed_in
from tests.support.visitors.visitor import NewVisitorAt, Visitor

FREE = {"sign_in_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(qr_sign_on=True, limits=FREE)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def desktop(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def phone(world: World, new_visitor_at: NewVisitorAt, ada: Person) -> Visitor:
    """A browser that is signed in."""
    return signed_in(new_visitor_at(world), ada)


def test_session_is_no_more_than_the_phones(world: World, desktop: Visitor, phone: Visitor) -> None:
    before = newest_session(world)
    pass_time(world.services, minutes=40)
    page = shown(desktop)
    approved(phone, page)
    page.press("Continue")
    taken = newest_session(world)
    assert taken.session_id != before.session_id
    authenticated_at = before.authenticated_at.replace(microsecond=0)
    assert (taken.authenticated_at, taken.methods) == (authenticated_at, before.methods)
    assert taken.expires_at <= before.expires_at
    assert not taken.is_remembered


def test_claims_have_the_phones_time_of_authentication(world: World, desktop: Visitor, phone: Visitor) -> None:
    shop = world.application("shop")
    at = int(newest_session(world).authenticated_at.timestamp())
    pass_time(world.services, minutes=30)
    page = desktop.authorize(shop).follow("Sign in with your phone")
    approved(phone, page)
    answer = shop.redeem(page.press("Continue").query["code"]).json or {}
    claims = claims_in(answer["id_token"])
    assert (claims["auth_time"], claims["amr"]) == (at, ["pwd"])
    assert claims.get("acr") != "2"


@pytest.mark.parametrize("parameters", [{"prompt": "login"}, {"max_age": "60"}], ids=["prompt=login", "max_age"])
def test_application_that_asks_for_a_new_sign_in_gets_one(
    world: World, desktop: Visitor, phone: Visitor, ada: Person, parameters: dict[str, str]
) -> None:
    shop = world.application("shop")
    pass_time(world.services, minutes=30)
    page = desktop.authorize(shop, **parameters).follow("Sign in with your phone")
    approved(phone, page)
    again = page.press("Continue")
    assert again.heading == "Confirm it’s you"
    assert again.press("Continue", password=ada.password).query["code"]


def with_totp(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> tuple[World, Person, Any, Visitor]:
    """Return a tenant that requires two steps, a person, their authenticator app, and their phone, signed in by both."""
    tenant = new_world(qr_sign_on=True, two_factor="required", second_factors={"email": False, "passkey": False})
    person, phone = tenant.person("ada@example.com"), new_visitor_at(tenant)
    app, _ = enrol_totp(phone, tenant, person)
    later(tenant, seconds=30)
    return tenant, person, app, phone


def later(world: World, **by: float) -> None:
    pass_time(world.services, **by)


def test_second_factor_of_the_phone_counts(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant, _, _, phone = with_totp(new_world, new_visitor_at)
    shop = tenant.application("shop")
    page = new_visitor_at(tenant).authorize(shop).follow("Sign in with your phone")
    approved(phone, page)
    answer = shop.redeem(page.press("Continue").query["code"]).json or {}
    claims = claims_in(answer["id_token"])
    assert ("mfa" in claims["amr"], claims["acr"]) == (True, "2")


def test_second_factor_is_asked_if_the_phone_was_not(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """The phone was trusted, so its session passed the password alone. The time of authentication stays the phone's."""
    tenant, person, app, phone = with_totp(new_world, new_visitor_at)
    close_browser(phone)
    sign_in(phone, tenant, person).press("Verify", code=code_now(tenant, app), trust="y")
    close_browser(phone)
    assert sign_in(phone, tenant, person).query["code"]
    trusted = newest_session(tenant)
    assert trusted.methods == ["pwd"]
    later(tenant, minutes=30)
    page = shown(new_visitor_at(tenant))
    approved(phone, page)
    shown_page = page.press("Continue")
    assert shown_page.heading == "Two-step verification"
    assert shown_page.press("Verify", code=code_now(tenant, app)).address.endswith("/profile")
    taken = newest_session(tenant)
    assert {"pwd", "mfa"} <= set(taken.methods)
    assert taken.authenticated_at == trusted.authenticated_at.replace(microsecond=0)
    assert taken.expires_at <= trusted.expires_at


def test_no_factor_is_enrolled_by_an_approval(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True)
    ada = tenant.person("ada@example.com")
    phone, page = signed_in(new_visitor_at(tenant), ada), shown(new_visitor_at(tenant))
    approved(phone, page)
    tenant.change_settings(two_factor="required")
    login = page.press("Continue")
    assert (login.is_sign_in, "Your account needs one more step" in login.text) == (True, True)
    assert len(rows(tenant, sessions.c.session_id)) == 1


def test_new_origin_demands_a_factor_whatever_the_phone_passed(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    tenant, _, app, phone = with_totp(new_world, new_visitor_at)
    tenant.change_settings(risk={"browser": "demand"})
    person = tenant.person("bob@example.com")
    phone = new_visitor_at(tenant)
    app, _ = enrol_totp(phone, tenant, person)
    later(tenant, seconds=30)
    desktop = new_visitor_at(tenant)
    desktop.agent = CHROME
    page = shown(desktop)
    approved(phone, page)
    shown_page = page.press("Continue")
    assert "You haven’t signed in from here before." in shown_page.text
    assert shown_page.press("Verify", code=code_now(tenant, app)).address.endswith("/profile")


def test_refused_origin_is_refused(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True, risk={"browser": "refuse"})
    phone = signed_in(new_visitor_at(tenant), tenant.person("ada@example.com"))
    desktop = new_visitor_at(tenant)
    desktop.agent = CHROME
    page = shown(desktop)
    approved(phone, page)
    assert page.press("Continue").status == 403
    assert len(rows(tenant, sessions.c.session_id)) == 1


@pytest.mark.both_databases
def test_expired_password_is_typed_where_it_is_replaced(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True, password_policy={"expiry_days": 30})
    ada = tenant.person("ada@example.com")
    tenant.set_password_age(ada, days=1)
    phone, page = signed_in(new_visitor_at(tenant), ada), shown(new_visitor_at(tenant))
    tenant.set_password_age(ada, days=40)
    approved(phone, page)
    assert "Your account needs one more step" in page.press("Continue").text
    assert len(rows(tenant, sessions.c.session_id)) == 1


@pytest.mark.both_databases
def test_session_limit_counts(world: World, desktop: Visitor, phone: Visitor, ada: Person) -> None:
    page = shown(desktop)
    approved(phone, page)
    ada.set_columns(session_limit=1)
    refused = page.press("Continue")
    assert refused.status >= 400
    assert len(rows(world, sessions.c.session_id)) == 1


def test_passkey_is_not_offered_after_an_approval(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True, passkeys=True, passkey_settings={"progressive_enrollment": True})
    ada, phone = tenant.person("ada@example.com"), new_visitor_at(tenant)
    shop = tenant.application("shop")
    offered = phone.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    assert urlsplit(offered.address).path == "/passkeys/offer", "a sign-in by password offers one"
    page = new_visitor_at(tenant).authorize(shop).follow("Sign in with your phone")
    approved(phone, page)
    assert page.press("Continue").query["code"]


def test_browser_is_not_trusted_after_an_approval(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """Nothing lasting begins there: the next sign-in asks for the second factor again."""
    tenant, person, app, phone = with_totp(new_world, new_visitor_at)
    close_browser(phone)
    sign_in(phone, tenant, person).press("Verify", code=code_now(tenant, app), trust="y")
    close_browser(phone)
    sign_in(phone, tenant, person)
    later(tenant, minutes=1)
    desktop = new_visitor_at(tenant)
    page = shown(desktop)
    approved(phone, page)
    shown_page = page.press("Continue")
    assert 'name="trust"' not in shown_page.html
    shown_page.press("Verify", code=code_now(tenant, app), trust="y")
    close_browser(desktop)
    assert sign_in(desktop, tenant, person).heading == "Two-step verification"


def test_one_more_account_signs_in_by_a_phone(
    world: World,
    desktop: Visitor,
    phone: Visitor,
) -> None:
    """Its session is older than the wish for one more account, and still answers it."""
    grace, shop = world.person("grace@example.com"), world.application("shop")
    signed_in(desktop, grace)
    later(world, minutes=30)
    page = desktop.authorize(shop, prompt="select_account").press("Use another account")
    page = page.follow("Sign in with your phone")
    approved(phone, page)
    claims = claims_in((shop.redeem(page.press("Continue").query["code"]).json or {})["id_token"])
    assert claims["sub"] == newest_session(world).uid != grace.uid


def test_question_names_no_self_registered_application(world: World, desktop: Visitor, phone: Visitor) -> None:
    """An attacker chooses its name."""
    world.change_settings(client_registration={"mode": "open"})
    registrar = Registrar(world)
    page = desktop.authorize(registrar.relying_party(registrar.registered(client_name="Hotel Wi-Fi")))
    page = page.follow("Sign in with your phone")
    shown_page = phone.open(path_on(page))
    assert shown_page.heading == "Sign in on the other device?"
    assert "Hotel" not in shown_page.html
