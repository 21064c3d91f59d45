"""A tenant whose sign-in page asks for the identifier first, and for the password on a second step."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # the database plays no part
STEP_TWO = "Enter your password"
NO_OFFER = {"progressive_enrollment": False}
WRONG = "Wrong-kettle-91"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(
        identifier_first=True, passwordless_email=True, smart_login=True, passkeys=True, passkey_settings=NO_OFFER
    )


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.test")


@pytest.fixture
def shop(world: World) -> RelyingParty:
    return world.application("shop")


def values(page: VisitedPage, name: str) -> list[str]:
    """Return the values of the page's fields of this name that are not hidden."""
    fields = [tag for tag in re.findall(r"<input[^>]*>", page.html) if f'name="{name}"' in tag and "hidden" not in tag]
    found = (re.search(r' value="([^"]*)"', tag) for tag in fields)
    return [unescape(value[1]) if value else "" for value in found]


def test_first_step_asks_for_the_identifier(visitor: Visitor) -> None:
    page = visitor.open("/login")
    assert page.is_sign_in
    assert (values(page, "identifier"), values(page, "remember")) == ([""], [])
    assert "Forgot password?" not in page.text
    assert re.search(r'<div class="unseen" aria-hidden="true">[^\n]*name="password"[^>]*tabindex="-1"', page.html)


def test_steps_sign_in_and_show_the_identifier(visitor: Visitor, ada: Person, shop: RelyingParty) -> None:
    page = visitor.authorize(shop).press("Continue", identifier=f" {ada.email} ")
    assert (page.status, page.heading, values(page, "identifier")) == (200, STEP_TWO, [ada.email])
    assert f"{ada.email} Not you?" in page.text
    assert "example" not in page.address
    assert page.press("Sign in", password=ada.password).address.startswith(shop.redirect_uri)


def test_filled_password_signs_in_at_once(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/login").press("Continue", identifier=ada.email, password=ada.password)
    assert page.address.endswith("/profile")


def test_wrong_filled_password_shows_second_step(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/login").press("Continue", identifier=ada.email, password=WRONG)
    assert (page.status, page.heading, values(page, "identifier")) == (401, STEP_TWO, [ada.email])
    assert "Wrong email or password." in page.text
    assert page.press("Sign in", password=ada.password).address.endswith("/profile")


def test_empty_identifier_stays_on_first_step(visitor: Visitor) -> None:
    page = visitor.open("/login").press("Continue", identifier=" ")
    assert page.status == 422
    assert page.is_sign_in
    assert "Enter your email." in page.text
    assert "Enter your password." not in page.text


def test_empty_password_stays_on_second_step(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/login").press("Continue", identifier=ada.email).press("Sign in")
    assert (page.status, page.heading, values(page, "identifier")) == (422, STEP_TWO, [ada.email])
    assert "Enter your password." in page.text


def test_overlong_identifier_is_refused_at_its_field(visitor: Visitor) -> None:
    page = visitor.open("/login").press("Continue", identifier="a" * 321)
    assert page.status == 422
    assert page.is_sign_in
    assert "Use 320 characters or fewer." in page.text


def test_identifier_can_be_changed(visitor: Visitor, ada: Person, shop: RelyingParty) -> None:
    page = visitor.authorize(shop, login_hint="bob@example.test")
    assert (page.heading, values(page, "identifier")) == (STEP_TWO, ["bob@example.test"])
    first = page.follow("Not you?")
    assert first.is_sign_in
    assert values(first, "identifier") == ["bob@example.test"]
    assert re.search(r"<input[^>]*autofocus[^>]*name=\"identifier\"", first.html)
    second = first.press("Continue", identifier=ada.email)
    assert values(second, "identifier") == [ada.email]
    assert second.press("Sign in", password=ada.password).address.startswith(shop.redirect_uri)


def test_back_shows_first_step_with_what_was_typed(visitor: Visitor, ada: Person, shop: RelyingParty) -> None:
    first = visitor.authorize(shop)
    second = first.press("Continue", identifier=ada.email)
    back = visitor.open(first.address)
    assert back.is_sign_in
    assert values(back, "identifier") == [ada.email]
    again = visitor.open(second.address)
    assert (again.heading, values(again, "identifier")) == (STEP_TWO, [ada.email])


def test_next_person_at_a_shared_computer_sees_no_identifier(visitor: Visitor, ada: Person) -> None:
    second = visitor.open("/login").press("Continue", identifier=ada.email)
    page = visitor.open(second.address, **{"Sec-Fetch-Site": "none"})
    assert page.is_sign_in
    assert values(page, "identifier") == [""]


def test_post_of_other_site_chooses_no_account(visitor: Visitor) -> None:
    fields = {"identifier": "eve@example.test", "step": "identifier"}
    page = visitor.send("POST", f"{visitor.home}/login", fields)
    assert page.status == 403
    assert not visitor.cookies("identifier")


def test_known_and_unknown_names_cost_the_same(world: World, ada: Person, new_visitor_at: NewVisitorAt) -> None:
    pages = []
    for name in (ada.email, "alf@example.test"):
        page = new_visitor_at(world).open("/login").press("Continue", identifier=name)
        pages.append((page.status, page.comparable_text(name), page.cost))
    assert pages[0] == pages[1]
    assert pages[0][2].get("sql", 0) == 0


def test_other_methods_stand_on_both_steps(visitor: Visitor, ada: Person) -> None:
    first = visitor.open("/login")
    second = first.press("Continue", identifier=ada.email)
    for page in (first, second):
        mailed = page.follow("Get an email link", identifier=ada.email)
        assert values(mailed, "identifier") == [ada.email]
        assert "Sign in with a passkey" in page.text


def test_method_used_last_stands_above_both_steps(visitor: Visitor, ada: Person) -> None:
    visitor.client.set_cookie("gatehouse-method", "mail", domain=visitor.home.split("//")[1].partition(":")[0])
    first = visitor.open("/login")
    for page in (first, first.press("Continue", identifier=ada.email)):
        assert page.text.index("Last used") < page.text.index(" or ")
        assert page.text.count("Get an email link") == 1


@pytest.mark.parametrize("step", ["password", "identifier", "else"])
def test_address_alone_leads_to_first_step(visitor: Visitor, step: str) -> None:
    page = visitor.open(f"/login?step={step}")
    assert page.is_sign_in
    assert values(page, "identifier") == [""]


def test_reauthentication_has_one_step(visitor: Visitor, ada: Person, shop: RelyingParty) -> None:
    visitor.open("/login").sign_in(ada.email, ada.password)
    page = visitor.authorize(shop, prompt="login")
    assert page.heading == "Confirm it’s you"
    assert page.press("Continue", password=ada.password).address.startswith(shop.redirect_uri)


def test_lock_is_shown_on_second_step(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(identifier_first=True, lockout={"type": "captcha", "maximum_failed_attempts": 2})
    ada = world.person("ada@example.test")
    page = new_visitor_at(world).open("/login").at_password(ada.email)
    for _ in range(2):
        page = page.press("Sign in", password=WRONG)
    assert (page.heading, values(page, "identifier")) == (STEP_TWO, [ada.email])
    assert "captcha_challenge" in page.html
