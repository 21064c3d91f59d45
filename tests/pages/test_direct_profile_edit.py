"""The usual post of the profile's form is answered directly, and a browser cannot tell (decisions/0284)."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.contract.hub_account import edit_profile
from app.kit.client import ServiceUnavailable
from tests.support.direct_posts import Comparison, Page, assert_alike, errors, page_of
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.visitor import Visitor

EDIT = "/profile/edit"
TYPED = {
    "first_name": " Ada ",
    "about": "One\r\ntwo",
    "birth_date": "1815-12-10",
    "cf_size": "m",
    "is_email_subscribed": "y",
}
FIELDS: list[dict[str, Any]] = [
    {"name": "email", "required": True},
    {"name": "password", "type": "password", "required": True},
    {"name": "first_name", "required": True, "max_length": 20},
    {"name": "about", "type": "text", "max_length": 30},
    {"name": "birth_date"},
    {"name": "cf_size", "type": "option", "options": [{"value": "m"}, {"value": "xl"}]},
    {"name": "is_email_subscribed", "type": "multi"},
]


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(registration_form=FIELDS, custom_fields=["size"])


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def page(visitor: Visitor, ada: Person) -> Page:
    """Return the form of the signed-in person."""
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    return page_of(visitor, EDIT, "Save")


@pytest.fixture
def of_world(hub_app: Flask, world: World, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", 3600)
    return Comparison(hub_app, monkeypatch, world.services.settings.hub_url(world.name))


@pytest.mark.parametrize(
    "typed", [{}, {"about": ""}, {"cf_size": "other"}, {"birth_date": "soon"}, {"first_name": "x" * 20}]
)
def test_usual_edit_is_answered_alike(of_world: Comparison, page: Page, ada: Person, typed: dict[str, str]) -> None:
    sent = {**page.fields, **TYPED, **typed}
    direct, generic = of_world.both(None, EDIT, sent, headers=page.headers)
    assert_alike(direct, generic, "usual")
    (call,) = direct.calls
    day = "12/10/1815" if sent["birth_date"] == TYPED["birth_date"] else sent["birth_date"]
    assert call.request.fields == {**TYPED, **typed, "birth_date": day, "is_email_subscribed": "true"}
    assert call.visit.account == ada.uid
    assert direct.is_by_flask == (direct.response.status_code != 303)


def test_edit_is_saved(of_world: Comparison, page: Page, visitor: Visitor) -> None:
    direct, _ = of_world.both(None, EDIT, {**page.fields, **TYPED}, headers=page.headers)
    assert not direct.is_by_flask
    assert direct.response.headers["Location"] == "/profile?saved=1"
    assert visitor.open("/profile").heading == "Ada"


def test_every_refusal_of_an_edit_is_shown_alike(of_world: Comparison, page: Page) -> None:
    for name, error in [*errors(edit_profile), ("unavailable", ServiceUnavailable())]:
        of_world.failing = error
        direct, generic = of_world.both(None, EDIT, {**page.fields, **TYPED}, headers=page.headers)
        assert_alike(direct, generic, name)
        assert direct.is_by_flask, name


UNUSUAL: dict[str, dict[str, str | None]] = {
    "no name": {"first_name": ""},
    "a missing field": {"about": None},
    "a long name": {"first_name": "x" * 21},
    "another box": {"is_email_subscribed": "on"},
    "another field": {"last_name": "Byron"},
    "a password": {"password": "Zebra-kettle-91"},
    "another token": {"token": "A" * 43},
    "no token": {"token": None},
    "an interaction": {"attempt": "unknown"},
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_edit_is_for_flask(of_world: Comparison, page: Page, name: str) -> None:
    given = {**page.fields, **TYPED, **UNUSUAL[name]}
    sent = {field: text for field, text in given.items() if text is not None}
    direct, generic = of_world.both(None, EDIT, sent, headers=page.headers)
    assert_alike(direct, generic, name)
    assert direct.is_by_flask


def test_form_of_another_account_changes_nothing(of_world: Comparison, page: Page, visitor: Visitor) -> None:
    sent = {**page.fields, **TYPED, "shown_uid": "of-another-person"}
    direct, generic = of_world.both(None, EDIT, sent, headers=page.headers)
    assert_alike(direct, generic, "another account")
    assert direct.is_by_flask
    assert direct.response.status_code != 303
    assert "Ada" not in (visitor.open("/profile").heading or "")


@pytest.mark.parametrize("session", ["unknown", ""])
def test_edit_without_a_session_is_for_flask(of_world: Comparison, page: Page, visitor: Visitor, session: str) -> None:
    held = page.headers["Cookie"].replace(visitor.session_cookie(), session)
    direct, generic = of_world.both(None, EDIT, {**page.fields, **TYPED}, headers={**page.headers, "Cookie": held})
    assert_alike(direct, generic, "no session")
    assert direct.is_by_flask


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_edit_from_another_site_is_for_flask(of_world: Comparison, page: Page, headers: dict[str, str]) -> None:
    direct, generic = of_world.both(None, EDIT, {**page.fields, **TYPED}, headers={**page.headers, **headers})
    assert_alike(direct, generic, "another site")
    assert direct.is_by_flask
    assert direct.calls == []
