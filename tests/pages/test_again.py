"""An application asks for a fresh proof of somebody who is signed in: `prompt=login`, `max_age`, and our own /confirm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.pages.test_confirm import one_factor_session, told
from tests.pages.test_passkeys import has_passkey
from tests.pages.test_second_factor import APP_ALONE, shows
from tests.support.authenticator import Authenticator
from tests.support.mailbox import code_in, mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person, RelyingParty, claims_in
from tests.support.visitor import Seen, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # the store is asked in tests/api
EVERY_WAY = {"passwordless_email": True, "passkeys": True, "passkey_settings": {"progressive_enrollment": False}}
ASKED = "Is it still you?"


@pytest.fixture
def there(new_world: NewWorld) -> World:
    return new_world(**EVERY_WAY)


@pytest.fixture
def visitor(there: World, new_visitor_at: Any) -> Visitor:
    someone: Visitor = new_visitor_at(there)
    return someone


@pytest.fixture
def ada(there: World) -> Person:
    return there.person("ada@example.com")


@pytest.fixture
def shop(there: World) -> RelyingParty:
    return there.application("shop", client_name="Acme Shop")


def signed_in(visitor: Visitor, there: World, ada: Person) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    there.services.clock.advance(minutes=10)


def claims(shop: RelyingParty, answer: Seen) -> dict[str, Any]:
    return claims_in((shop.redeem(answer.query["code"]).json or {})["id_token"])


@pytest.mark.parametrize("wish", [{"prompt": "login"}, {"max_age": "60"}])
def test_whoever_is_signed_in_is_named_and_goes_on_in_the_same_session(
    there: World, visitor: Visitor, ada: Person, shop: RelyingParty, wish: dict[str, str]
) -> None:
    signed_in(visitor, there, ada)
    before, known = visitor.session_cookie(), claims(shop, visitor.asked_by(shop))
    page = visitor.asked_by(shop, **wish)
    assert page.heading == ASKED
    assert ada.email in page.text
    assert "Create an account" not in page.text
    wrong = page.press("Continue", password="wrong")
    assert (wrong.status, wrong.heading) == (401, ASKED)
    assert ada.email in wrong.text
    now = int(there.services.clock.now().timestamp())
    after = claims(shop, page.press("Continue", password=ada.password))
    assert after["auth_time"] >= now > known["auth_time"]
    assert after["sid"] == known["sid"]
    assert visitor.session_cookie() != before
    assert visitor.asked_by(shop, max_age="60").query["code"]
    there.services.clock.advance(minutes=2)
    assert visitor.asked_by(shop, **wish).heading == ASKED
    assert visitor.asked_by(shop, max_age="60", prompt="none").query["error"] == "login_required"


def test_the_old_cookie_opens_nothing_from_then_on(
    there: World, visitor: Visitor, ada: Person, shop: RelyingParty, new_visitor_at: Any
) -> None:
    signed_in(visitor, there, ada)
    stolen = visitor.session_cookie()
    page = visitor.asked_by(shop, prompt="login")
    page.press("Continue", password=ada.password)
    thief = new_visitor_at(there)
    thief.take_cookie(stolen)
    assert thief.open("/security").heading == "Welcome back"
    assert page.press("Continue", password=ada.password).query["code"], "a second click is answered as the first was"


def test_another_account_is_a_click_away(there: World, visitor: Visitor, ada: Person, shop: RelyingParty) -> None:
    grace = there.person("grace@example.com")
    signed_in(visitor, there, ada)
    page = visitor.asked_by(shop, prompt="login", login_hint=ada.email).press("Not you? Use another account")
    assert page.heading == "Welcome back"
    assert ada.email not in page.html
    answer = page.press("Sign in", identifier=grace.email, password=grace.password)
    assert claims(shop, answer)["sub"] == grace.uid


@pytest.mark.parametrize("hint", ["login_hint", "id_token_hint"])
def test_nobody_is_named_where_somebody_else_is_meant(
    there: World, visitor: Visitor, ada: Person, shop: RelyingParty, new_visitor_at: Any, hint: str
) -> None:
    grace = there.person("grace@example.com")
    answer = new_visitor_at(there).asked_by(shop).press("Sign in", identifier=grace.email, password=grace.password)
    token = (shop.redeem(answer.query["code"]).json or {})["id_token"]
    signed_in(visitor, there, ada)
    meant = {"login_hint": grace.email, "id_token_hint": token}[hint]
    page = visitor.asked_by(shop, prompt="login", **{hint: meant})
    assert page.heading == "Welcome back"
    assert ada.email not in page.html
    assert page.press("Sign in", identifier=grace.email, password=grace.password).query["code"]


def test_a_cookie_that_names_nobody_any_more_names_nobody(
    there: World, visitor: Visitor, ada: Person, shop: RelyingParty
) -> None:
    signed_in(visitor, there, ada)
    page = visitor.asked_by(shop, prompt="login")
    visitor.take_cookie("nobody's")
    for seen in (visitor.open(page.address), page.press("Continue", password="wrong")):
        assert seen.heading == "Welcome back"
    seen = visitor.open(page.address)
    assert ada.email not in seen.html
    assert seen.press("Sign in", identifier=ada.email, password=ada.password).query["code"]


def test_a_second_factor_follows_though_the_browser_is_trusted(new_world: NewWorld, new_visitor_at: Any) -> None:
    there = new_world(two_factor="optional", second_factors={**APP_ALONE, "trusted_browser_days": 30})
    visitor: Visitor = new_visitor_at(there)
    ada, shop = there.person("ada@example.com"), there.application("shop")
    app = one_factor_session(visitor, there, ada)
    visitor.forget("session")
    page = visitor.asked_by(shop).press("Sign in", identifier=ada.email, password=ada.password)
    page.press("Continue", code=shows(there, app), trust="y")
    there.services.clock.advance(minutes=10)
    page = visitor.asked_by(shop, prompt="login").press("Continue", password=ada.password)
    assert page.heading == "Is it you?"
    assert visitor.asked_by(shop).query["code"], "the session goes on meanwhile"
    said = told(shop, page.press("Continue", code=shows(there, app)))
    assert said["amr"] == ["pwd", "otp", "mfa"]
    assert abs(said["auth_time"] - int(there.services.clock.now().timestamp())) <= 1


def test_a_passkey_answers_it_and_so_does_a_mail(
    there: World, visitor: Visitor, ada: Person, shop: RelyingParty
) -> None:
    device = Authenticator(visitor.home)
    has_passkey(visitor, ada, device)
    there.services.clock.advance(minutes=10)
    ada.lives(password_hash=None)
    page = visitor.asked_by(shop, prompt="login")
    assert "Forgot it?" not in page.text
    asked = dict(page.form("Use a passkey").fields)
    refused = page.press("Use a passkey", credential="")
    assert (refused.status, refused.heading) == (422, ASKED)
    given = visitor.send("POST", f"{visitor.home}/login/passkey/options", asked)
    shown = device.shows(json.loads(given.html), device.passkeys[0])
    assert claims(shop, page.press("Use a passkey", credential=json.dumps(shown)))["amr"] == ["swk", "mfa"]
    there.forgets_passkeys()
    there.services.clock.advance(minutes=10)
    mail = visitor.asked_by(shop, prompt="login").follow("Email me a link No password needed")
    assert mail.form("Email me a link").fields["identifier"] == ada.email
    sent = mail.press("Email me a link")
    code = code_in(mails_to(there.services, there.tenant_id, ada.email)[-1])
    assert claims(shop, sent.press("Sign in", code=code))["amr"] == ["otp"]


def test_whoever_has_nothing_here_sets_a_password(new_world: NewWorld, new_visitor_at: Any) -> None:
    there = new_world()
    visitor: Visitor = new_visitor_at(there)
    ada, shop = there.person("ada@example.com"), there.application("shop")
    signed_in(visitor, there, ada)
    ada.lives(password_hash=None)
    page = visitor.asked_by(shop, prompt="login")
    assert ">Continue<" not in page.html
    forgotten = page.follow("Set a password")
    assert forgotten.form("Send it").fields["identifier"] == ada.email


def test_the_only_session_that_an_account_may_have_is_no_hindrance(new_world: NewWorld, new_visitor_at: Any) -> None:
    there = new_world(session_limit=1)
    visitor: Visitor = new_visitor_at(there)
    ada, shop = there.person("ada@example.com"), there.application("shop")
    signed_in(visitor, there, ada)
    assert visitor.asked_by(shop, prompt="login").press("Continue", password=ada.password).query["code"]
