"""Requests as no page of ours sends them: each is read by one rule, and none breaks a page."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.steps import ProfileStep, StepResponse
from app.kit.limits.queue_slot import SHED, LoadShed
from tests.support.oauth.world import World
from tests.support.visitors.scripted_answers import FORM, Page, ScriptedHub, page_of
from tests.support.visitors.visitor import Visitor

ADA = {"identifier": "ada@example.com", "password": "correct horse 7"}
PROFILE = StepResponse(step=ProfileStep())
FIELDS: dict[str, tuple[dict[str, str], int]] = {
    "no identifier": ({"identifier": ""}, 422),
    "no password": ({"password": ""}, 422),
    "a long password": ({"password": "x" * 5_000}, 422),
    "a long identifier": ({"identifier": "x" * 5_000}, 422),
    "another field": ({"extra": "1"}, 303),
    "another account": ({"shown_uid": "of-someone"}, 303),
    "another box": ({"remember": "yes"}, 303),
    "no token": ({"token": ""}, 403),
    "another token": ({"token": "A" * 43}, 403),
    "another interaction": ({"attempt": "unknown"}, 410),
    "too much": ({"identifier": "x" * 70_000}, 413),
}
REQUESTS: dict[str, tuple[dict[str, Any], int]] = {
    "a query": ({"path": "/login?lang=de"}, 303),
    "a slash": ({"path": "/login/"}, 303),
    "capitals": ({"path": "/LogIn"}, 303),
    "parts": ({"content_type": "multipart/form-data"}, 303),
    "parts without a boundary": ({"content_type": "multipart/form-data", "form": b"x=1"}, 403),
    "a charset": ({"content_type": f"{FORM}; charset=utf-8"}, 303),
    "JSON": ({"content_type": "application/json", "form": b"{}"}, 403),
    "not encoded": ({"form": "identifier=\u00fc&password=x".encode()}, 403),
    "encoded wrong": ({"form": b"identifier=%FF&password=x"}, 403),
    "no body": ({"form": b""}, 403),
    "another origin": ({"headers": {"Origin": "https://evil.example"}}, 403),
    "another site": ({"headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
    "a full queue of its own": ({"environ": {SHED: LoadShed(429, 3)}}, 429),
    "a full queue": ({"environ": {SHED: LoadShed(503, 3)}}, 503),
    "a longer length": ({"environ": {"CONTENT_LENGTH": "100000"}}, 413),
}
ADDRESSES: dict[str, tuple[dict[str, Any], int]] = {
    "a parameter twice": ({"path": "/login?needs=a&needs=b"}, 200),
    "not UTF-8": ({"path": "/login?identifier=%FF"}, 200),
    "not encoded": ({"environ": {"QUERY_STRING": "needs=\u00c3\u00bc"}}, 200),
    "a slash": ({"path": "/login/"}, 200),
    "two slashes": ({"environ": {"PATH_INFO": "//login"}}, 200),
    "a body": ({"environ": {"CONTENT_LENGTH": "3"}}, 200),
    "a full queue": ({"environ": {SHED: LoadShed(429, 3)}}, 429),
    "the head alone": ({"method": "HEAD"}, 200),
    "its options": ({"method": "OPTIONS"}, 200),
    "another method": ({"method": "DELETE"}, 405),
    "an unknown page": ({"path": "/login/unknown"}, 404),
    "an unknown interaction": ({"path": "/login?attempt=unknown"}, 410),
    "no interaction": ({"path": "/login?attempt="}, 200),
}


@pytest.fixture
def page(world: World, visitor: Visitor) -> Page:
    """The sign-in page of an application."""
    return page_of(visitor, visitor.authorize(world.application("shop")).address)


@pytest.mark.parametrize("name", FIELDS)
def test_odd_field_of_a_form(scripted: ScriptedHub, page: Page, name: str) -> None:
    typed, status = FIELDS[name]
    answer = scripted.post(PROFILE, "/login", {**page.fields, **ADA, **typed}, headers=page.headers)
    assert (answer.status, len(answer.calls)) == (status, status == 303)


@pytest.mark.parametrize("name", REQUESTS)
def test_odd_post(scripted: ScriptedHub, page: Page, name: str) -> None:
    changed, status = REQUESTS[name]
    parameters = {"path": "/login", "form": {**page.fields, **ADA}, **changed}
    parameters["headers"] = {**page.headers, **parameters.get("headers", {})}
    answer = scripted.post(PROFILE, **parameters)
    assert (answer.status, len(answer.calls)) == (status, status == 303)


@pytest.mark.parametrize("name", ADDRESSES)
def test_odd_address(scripted: ScriptedHub, page: Page, name: str, caplog: pytest.LogCaptureFixture) -> None:
    changed, status = ADDRESSES[name]
    answer = scripted.get(None, **{"path": "/login", **changed}, headers=page.headers)
    assert answer.status == status
    assert "a page broke" not in caplog.text
    assert answer.response.headers["X-Frame-Options"] == "DENY"
    if status == 405 or changed.get("method") == "OPTIONS":
        assert {"GET", "POST"} <= set(answer.response.headers["Allow"].split(", "))


def test_first_of_repeated_fields_counts(scripted: ScriptedHub, page: Page) -> None:
    fields = "&".join(f"{name}={text}" for name, text in page.fields.items())
    body = f"{fields}&identifier=a%40example.com&identifier=b%40example.com&password=x&password=y".encode()
    request = scripted.post(PROFILE, "/login", body, headers=page.headers).calls[0].request
    assert (request.identifier, request.password) == ("a@example.com", "x")


def test_form_without_the_secret_of_its_browser_is_refused(scripted: ScriptedHub, page: Page) -> None:
    answer = scripted.post(PROFILE, "/login", {**page.fields, **ADA}, headers={"Accept-Language": "en"})
    assert (answer.status, answer.calls) == (303, [])
    assert "cookies=asked" in answer.response.headers["Location"]
