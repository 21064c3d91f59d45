"""Account pages show each person their own texts, as they were typed, and no cache holds any of them."""

import re
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.hub.rendering import fragments
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

ADA = {
    "FirstName": "Ada", "LastName": "Lovelace", "NickName": "Countess", "City": "Ockham", "BirthDate": "12/10/1815",
}  # fmt: skip
GRACE = {
    "FirstName": "Grace", "LastName": "Hopper", "NickName": "Amazing", "City": "Arlington", "BirthDate": "12/09/1906",
}  # fmt: skip


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", **ADA)


@pytest.fixture
def grace(world: World) -> Person:
    return world.person("grace@example.com", **GRACE)


def signed_in(visitor: Visitor, person: Person) -> Visitor:
    visitor.open("/login").press("Sign in", identifier=person.email, password=person.password)
    return visitor


def cached_fragments(app: Flask) -> str:
    """Return what the application holds of pages, and by what."""
    stored: fragments.FragmentCache = app.extensions["gatehouse.fragments"]
    return repr(stored.items())


def without_nonce(page: VisitedPage) -> str:
    return re.sub(r'nonce="[^"]+"', "", page.html)


def policy(page: VisitedPage) -> str:
    assert page.answer is not None
    return page.answer.headers["Content-Security-Policy"]


def test_page_shows_nothing_of_the_person_before(new_visitor: NewVisitor, ada: Person, grace: Person) -> None:
    first, second = signed_in(new_visitor(), ada), signed_in(new_visitor(), grace)
    shown = [without_nonce(visitor.open("/profile")) for visitor in (first, second, first, second)]
    assert shown[:2] == shown[2:]
    assert all(text in shown[0] for text in ("Ada Lovelace", "Countess", "Ockham", ">AL<", "ada@<wbr>example.com"))
    assert not any(text in shown[0] for text in ("Grace", "Amazing", "Arlington", "grace@"))
    assert all(text in shown[1] for text in ("Grace Hopper", "Amazing", "Arlington", ">GH<", "grace@<wbr>example.com"))
    assert not any(text in shown[1] for text in ("Ada", "Countess", "Ockham", "ada@"))


def test_each_response_has_a_nonce_of_its_own(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    pages = [visitor.open("/profile") for _ in range(3)]
    nonces = [set(re.findall(r'nonce="([^"]+)"', page.html)) for page in pages]
    assert all(len(item) == 1 for item in nonces)
    assert len(set.union(*nonces)) == 3
    for page, (nonce,) in zip(pages, nonces, strict=True):
        assert f"'nonce-{nonce}'" in policy(page)


def test_page_without_a_form_sets_no_cookie(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada).open("/profile")
    visitor.client.delete_cookie("gatehouse-browser", domain=urlsplit(visitor.home).hostname or "")
    page = visitor.open("/profile")
    assert page.answer is not None
    assert "Set-Cookie" not in page.answer.headers


def test_nothing_of_a_person_is_held(hub_app: Flask, visitor: Visitor, world: World, ada: Person) -> None:
    signed_in(visitor, ada)
    nonces = re.findall(r'nonce="([^"]+)"', visitor.open("/profile").html)
    stored = cached_fragments(hub_app)
    assert world.name in stored.lower()
    for text in ("Lovelace", "Countess", "Ockham", "December 10, 1815", "12/10/1815", "ada@", ada.uid, nonces[0]):
        assert text not in stored


def test_policy_allows_the_persons_own_picture(new_visitor: NewVisitor, world: World, ada: Person) -> None:
    visitor = new_visitor()
    signed_in(visitor, world.person("eve@example.com", FirstName="Eve", ImageUrl="https://pictures.example/eve.png"))
    page = visitor.open("/profile")
    assert "https://pictures.example" in policy(page)
    assert "eve.png" in page.html
    page = signed_in(new_visitor(), ada).open("/profile")
    assert "pictures.example" not in page.html + policy(page)


def test_language_links_repeat_parameters_of_this_visit_alone(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    assert "landing=refused" in visitor.open("/profile?landing=refused").html
    assert "landing=refused" not in visitor.open("/profile").html


def test_texts_are_shown_as_they_were_typed(visitor: Visitor, world: World) -> None:
    for at, name in enumerate(("<b>", "%(nonce)s", "100 %", "%%", "%(0)s", "{0}", "{{ 7 }}", "&amp;", 'a"b', "عزيزة")):
        person = world.person(f"p{at}@example.com", FirstName=name, LastName="Last")
        visitor.client._cookies = {}
        assert signed_in(visitor, person).open("/profile").profile_name == f"{name} Last"


def test_change_of_the_tenant_shows_on_account_pages(visitor: Visitor, world: World, ada: Person) -> None:
    signed_in(visitor, ada).open("/profile")
    world.change_settings(deletion_days=12, organizations={"enabled": True, "self_service_creation": True})
    visitor.open("/profile")  # names the new version
    text = visitor.open("/profile").text
    assert "12 days" in text
    assert "Organizations" in text


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_account_page_has_the_language_of_the_browser(new_visitor: NewVisitor, ada: Person, language: str) -> None:
    visitor = signed_in(new_visitor(), ada)
    in_english = visitor.open("/profile").profile_name, visitor.open("/profile").text
    visitor.language = language
    page = visitor.open("/profile")
    assert page.profile_name == in_english[0]
    assert (page.text == in_english[1]) is (language == "en")
