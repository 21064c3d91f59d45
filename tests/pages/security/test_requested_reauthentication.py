"""Reauthentication of a signed-in account, requested by an application: `prompt=login` and `max_age`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, mails_to
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.journeys.account_security import authentication_claims, one_factor_session
from tests.support.journeys.passkeys import sign_in_and_add_passkey
from tests.support.journeys.second_factors import APP_ALONE, code_now
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = [
    pytest.mark.parametrize("services", ["sqlite"], indirect=True),  # tests/api covers both databases
]
ALL_METHODS = {"passwordless_email": True, "passkeys": True, "passkey_settings": {"progressive_enrollment": False}}
REAUTHENTICATION_HEADING = "Confirm it’s you"


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(**ALL_METHODS)


@pytest.fixture
def visitor(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    browser: Visitor = new_visitor_at(tenant)
    return browser


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


@pytest.fixture
def shop(tenant: World) -> RelyingParty:
    return tenant.application("shop", client_name="Acme Shop")


def signed_in(visitor: Visitor, tenant: World, ada: Person) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    pass_time(tenant.services, minutes=10)


def claims(shop: RelyingParty, answer: VisitedPage) -> dict[str, Any]:
    return claims_in((shop.redeem(answer.query["code"]).json or {})["id_token"])


@pytest.mark.parametrize("parameters", [{"prompt": "login"}, {"max_age": "60"}])
def test_reauthentication_names_account_and_keeps_session(
    tenant: World, visitor: Visitor, ada: Person, shop: RelyingParty, parameters: dict[str, str]
) -> None:
    signed_in(visitor, tenant, ada)
    before, earlier = visitor.session_cookie(), claims(shop, visitor.authorize(shop))
    page = visitor.authorize(shop, **parameters)
    assert page.heading == REAUTHENTICATION_HEADING
    assert ada.email in page.text
    assert "Create account" not in page.text
    wrong = page.press("Continue", password="wrong")
    assert (wrong.status, wrong.heading) == (401, REAUTHENTICATION_HEADING)
    assert ada.email in wrong.text
    now = int(tenant.services.clock.now().timestamp())
    after = claims(shop, page.press("Continue", password=ada.password))
    assert after["auth_time"] >= now > earlier["auth_time"]
    assert after["sid"] == earlier["sid"]
    assert visitor.session_cookie() != before
    assert visitor.authorize(shop, max_age="60").query["code"]
    pass_time(tenant.services, minutes=2)
    assert visitor.authorize(shop, **parameters).heading == REAUTHENTICATION_HEADING
    assert visitor.authorize(shop, max_age="60", prompt="none").query["error"] == "login_required"


def test_old_cookie_is_refused_after_reauthentication(
    tenant: World, visitor: Visitor, ada: Person, shop: RelyingParty, new_visitor_at: NewVisitorAt
) -> None:
    signed_in(visitor, tenant, ada)
    old_cookie = visitor.session_cookie()
    page = visitor.authorize(shop, prompt="login")
    page.press("Continue", password=ada.password)
    attacker = new_visitor_at(tenant)
    attacker.set_session_cookie(old_cookie)
    assert attacker.open("/security").is_sign_in
    assert page.press("Continue", password=ada.password).query["code"], "the second submit gets the same answer"


def test_reauthentication_page_offers_another_account(
    tenant: World, visitor: Visitor, ada: Person, shop: RelyingParty
) -> None:
    grace = tenant.person("grace@example.com")
    signed_in(visitor, tenant, ada)
    page = visitor.authorize(shop, prompt="login", login_hint=ada.email).press("Not you? Use another account")
    assert page.is_sign_in
    assert ada.email not in page.html
    answer = page.press("Sign in", identifier=grace.email, password=grace.password)
    assert claims(shop, answer)["sub"] == grace.uid


@pytest.mark.parametrize("hint", ["login_hint", "id_token_hint"])
def test_hint_for_another_account_hides_current_one(
    tenant: World, visitor: Visitor, ada: Person, shop: RelyingParty, new_visitor_at: NewVisitorAt, hint: str
) -> None:
    grace = tenant.person("grace@example.com")
    answer = new_visitor_at(tenant).authorize(shop).press("Sign in", identifier=grace.email, password=grace.password)
    token = (shop.redeem(answer.query["code"]).json or {})["id_token"]
    signed_in(visitor, tenant, ada)
    meant = {"login_hint": grace.email, "id_token_hint": token}[hint]
    page = visitor.authorize(shop, prompt="login", **{hint: meant})
    assert page.is_sign_in
    assert ada.email not in page.html
    assert page.press("Sign in", identifier=grace.email, password=grace.password).query["code"]


def test_reauthentication_with_ended_session_names_no_account(
    tenant: World, visitor: Visitor, ada: Person, shop: RelyingParty
) -> None:
    signed_in(visitor, tenant, ada)
    page = visitor.authorize(shop, prompt="login")
    visitor.set_session_cookie("another browser's")
    for shown in (visitor.open(page.address), page.press("Continue", password="wrong")):
        assert shown.is_sign_in
    shown = visitor.open(page.address)
    assert ada.email not in shown.html
    assert shown.press("Sign in", identifier=ada.email, password=ada.password).query["code"]


def test_reauthentication_asks_factor_in_trusted_browser(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(two_factor="optional", second_factors={**APP_ALONE, "trusted_browser_days": 30})
    visitor: Visitor = new_visitor_at(tenant)
    ada, shop = tenant.person("ada@example.com"), tenant.application("shop")
    app = one_factor_session(visitor, tenant, ada)
    visitor.forget("session")
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    page.press("Verify", code=code_now(tenant, app), trust="y")
    pass_time(tenant.services, minutes=10)
    page = visitor.authorize(shop, prompt="login").press("Continue", password=ada.password)
    assert page.heading == "Two-step verification"
    assert visitor.authorize(shop).query["code"], "the session stays valid meanwhile"
    token_claims = authentication_claims(shop, page.press("Verify", code=code_now(tenant, app)))
    assert token_claims["amr"] == ["pwd", "otp", "mfa"]
    assert abs(token_claims["auth_time"] - int(tenant.services.clock.now().timestamp())) <= 1


def test_passkey_or_mail_reauthenticates_without_password(
    tenant: World, visitor: Visitor, ada: Person, shop: RelyingParty
) -> None:
    device = Authenticator(visitor.home)
    sign_in_and_add_passkey(visitor, ada, device)
    pass_time(tenant.services, minutes=10)
    ada.set_columns(password_hash=None)
    page = visitor.authorize(shop, prompt="login")
    assert "Forgot password?" not in page.text
    requested = dict(page.form("Use a passkey").fields)
    refused = page.press("Use a passkey", credential="")
    assert (refused.status, refused.heading) == (422, REAUTHENTICATION_HEADING)
    values = visitor.send("POST", f"{visitor.home}/login/passkey/options", requested)
    shown = device.shows(json.loads(values.html), device.passkeys[0])
    assert claims(shop, page.press("Use a passkey", credential=json.dumps(shown)))["amr"] == ["swk", "mfa"]
    tenant.delete_passkeys()
    pass_time(tenant.services, minutes=10)
    mail = visitor.authorize(shop, prompt="login").follow("Get an email link")
    assert mail.form("Email me a link").fields["identifier"] == ada.email
    sent = mail.press("Email me a link")
    code = code_in(mails_to(tenant.services, tenant.tenant_id, ada.email)[-1])
    assert claims(shop, sent.press("Sign in", code=code))["amr"] == ["otp"]


def test_account_without_methods_is_sent_to_set_password(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world()
    visitor: Visitor = new_visitor_at(tenant)
    ada, shop = tenant.person("ada@example.com"), tenant.application("shop")
    signed_in(visitor, tenant, ada)
    ada.set_columns(password_hash=None)
    page = visitor.authorize(shop, prompt="login")
    assert ">Continue<" not in page.html
    forgotten = page.follow("Set password")
    assert forgotten.form("Send reset link").fields["identifier"] == ada.email


def test_reauthentication_works_at_session_limit(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(session_limit=1)
    visitor: Visitor = new_visitor_at(tenant)
    ada, shop = tenant.person("ada@example.com"), tenant.application("shop")
    signed_in(visitor, tenant, ada)
    assert visitor.authorize(shop, prompt="login").press("Continue", password=ada.password).query["code"]
