"""An account page that is kept with holes for the person's texts shows each person their own, and keeps none of them (decisions/0302)."""

import re
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.hub import fragments, personal_texts
from app.hub.personal_texts import PersonalTexts
from tests.support.oauth_world import World
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitor, VisitedPage, Visitor

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


def kept_pages(app: Flask, world: World) -> str:
    """Return what is kept of the tenant's pages, and by what."""
    kept: fragments.Kept = app.extensions["gatehouse.fragments"]
    return repr([entry for entry in kept._entries.items() if world.name in entry[0]])  # type: ignore[operator]  # all are tuples


def without_nonce(page: VisitedPage) -> str:
    return re.sub(r'nonce="[^"]+"', "", page.html)


def policy(page: VisitedPage) -> str:
    assert page.answer is not None
    return page.answer.headers["Content-Security-Policy"]


def test_page_after_another_persons_is_as_if_nothing_were_kept(
    new_visitor: NewVisitor, ada: Person, grace: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = signed_in(new_visitor(), ada), signed_in(new_visitor(), grace)
    shown = [without_nonce(visitor.open("/profile")) for visitor in (first, second, first, second)]
    assert shown[:2] == shown[2:]
    with monkeypatch.context() as patch:
        patch.setattr(personal_texts, "_is_alike_for_all", lambda _: False)
        assert shown[:2] == [without_nonce(visitor.open("/profile")) for visitor in (first, second)]
    assert all(text in shown[1] for text in ("Grace Hopper", "Amazing", "Arlington", ">GH<", "grace@<wbr>example.com"))
    assert not any(text in shown[1] for text in ("Ada", "Countess", "Ockham", "ada@"))


def test_each_response_has_a_nonce_of_its_own(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    pages = [visitor.open("/profile") for _ in range(3)]
    nonces = [set(re.findall(r'nonce="([^"]+)"', page.html)) for page in pages]
    assert all(len(each) == 1 for each in nonces)
    assert len(set.union(*nonces)) == 3
    for page, (nonce,) in zip(pages, nonces, strict=True):
        assert f"'nonce-{nonce}'" in policy(page)


def test_page_without_a_form_sets_no_cookie(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada).open("/profile")
    visitor.client.delete_cookie("gatehouse-browser", domain=urlsplit(visitor.home).hostname or "")
    page = visitor.open("/profile")
    assert page.answer is not None
    assert "Set-Cookie" not in page.answer.headers


def test_nothing_of_a_person_is_kept(hub_app: Flask, visitor: Visitor, world: World, ada: Person) -> None:
    signed_in(visitor, ada)
    nonces = re.findall(r'nonce="([^"]+)"', visitor.open("/profile").html)
    assert "Danger zone" in kept_pages(hub_app, world)
    for text in ("Ada", "Lovelace", "Countess", "Ockham", "1815", "ada@", ada.uid, nonces[0]):
        assert text not in kept_pages(hub_app, world)


def test_page_with_a_picture_or_a_parameter_is_not_kept(
    hub_app: Flask, new_visitor: NewVisitor, world: World, ada: Person
) -> None:
    visitor = new_visitor()
    signed_in(visitor, world.person("eve@example.com", FirstName="Eve", ImageUrl="https://pictures.example/eve.png"))
    page = visitor.open("/profile")
    assert "https://pictures.example" in policy(page)
    assert "eve.png" in page.html
    assert kept_pages(hub_app, world) == "[]"
    visitor = signed_in(new_visitor(), ada)
    before = kept_pages(hub_app, world)
    assert "landing=refused" in visitor.open("/profile?landing=refused").html
    visitor.open("/profile?lang=de")
    assert kept_pages(hub_app, world) == before


def test_texts_are_shown_as_they_were_typed(visitor: Visitor, world: World) -> None:
    for at, name in enumerate(("<b>", "%(nonce)s", "100 %", "%%", "%(0)s", "&amp;", 'a"b')):
        person = world.person(f"p{at}@example.com", FirstName=name, LastName="Last")
        visitor.client._cookies = {}
        heading = signed_in(visitor, person).open("/profile").heading
        assert heading == f"{name} Last"


def test_change_of_the_tenant_shows_in_kept_pages(visitor: Visitor, world: World, ada: Person) -> None:
    signed_in(visitor, ada).open("/profile")
    world.change_settings(deletion_days=12, organizations={"enabled": True, "self_service_creation": True})
    visitor.open("/profile")  # names the new version
    text = visitor.open("/profile").text
    assert "12 days" in text
    assert "Organizations" in text


def test_template_can_write_a_hole_and_not_look_at_it() -> None:
    hole = PersonalTexts().hole("ada@example.com")
    assert "ada" not in hole.__html__()
    assert "ada" not in str(hole)
    for name in ("text", "upper", "split", "__len__", "__contains__", "__getitem__"):
        assert not hasattr(hole, name)


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_kept_page_has_the_language_of_the_browser(new_visitor: NewVisitor, ada: Person, language: str) -> None:
    visitor = signed_in(new_visitor(), ada)
    in_english = visitor.open("/profile").heading, visitor.open("/profile").text
    visitor.language = language
    page = visitor.open("/profile")
    assert page.heading == in_english[0]
    assert (page.text == in_english[1]) is (language == "en")
