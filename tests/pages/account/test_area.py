"""The account area: the way back to the application, the security check-up, and what leads where."""

from __future__ import annotations

import re

import pytest

from app.hub.encryption import CookieCipher
from tests.support.journeys.account_security import add_app
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ADA = "ada@example.test"
HOME = "https://shop.example/start"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(two_factor="optional", passkeys=True, passkey_settings={"progressive_enrollment": False})


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA, FirstName="Ada")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def shop(world: World) -> RelyingParty:
    return world.application("shop", client_name="Acme Shop", client_uri=HOME)


def application_links(page: VisitedPage) -> list[str]:
    """Return where the link to the application leads."""
    found = re.findall(r'<nav class="end".*?</nav>', page.html, re.DOTALL)
    return re.findall(r'href="(http[^"]*)"', found[0])


def sign_in(visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)


def test_account_pages_lead_back_to_the_application(visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    sign_in(visitor, shop, ada)
    for address in ("/profile", "/security", "/applications", "/change-password"):
        assert application_links(visitor.open(address)) == [HOME]
    assert "Back to Acme Shop" in visitor.open("/security").text


def test_without_application_no_link_is_shown(visitor: Visitor, ada: Person) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert application_links(visitor.open("/profile")) == []


@pytest.mark.parametrize("value", ["x", "eyJhbGciOiJub25lIn0", "https://evil.example"])
def test_planted_cookie_leads_nowhere(visitor: Visitor, ada: Person, value: str) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    visitor.client.set_cookie("gatehouse-application", value, domain=host(visitor))
    assert application_links(visitor.open("/profile")) == []


def test_cookie_of_another_tenant_leads_nowhere(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, visitor: Visitor, shop: RelyingParty, ada: Person
) -> None:
    sign_in(visitor, shop, ada)
    other_world = new_world()
    other, grace = new_visitor_at(other_world), other_world.person(ADA)
    other.open("/login").press("Sign in", identifier=grace.email, password=grace.password)
    other.client.set_cookie("gatehouse-application", visitor.cookie("application").value, domain=host(other))
    assert application_links(other.open("/profile")) == []


def test_cookie_with_other_scheme_leads_nowhere(world: World, visitor: Visitor, ada: Person) -> None:
    """Even our own key must not turn a stored address into a script."""
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    cipher = CookieCipher(world.services.settings.secrets)
    value = cipher.encrypt(["Evil", "javascript:alert(1)"], f"{world.name} application")
    visitor.client.set_cookie("gatehouse-application", value, domain=host(visitor))
    assert application_links(visitor.open("/profile")) == []


def test_checkup_names_the_next_best_thing(visitor: Visitor, ada: Person) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.open("/security")
    assert "0 of 3 done" in page.text
    assert "Turn on two-step verification" in page.text
    assert page.follow("Turn on").address.endswith("/second-factors")


def test_checkup_keeps_done_steps_and_its_total(world: World, visitor: Visitor, ada: Person) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    _, codes = add_app(visitor, world, ada)
    assert "1 of 3 done" in visitor.open("/security").text, "no codes are saved yet"
    codes.press("I’ve saved them")
    page = visitor.open("/security")
    assert "2 of 3 done" in page.text
    assert "Two-step verification on" in page.text
    assert "Backup codes saved" in page.text
    assert page.follow("Create passkey").address.endswith("/passkeys/add")


@pytest.mark.parametrize("address", ["/profile", "/security", "/applications"])
def test_open_task_is_marked_on_the_other_tabs(visitor: Visitor, ada: Person, address: str) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    is_marked = "Security checkup not finished" in visitor.open(address).text
    assert is_marked is (address != "/security"), "the page itself shows the checkup"


def test_second_steps_have_a_section_of_their_own(visitor: Visitor, ada: Person) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.open("/security")
    assert page.html.index('id="steps"') < page.html.index("Choose a method") < page.html.index('id="sessions"')


def test_tenant_that_offers_nothing_shows_no_checkup(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world()
    visitor, ada = new_visitor_at(world), world.person(ADA)
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert "checkup" not in visitor.open("/security").text
    assert "checkup not finished" not in visitor.open("/profile").text


def test_profile_of_nameless_account_names_its_email(world: World, visitor: Visitor) -> None:
    ada = world.person(ADA)
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert visitor.open("/profile").profile_name == ADA


def test_deletion_is_the_last_thing_on_the_profile(visitor: Visitor, ada: Person) -> None:
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    profile = visitor.open("/profile")
    assert profile.html.rindex('href="/delete-account"') > profile.html.rindex('href="/profile?edit=')
    assert "/delete-account" not in visitor.open("/security").html


def host(visitor: Visitor) -> str:
    return visitor.home.split("//")[1].partition(":")[0]
