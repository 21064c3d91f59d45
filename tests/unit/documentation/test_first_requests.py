"""The first requests of the API reference outside the demo, and the code that a sign-in brings back in it."""

import re
from functools import cache
from typing import Any

import pytest
from werkzeug.test import Client

from app.reference import Reference, Trial
from app.reference.first_requests import FIRST_REQUESTS
from app.reference.pages import Pages
from app.settings import Settings
from tests.support.documentation.reference import client, get
from tests.support.operations.published import API_URL, published_interface


@pytest.mark.parametrize("path", FIRST_REQUESTS)
def test_page_has_three_steps_without_secrets(path: str) -> None:
    text = get(path).text
    assert len(re.findall(r'<li class="step">', text)) == 3
    assert "environment variables" in text
    assert path in get("/docs").text


@cache
def trial_client() -> Client:
    """Return a client of the demo's reference; the application behind it answers 418 to everything."""

    def other_app(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("418 I'm a teapot", [])
        return [b"{}"]

    trial = Trial("acme", public_client="first", machine_client="server:secret")
    reference = Reference(other_app, Settings(hub_domain="example.com"), trial)
    reference._pages = Pages(published_interface(), trial, "http://acme.example.com")
    return Client(reference)


def unmarked(text: str) -> str:
    """Return a page without the marks of its code's colors."""
    return re.sub(r'<span class="(?:string|option)">(.*?)</span>', r"\1", text)


def test_code_of_a_sign_in_is_shown_and_not_stored() -> None:
    answer = trial_client().get("/docs/first-sign-in?code=abcdefgh12345678&state=x", base_url=API_URL)
    assert "-d code=abcdefgh12345678" in unmarked(answer.text)
    assert answer.headers["Cache-Control"] == "no-store"
    assert "abcdefgh12345678" not in trial_client().get("/docs/first-sign-in", base_url=API_URL).text


@pytest.mark.parametrize("code", ["short", "%22%3E%3Cscript%3Ealert(1)", "a;rm%20-rf%20x", "$(id)aaaaaaaa", "a" * 600])
def test_code_that_is_none_is_left_out(code: str) -> None:
    answer = trial_client().get(f"/docs/first-sign-in?code={code}", base_url=API_URL)
    assert "-d code=$CODE" in unmarked(answer.text)
    assert answer.headers["Cache-Control"] == "public, max-age=300"


def test_token_that_is_refused_or_of_no_trial_is_not_found() -> None:
    for scheme in ("MachineToken", "AccessToken", "ApiSecret"):
        answer = trial_client().post(f"/docs/tokens/{scheme}", base_url=API_URL)
        assert (answer.status_code, answer.json) == (404, {"token": ""})
    assert client().post("/docs/tokens/MachineToken", base_url=API_URL).status_code == 418
