"""What was typed on the sign-in page is carried to its other pages, in no address and without a word about accounts."""

from __future__ import annotations

import re

import pytest

from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # the database plays no part
TYPED = "ada.o'neill+shop@example.test"
TARGETS = {
    "Forgot password?": ("Forgot password?", "Send reset link"),
    "Create account": ("Create your account", "Create account"),
    "Get an email link": ("Sign in without a password", "Email me a link"),
    "Approve on another device": ("Approve on another device", "Email me a sign-in request"),
    "Lost your passkey?": ("Lost your passkey?", ""),
}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passwordless_email=True, smart_login=True, passkeys=True)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def shown_identifier(page: VisitedPage) -> str:
    """Return the value of the page's visible field for an email or another identifier."""
    field = next(
        item for item in re.findall(r"<input[^>]*>", page.html) if re.search(r'name="(identifier|email)"', item)
    )
    found = re.search(r'value="([^"]*)"', field)
    return found[1].replace("&#39;", "'") if found else ""


@pytest.mark.parametrize("link", TARGETS)
@pytest.mark.parametrize("is_in_application", [True, False])
def test_typed_identifier_fills_next_page(world: World, visitor: Visitor, link: str, is_in_application: bool) -> None:
    login = visitor.authorize(world.application("shop")) if is_in_application else visitor.open("/login")
    page = login.follow(link, identifier=TYPED, password="Half-typed-7")
    assert (page.status, page.heading) == (200, TARGETS[link][0])
    assert shown_identifier(page) == TYPED
    assert "example.test" not in page.address
    assert "Half-typed-7" not in page.html


def test_back_on_sign_in_page_keeps_identifier(visitor: Visitor) -> None:
    forgotten = visitor.open("/login").follow("Forgot password?", identifier=TYPED)
    login = forgotten.follow("Back to sign in")
    assert shown_identifier(login) == TYPED
    assert re.search(r'<input[^>]*autofocus[^>]*name="password"', login.html)


@pytest.mark.parametrize(
    ("site", "shown"), [("same-origin", TYPED), ("none", ""), ("cross-site", ""), ("same-site", "")]
)
def test_only_our_own_link_shows_identifier(visitor: Visitor, site: str, shown: str) -> None:
    """The next person at a shared computer opens the page anew."""
    visitor.open("/login").follow("Forgot password?", identifier=TYPED)
    assert shown_identifier(visitor.open("/login", **{"Sec-Fetch-Site": site})) == shown


def test_empty_identifier_ends_earlier_one(visitor: Visitor) -> None:
    login = visitor.open("/login")
    login.follow("Forgot password?", identifier=TYPED)
    assert shown_identifier(login.follow("Forgot password?", identifier=" ")) == ""
    assert not visitor.cookies("identifier")


def test_other_interaction_sees_no_identifier(world: World, visitor: Visitor) -> None:
    visitor.open("/login").follow("Forgot password?", identifier=TYPED)
    assert shown_identifier(visitor.authorize(world.application("shop"))) == ""


def test_sign_in_ends_carried_identifier(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.test")
    login = visitor.open("/login").follow("Forgot password?", identifier=TYPED).follow("Back to sign in")
    login.press("Sign in", identifier=ada.email, password=ada.password)
    assert not visitor.cookies("identifier")


def test_cookie_conceals_identifier(visitor: Visitor) -> None:
    visitor.open("/login").follow("Forgot password?", identifier=TYPED)
    cookie = visitor.cookie("identifier")
    assert cookie.http_only
    assert "ada" not in cookie.value


@pytest.mark.parametrize("value", ["x", "A" * 60, "A" * 5_000])
def test_forged_cookie_fills_nothing(visitor: Visitor, value: str) -> None:
    visitor.client.set_cookie("gatehouse-identifier", value, domain=visitor.home.split("//")[1].partition(":")[0])
    assert shown_identifier(visitor.open("/login")) == ""


def test_post_of_other_site_carries_nothing(visitor: Visitor) -> None:
    """Another site must not choose whose reset a visitor asks for."""
    fields = {"identifier": "eve@example.test", "to": "forgot"}
    page = visitor.send("POST", f"{visitor.home}/login/choose", fields)
    assert (page.heading, shown_identifier(page)) == ("Forgot password?", "")


@pytest.mark.parametrize("to", ["https://evil.example", "//evil.example", "", "passkey"])
def test_unknown_target_is_the_sign_in_page(visitor: Visitor, to: str) -> None:
    form = visitor.open("/login").form("Sign in")
    page = visitor.send("POST", f"{visitor.home}/login/choose", {**form.fields, "identifier": TYPED, "to": to})
    assert (page.is_sign_in, page.address) == (True, f"{visitor.home}/login")


def test_known_and_unknown_identifier_look_alike(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    """Carrying makes no look-up: known and unknown addresses make the same page at the same cost."""
    ada, pages = world.person("ada@example.test"), []
    for who, browser in ((ada.email, visitor), ("bob@example.test", new_visitor_at(world))):
        page = browser.open("/login").follow("Forgot password?", identifier=who)
        pages.append((page.status, page.comparable_text(who), page.cost))
    assert pages[0] == pages[1]


def test_email_is_not_carried_to_phone_field(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(passwordless_sms=True, phone_login=True)
    login = new_visitor_at(world).open("/login")
    assert shown_identifier(login.follow("Get a code by text message", identifier=TYPED)) == ""
    assert (
        shown_identifier(login.follow("Get a code by text message", identifier="+44 20 7946 0018"))
        == "+44 20 7946 0018"
    )


def test_first_empty_field_has_the_focus(world: World, visitor: Visitor) -> None:
    fresh = visitor.open("/login")
    assert re.search(r'<input[^>]*autofocus[^>]*name="identifier"', fresh.html)
    hinted = visitor.authorize(world.application("shop"), login_hint="ada@example.test")
    assert re.search(r'<input[^>]*autofocus[^>]*name="password"', hinted.html)
    refused = fresh.press("Sign in", identifier=TYPED, password="Wrong-kettle-91")
    assert re.findall(r'<input[^>]*autofocus[^>]*name="(\w+)"', refused.html) == ["password"], "where the error is"
