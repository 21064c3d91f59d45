"""The profile's form shows each person their own values, as they were typed, and no cache holds any of them."""

from __future__ import annotations

import re
from html import unescape

from flask import Flask

from app.hub.rendering import fragments
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor

EDIT = "/profile/edit"
NAMES = ("<b>", "%(nonce)s", "100 %", "%%", "%(0)s", "&amp;", "a\"b'c", "</textarea>")


def signed_in(visitor: Visitor, world: World, email: str, **profile: str) -> Visitor:
    person = world.person(email, **profile)
    visitor.open("/login").press("Sign in", identifier=person.email, password=person.password)
    return visitor


def without_fresh_values(page: VisitedPage) -> str:
    return re.sub(r'(name="token" value=|nonce=)"[^"]+"', "", page.html)


def cached_fragments(app: Flask) -> str:
    """Return what the application holds of pages, and by what."""
    stored: fragments.FragmentCache = app.extensions["gatehouse.fragments"]
    return repr(stored.items())


def test_each_person_edits_their_own_values(new_visitor: NewVisitor, world: World, hub_app: Flask) -> None:
    ada = signed_in(new_visitor(), world, "ada@example.com", FirstName="Ada", BirthDate="12/10/1815")
    grace = signed_in(new_visitor(), world, "grace@example.com", FirstName="Grace", LastName="Hopper")
    pages = [visitor.open(EDIT) for visitor in (ada, grace, ada, grace)]
    shown = [without_fresh_values(page) for page in pages]
    assert shown[:2] == shown[2:]
    assert len({page.form("Save").fields["token"] for page in pages}) == 4
    typed = [page.form("Save").fields for page in pages[:2]]
    assert [fields["first_name"] for fields in typed] == ["Ada", "Grace"]
    assert [fields["birth_date"] for fields in typed] == ["1815-12-10", ""]
    stored = cached_fragments(hub_app)
    assert world.name in stored.lower()
    for text in ("1815-12-10", "12/10/1815", "Grace", "Hopper", *(fields["token"] for fields in typed)):
        assert text not in stored


def test_form_saves_the_values_of_its_own_person(new_visitor: NewVisitor, world: World) -> None:
    ada, grace = (signed_in(new_visitor(), world, f"{name}@example.com") for name in ("ada", "grace"))
    for at in range(2):
        assert "Saved" in ada.open(EDIT).press("Save", first_name=f"Ada {at}").text
        assert "Saved" in grace.open(EDIT).press("Save", first_name=f"Grace {at}").text
        assert ada.open(EDIT).form("Save").fields["first_name"] == f"Ada {at}"


def test_values_are_shown_as_they_were_typed(new_visitor_at: NewVisitorAt, new_world: NewWorld) -> None:
    world = new_world(registration_form=[{"name": "first_name"}, {"name": "about", "type": "text"}])
    for at, name in enumerate(NAMES):
        person = signed_in(new_visitor_at(world), world, f"p{at}@example.com", FirstName=name, About=name)
        page = person.open(EDIT)
        assert page.form("Save").fields["first_name"] == name
        assert [unescape(text) for text in re.findall(r"<textarea[^>]*>\s*([^<]*)</textarea>", page.html)] == [name]


def test_form_shows_the_persons_own_choice(new_visitor_at: NewVisitorAt, new_world: NewWorld) -> None:
    choice = {"name": "cf_size", "type": "option", "options": [{"value": "m"}, {"value": "xl"}]}
    world = new_world(registration_form=[{"name": "first_name"}, choice], custom_fields=["size"])
    ada = signed_in(new_visitor_at(world), world, "ada@example.com", FirstName="Ada")
    ada.open(EDIT).press("Save", cf_size="xl")
    grace = signed_in(new_visitor_at(world), world, "grace@example.com", FirstName="Grace")
    assert re.search(r'<option selected value="xl"', ada.open(EDIT).html)
    assert not re.search(r'<option selected value="xl"', grace.open(EDIT).html)
