"""The usual posts of sign-up and of a forgotten password are answered directly, and a browser cannot tell (decisions/0284, 0298)."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.contract.hub import Next, Step
from app.contract.hub_models import Session
from app.contract.hub_recovery import forgot
from app.contract.hub_registration import register
from app.kit.admission import SHED, Shed
from app.kit.operation import AnyOperation
from tests.support.direct_posts import FORM, Comparison, Page, assert_alike, errors, page_of, steps
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitorAt

FORGOT, REGISTER = "/forgot-password", "/register"
BUTTONS = {FORGOT: "Send reset link", REGISTER: "Create account"}
GERMAN = {"Accept-Language": "de"}
ADA = {"identifier": "ada@example.com"}
NEW = {
    "email": " Neu@Example.test ", "password": " \u00fc &=+% \u0430 ", "first_name": "Ada", "about": "One\r\ntwo",
    "birth_date": "1990-12-24", "cf_size": "m", "is_email_subscribed": "y", "terms": "y",
}  # fmt: skip
"""What a person types into every kind of field."""
FIELDS: list[dict[str, Any]] = [
    {"name": "email", "required": True, "max_length": 100},
    {"name": "password", "type": "password", "required": True},
    {"name": "first_name", "required": True, "max_length": 20},
    {"name": "about", "type": "text", "max_length": 30},
    {"name": "birth_date"},
    {"name": "cf_size", "type": "option", "required": True, "options": [{"value": "m"}, {"value": "xl"}]},
    {"name": "is_email_subscribed", "type": "multi"},
    {"name": "terms", "type": "multi", "required": True},
]
TYPED: dict[str, dict[str, str]] = {FORGOT: ADA, REGISTER: NEW}
OPERATIONS: list[tuple[str, AnyOperation]] = [(FORGOT, forgot), (REGISTER, register)]
NAMES = ["forgotten password", "sign-up"]


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(registration_form=FIELDS, custom_fields=["size"], passkeys=False)


@pytest.fixture
def new_page(world: World, new_visitor_at: NewVisitorAt) -> Any:
    """Return a function that opens the page with a path, in an interaction of an application or without one."""
    shop = world.application("shop", client_name="Acme Shop")

    def make(path: str, *, has_interaction: bool = True) -> Page:
        visitor = new_visitor_at(world)
        if not has_interaction:
            return page_of(visitor, path, BUTTONS[path], **GERMAN)
        shown = visitor.authorize(shop)
        return page_of(visitor, f"{path}?attempt={shown.query['attempt']}", BUTTONS[path], **GERMAN)

    return make


@pytest.fixture
def of_world(hub_app: Flask, world: World, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", 3600)
    return Comparison(hub_app, monkeypatch, world.services.settings.hub_url(world.name))


@pytest.mark.parametrize("has_interaction", [True, False], ids=["of an application", "of the tenant"])
@pytest.mark.parametrize("path", [FORGOT, REGISTER], ids=NAMES)
def test_every_step_is_answered_alike(of_world: Comparison, new_page: Any, path: str, *, has_interaction: bool) -> None:
    shown = new_page(path, has_interaction=has_interaction)
    for name, step in steps(shown.fields.get("attempt")):
        sent = {**shown.fields, **TYPED[path]}
        direct, generic = of_world.both(step, path, sent, headers=shown.headers)
        assert_alike(direct, generic, name)
        assert len(direct.calls) == 1, name
        assert direct.response.status_code < 500, name
        assert direct.is_by_flask == (direct.response.status_code != 303), name


@pytest.mark.parametrize(("path", "operation"), OPERATIONS, ids=NAMES)
def test_every_refusal_is_shown_alike(of_world: Comparison, new_page: Any, path: str, operation: AnyOperation) -> None:
    shown = new_page(path)
    for name, error in errors(operation):
        sent = {**shown.fields, **TYPED[path]}
        direct, generic = of_world.both(error, path, sent, headers=shown.headers)
        assert_alike(direct, generic, name)
        assert len(direct.calls) == 1, name
        assert direct.is_by_flask, name


USUAL: dict[str, dict[str, str]] = {
    "plain": {},
    "no checkbox": {"is_email_subscribed": ""},
    "a day by hand": {"birth_date": "24.12.1990"},
    "another text of a date's form": {"first_name": "1990-12-24"},
    "spaces alone": {"first_name": " "},
    "an unknown choice": {"cf_size": "another"},
    "nothing in optional fields": {"about": "", "birth_date": ""},
    "the longest": {"first_name": "x" * 20, "about": "x" * 30},
}


def test_usual_sign_up_passes_by_flask(of_world: Comparison, new_page: Any, subtests: pytest.Subtests) -> None:
    shown = new_page(REGISTER)
    step = Next(step=Step.PROFILE, session=Session(token="a-session"))
    for name, typed in USUAL.items():
        with subtests.test(name):
            given = {**shown.fields, **NEW, **typed, "credential": ""}
            sent = {field: text for field, text in given.items() if text or field != "is_email_subscribed"}
            direct, generic = of_world.both(step, REGISTER, sent, headers=shown.headers)
            assert_alike(direct, generic, name)
            assert not direct.is_by_flask
            (call,) = direct.calls
            expected = {**NEW, "birth_date": "12/24/1990", "is_email_subscribed": "true", "terms": "true", **typed}
            assert call.request.fields == expected


@pytest.mark.parametrize("path", [FORGOT, REGISTER], ids=NAMES)
def test_cookies_of_the_browser_count_alike(of_world: Comparison, new_page: Any, path: str) -> None:
    shown = new_page(path).with_cookies(gatehouse_method="passkey~mail", gatehouse_language="ar", gatehouse_session="x")
    for step in (Step.PROFILE, Step.RESET_SENT, Step.CHECK_MAIL):
        outcome = Next(step=step, attempt=shown.fields["attempt"])
        direct, generic = of_world.both(outcome, path, {**shown.fields, **TYPED[path]}, headers=shown.headers)
        assert_alike(direct, generic, step.value)
        assert not direct.is_by_flask


UNUSUAL: dict[str, dict[str, str | None]] = {
    "no email": {"email": ""},
    "a missing email": {"email": None},
    "a missing optional field": {"about": None},
    "no password": {"password": ""},
    "no choice": {"cf_size": ""},
    "no consent": {"terms": None},
    "another box": {"terms": "on"},
    "another optional box": {"is_email_subscribed": "false"},
    "a long name": {"first_name": "x" * 21},
    "a long text": {"about": "x" * 31},
    "a long password": {"password": "x" * 1_100},
    "a passkey": {"credential": "{}"},
    "by passkey": {"do": "passkey"},
    "another button": {"do": "x"},
    "a provider": {"with": "google"},
    "no provider": {"with": ""},
    "a captcha": {"captcha_asked": "widget", "captcha_proof": "x"},
    "another field": {"last_name": "Byron"},
    "another account": {"shown_uid": "of-someone"},
    "another token": {"token": "A" * 43},
    "another interaction": {"attempt": "unknown"},
    "too much": {"about": "x" * 70_000},
}


def test_unusual_sign_up_is_for_flask(of_world: Comparison, new_page: Any, subtests: pytest.Subtests) -> None:
    shown = new_page(REGISTER)
    for name, typed in UNUSUAL.items():
        with subtests.test(name):
            given = {**shown.fields, **NEW, **typed}
            sent = {field: text for field, text in given.items() if text is not None}
            direct, generic = of_world.both(Next(step=Step.PROFILE), REGISTER, sent, headers=shown.headers)
            assert_alike(direct, generic, name)
            assert direct.is_by_flask


UNUSUAL_FORGOTTEN = {
    "no identifier": {"identifier": ""},
    "a long one": {"identifier": "x" * 5_000},
    "no token": {"token": ""},
    "another interaction": {"attempt": "unknown"},
    "a button": {"do": "x"},
}


def test_unusual_forgotten_password_is_for_flask(
    of_world: Comparison, new_page: Any, subtests: pytest.Subtests
) -> None:
    shown = new_page(FORGOT)
    for name, typed in UNUSUAL_FORGOTTEN.items():
        with subtests.test(name):
            sent = {**shown.fields, **ADA, **typed}
            direct, generic = of_world.both(Next(step=Step.RESET_SENT), FORGOT, sent, headers=shown.headers)
            assert_alike(direct, generic, name)
            assert direct.is_by_flask


REQUESTS: dict[str, dict[str, Any]] = {
    "a query": {"query": "?lang=de"},
    "a charset": {"content_type": f"{FORM}; charset=utf-8"},
    "no body": {"form": b""},
    "another origin": {"headers": {"Origin": "https://evil.example"}},
    "a full queue": {SHED: Shed(429, 3)},
}


@pytest.mark.parametrize("path", [FORGOT, REGISTER], ids=NAMES)
def test_unusual_request_is_for_flask(
    of_world: Comparison, new_page: Any, subtests: pytest.Subtests, path: str
) -> None:
    shown = new_page(path)
    for name, changed in REQUESTS.items():
        with subtests.test(name):
            asked = dict(changed)
            sent = asked.pop("form", {**shown.fields, **TYPED[path]})
            headers = {**shown.headers, **asked.pop("headers", {})}
            address = f"{path}{asked.pop('query', '')}"
            direct, generic = of_world.both(Next(step=Step.PROFILE), address, sent, headers=headers, **asked)
            assert_alike(direct, generic, name)
            assert direct.is_by_flask


@pytest.mark.parametrize("settings", [{"registration": False}, {"registration_captcha": True}], ids=["off", "captcha"])
def test_closed_or_guarded_sign_up_is_for_flask(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, of_world: Comparison, settings: dict[str, Any]
) -> None:
    world = new_world(**settings)
    of_world.base_url = world.services.settings.hub_url(world.name)
    shown = page_of(new_visitor_at(world))
    sent = {**shown.fields, "email": "new@example.com", "password": "Zebra-kettle-91"}
    direct, generic = of_world.both(Next(step=Step.PROFILE), REGISTER, sent, headers=shown.headers)
    assert_alike(direct, generic, "settings")
    assert direct.is_by_flask
