"""Whatever the identity service answers to a form or an authorization request, the browser gets a page or a redirect."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract import errors
from app.contract.oauth.pages import authorization_pages
from app.contract.recovery.recovery_pages import forgot
from app.contract.registration.registration_pages import register
from app.contract.second_factors.pages import second_factor_pages
from app.contract.sign_in import sign_in_pages
from app.contract.steps import ProfileStep, StepResponse
from app.kit.operations.operation import AnyOperation
from tests.support.oauth.world import World
from tests.support.visitors.scripted_answers import Page, ScriptedHub, errors_of, page_of, steps
from tests.support.visitors.visitor import Visitor

AUTHORIZE = (
    "/service/oidc/authorize?response_type=code&client_id=shop&redirect_uri=https://shop.example/cb&scope=openid"
)
ADA = {"identifier": "ada@example.com", "password": "correct horse 7"}
FORMS: dict[str, tuple[AnyOperation, dict[str, str]]] = {
    "/login": (sign_in_pages.sign_in, ADA),
    "/second-factor": (second_factor_pages.verify_factor, {"kind": "totp", "code": "123456", "do": "prove"}),
    "/register": (register, {"email": "ada@example.com", "password": "correct horse 7"}),
    "/forgot-password": (forgot, {"identifier": "ada@example.com"}),
}
BROKEN = "a page broke"


@pytest.fixture
def pages(world: World, visitor: Visitor) -> dict[str, Page]:
    """The page of each form, in an interaction of an application."""
    shown = page_of(visitor, visitor.authorize(world.application("shop", client_name="Acme Shop")).address)
    attempt = f"?attempt={shown.fields['attempt']}"
    return {
        "/login": shown,
        "/second-factor": shown,
        "/register": page_of(visitor, f"/register{attempt}", "Create account"),
        "/forgot-password": page_of(visitor, f"/forgot-password{attempt}", "Send reset link"),
    }


@pytest.mark.parametrize("path", FORMS)
def test_every_step_of_a_form_leads_on(
    scripted: ScriptedHub, pages: dict[str, Page], path: str, caplog: pytest.LogCaptureFixture
) -> None:
    shown, typed = pages[path], FORMS[path][1]
    for name, step in steps(shown.fields.get("attempt")):
        answer = scripted.post(step, path, {**shown.fields, **typed}, headers=shown.headers)
        assert answer.status in (200, 303, 400, 410), name
        assert [call.operation for call in answer.calls] == [FORMS[path][0].name], name
        assert (answer.status == 303) == ("Location" in answer.response.headers), name
    assert BROKEN not in caplog.text


@pytest.mark.parametrize("path", FORMS)
def test_every_refusal_of_a_form_has_a_page(scripted: ScriptedHub, pages: dict[str, Page], path: str) -> None:
    operation, typed = FORMS[path]
    for name, error in errors_of(operation):
        answer = scripted.post(error, path, {**pages[path].fields, **typed}, headers=pages[path].headers)
        assert answer.status >= 400 or "Location" in answer.response.headers, name
        assert len(answer.calls) == 1, name
        assert answer.response.content_type.startswith("text/html"), name


@pytest.mark.parametrize("begins", [True, False], ids=["begins", "passes"])
def test_every_step_of_an_authorization_leads_on(
    scripted: ScriptedHub, pages: dict[str, Page], caplog: pytest.LogCaptureFixture, *, begins: bool
) -> None:
    headers = pages["/login"].headers
    for name, step in steps("begun" if begins else None):
        result = step.model_copy(update={"binding": "its-secret"}) if begins else step
        answer = scripted.get(result, AUTHORIZE, headers=headers)
        assert answer.status in (200, 302, 400, 410), name
        assert len(answer.calls) == 1, name
    assert BROKEN not in caplog.text


def test_every_refusal_of_an_authorization_has_a_page(scripted: ScriptedHub, pages: dict[str, Page]) -> None:
    for name, error in errors_of(authorization_pages.authorize):
        answer = scripted.get(error, AUTHORIZE, headers=pages["/login"].headers)
        assert answer.status >= 400 or "Location" in answer.response.headers, name
        assert len(answer.calls) == 1, name
        assert answer.response.content_type.startswith("text/html"), name


REFUSALS: dict[type[Exception], tuple[Any, int, str]] = {
    errors.AccountLeaving: (errors.AccountLeaving(data={"keep": "a-token", "leaves_at": "2026-12-24"}), 403, "a-token"),
    errors.LockedForCaptcha: (errors.LockedForCaptcha(data={"captcha": None}), 403, "Enter your password again"),
    errors.LockedForSecurityQuestion: (errors.LockedForSecurityQuestion(data={"question_id": "pet"}), 403, "locked"),
    errors.TooManyRequests: (errors.TooManyRequests(retry_after_seconds=5), 429, "Too many"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_refusal_shows_what_it_brings(scripted: ScriptedHub, pages: dict[str, Page], kind: type[Exception]) -> None:
    error, status, shown = REFUSALS[kind]
    page = pages["/login"]
    answer = scripted.post(error, "/login", {**page.fields, **ADA}, headers={**page.headers, "Accept-Language": "en"})
    assert answer.status == status
    assert shown in answer.response.get_data(as_text=True)


def test_step_reaches_the_address_with_all_that_was_typed(scripted: ScriptedHub, pages: dict[str, Page]) -> None:
    page, typed = pages["/login"], {"identifier": " Ada@Example.com ", "password": " \u00fc &=+% \u0430 "}
    answer = scripted.post(
        StepResponse(step=ProfileStep()), "/login", {**page.fields, **typed, "remember": "y"}, headers=page.headers
    )
    request = answer.calls[0].request
    assert (request.identifier, request.password, request.remember) == (*typed.values(), True)
    assert answer.response.headers["Location"] == "/profile"
