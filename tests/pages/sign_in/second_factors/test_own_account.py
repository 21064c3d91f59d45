"""The page of a second factor shows each sign-in its own account, form and application, and no cache holds any of them."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.hub.rendering import fragments
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

QUESTIONS = {"pet": "Your first pet?", "city": "Where were you born?"}
ANSWERS = {"answer.pet": "Rex", "answer.city": "Ockham"}
FACTORS = {"totp": False, "email": False, "passkey": False, "backup_codes": False, "security_questions": True}
ADA, GRACE = "ada@example.com", "grace@example.com"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(two_factor="required", second_factors=FACTORS, security_questions=QUESTIONS, passkeys=False)


def cached_fragments(app: Flask) -> str:
    """Return what the application holds of pages, and by what."""
    stored: fragments.FragmentCache = app.extensions["gatehouse.fragments"]
    return repr(stored.items())


def challenged(visitor: Visitor, person: Person, shop: RelyingParty | None = None) -> VisitedPage:
    """Give the password; return the page of the second factor."""
    page = visitor.authorize(shop) if shop is not None else visitor.open("/login")
    return page.press("Sign in", identifier=person.email, password=person.password)


def fresh_values(page: VisitedPage) -> list[str]:
    """Return nonce, form token and interaction of the page."""
    fields = page.form("Continue").fields
    return [re.findall(r'nonce="([^"]+)"', page.html)[0], fields["token"], page.query["attempt"]]


def without_fresh_values(page: VisitedPage) -> str:
    text = re.sub(r'(name="token" value=|nonce=)"[^"]+"', "", page.html)
    return text.replace(page.query["attempt"], "")


def test_each_sign_in_has_its_own_page(world: World, new_visitor_at: NewVisitorAt, hub_app: Flask) -> None:
    people = world.person(ADA), world.person(GRACE)
    for person in people:  # the first sign-in enrols the answers
        challenged(new_visitor_at(world), person).press("Continue", **ANSWERS)
    pages = [challenged(new_visitor_at(world), person) for person in (*people, *people)]
    shown = [without_fresh_values(page) for page in pages]
    assert shown[:2] == shown[2:]
    for own, other, page in ((ADA, GRACE, shown[0]), (GRACE, ADA, shown[1])):
        assert own in page
        assert other not in page
    fresh = [fresh_values(page) for page in pages]
    assert len({value for values in fresh for value in values}) == 12
    stored = cached_fragments(hub_app)
    assert world.name in stored.lower()
    assert not any(value in stored for values in fresh for value in (*values, ADA, GRACE))


def test_each_form_signs_in(world: World, new_visitor_at: NewVisitorAt) -> None:
    ada = world.person(ADA)
    for _ in range(3):
        assert challenged(new_visitor_at(world), ada).press("Continue", **ANSWERS).heading == "Profile"


def test_form_token_is_of_one_browser(world: World, new_visitor_at: NewVisitorAt) -> None:
    ada = world.person(ADA)
    challenged(new_visitor_at(world), ada).press("Continue", **ANSWERS)
    own, others = challenged(new_visitor_at(world), ada), challenged(new_visitor_at(world), ada)
    refused = own.press("Continue", **ANSWERS, token=others.form("Continue").fields["token"])
    assert refused.status == 403
    assert "We couldn’t verify your request" in refused.text


def test_page_shows_the_application_of_its_own_sign_in(world: World, new_visitor_at: NewVisitorAt) -> None:
    ada = world.person(ADA)
    logos = [f"https://{name}.example/logo.png" for name in ("shop", "club")]
    shops = [world.application(f"app{at}", client_name=f"App {at}", logo_uri=logo) for at, logo in enumerate(logos)]
    challenged(new_visitor_at(world), ada).press("Continue", **ANSWERS)
    for at in (0, 1, 0):
        page = challenged(new_visitor_at(world), ada, shops[at])
        assert logos[at] in page.html
        assert logos[1 - at] not in page.html
    assert not any(logo in challenged(new_visitor_at(world), ada).html for logo in logos)


def test_refused_answer_is_not_held(world: World, new_visitor_at: NewVisitorAt, hub_app: Flask) -> None:
    ada = world.person(ADA)
    challenged(new_visitor_at(world), ada).press("Continue", **ANSWERS)
    page = challenged(new_visitor_at(world), ada)
    refused = page.press("Continue", **{"answer.pet": "wrong-pet", "answer.city": "wrong-city"})
    assert refused.status != 200
    assert "wrong-" not in cached_fragments(hub_app)


def test_key_of_an_authenticator_is_not_held(new_world: NewWorld, new_visitor_at: NewVisitorAt, hub_app: Flask) -> None:
    tenant = new_world(two_factor="required", second_factors={"email": False, "passkey": False})
    page = challenged(new_visitor_at(tenant), tenant.person(ADA))
    key = re.search(r'<p class="key"[^>]*>(?:<[^>]+>)*([A-Z2-7 ]+)<', page.html)
    assert key is not None
    assert key[1] not in cached_fragments(hub_app)
