"""A usual form post is answered directly, any other by Flask, and a browser cannot tell which (decisions/0284)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.contract import errors as e
from app.contract import hub as contract
from app.contract import hub_second_factors as factors
from app.contract.hub import Next, Step
from app.contract.hub_models import Session
from app.contract.second_factors.challenge import FactorKind
from app.hub.direct_posts import DIRECT
from app.kit.admission import SHED, Shed
from app.kit.operation import AnyOperation
from tests.support.direct_posts import FORM, Comparison, Page, assert_alike, errors, steps
from tests.support.oauth_world import World
from tests.support.visitor import NewVisitor

LOGIN, SECOND_FACTOR = "/login", "/second-factor"
ADA = {"identifier": "ada@example.com", "password": "correct horse 7"}
CODE = {"kind": "totp", "code": "123456", "do": "prove"}


@pytest.mark.parametrize("has_interaction", [True, False], ids=["of an application", "of the tenant"])
@pytest.mark.parametrize(("path", "typed"), [(LOGIN, ADA), (SECOND_FACTOR, CODE)], ids=["password", "code"])
def test_every_step_is_answered_alike(
    compared: Comparison, page: Page, own_page: Page, path: str, typed: dict[str, str], *, has_interaction: bool
) -> None:
    shown = page if has_interaction else own_page
    is_served = has_interaction or path == LOGIN
    for name, step in steps(shown.fields.get("attempt")):
        direct, generic = compared.both(step, path, {**shown.fields, **typed}, headers=shown.headers)
        assert_alike(direct, generic, name)
        assert len(direct.calls) == is_served, name
        status = direct.response.status_code
        assert status < 500, name
        is_page = status != 303 or (path == SECOND_FACTOR and step.step is Step.BACKUP_CODES and not step.problem)
        assert direct.is_by_flask == (is_page or not is_served), name


@pytest.mark.parametrize(
    ("path", "typed", "operation"),
    [(LOGIN, ADA, contract.sign_in), (SECOND_FACTOR, CODE, factors.verify_factor)],
    ids=["password", "code"],
)  # fmt: skip
def test_every_refusal_is_shown_alike(
    compared: Comparison, page: Page, path: str, typed: dict[str, str], operation: AnyOperation
) -> None:
    for name, error in errors(operation):
        direct, generic = compared.both(error, path, {**page.fields, **typed}, headers=page.headers)
        assert_alike(direct, generic, name)
        assert len(direct.calls) == 1, name
        assert direct.is_by_flask, name


REFUSALS = (
    e.AccountLeaving(data={"keep": "a-token", "leaves_at": "2026-12-24"}),
    e.LockedForCaptcha(data={"captcha": None}),
    e.LockedForSecurityQuestion(data={"question_id": "pet"}),
    e.TooManyRequests(retry_after_seconds=5),
)


def test_refusal_with_data_is_shown_alike(compared: Comparison, page: Page) -> None:
    for error in REFUSALS:
        assert_alike(*compared.both(error, LOGIN, {**page.fields, **ADA}, headers=page.headers), type(error).__name__)


USUAL: dict[str, dict[str, str]] = {
    "plain": {},
    "remembered": {"remember": "y"},
    "connecting": {"connects": "yes"},
    "not connecting": {"connects": ""},
    "a password of all letters": {"password": " \u00fc &=+% \u0430 "},
    "spaces": {"identifier": " Ada@Example.com "},
}


def test_usual_sign_in_passes_by_flask(compared: Comparison, page: Page, subtests: pytest.Subtests) -> None:
    step = Next(step=Step.PROFILE, session=Session(token="a-session"))
    for name, typed in USUAL.items():
        with subtests.test(name):
            direct, generic = compared.both(step, LOGIN, {**page.fields, **ADA, **typed}, headers=page.headers)
            assert_alike(direct, generic, name)
            assert not direct.is_by_flask
            assert len(direct.calls) == 1


USUAL_FACTORS = {
    "trusted": {**CODE, "trust": "y"},
    "long": {"kind": "email", "code": "1" * 200},
    "text message": {"kind": "sms", "code": "12 34 56"},
    "backup code": {"kind": "backup_code", "backup_code": "abcde-12345"},
    "questions": {"kind": "questions", "answer.pet": " Rex ", "answer.town": "", "answer.x": "\u00fc" * 600},
}


def test_usual_factor_passes_by_flask(compared: Comparison, page: Page, subtests: pytest.Subtests) -> None:
    kinds = {kind.name.lower(): kind.value for kind in FactorKind}
    for name, typed in USUAL_FACTORS.items():
        with subtests.test(name):
            sent = {**page.fields, **typed, "kind": kinds.get(typed["kind"], typed["kind"])}
            direct, generic = compared.both(Next(step=Step.PROFILE), SECOND_FACTOR, sent, headers=page.headers)
            assert_alike(direct, generic, name)
            assert not direct.is_by_flask
            assert len(direct.calls) == 1


COOKIES = {
    "a session": {"gatehouse_session": "of-someone"},
    "a trusted browser": {"gatehouse_trusted": "of-someone"},
    "other accounts": {"gatehouse_accounts": "one.two"},
    "a language": {"gatehouse_language": "ar"},
    "another method": {"gatehouse_method": "password~mail"},
    "what was typed": {"gatehouse_identifier": "not-decryptable"},
    "an application": {"gatehouse_application": "not-decryptable"},
    "others' cookies": {"theme": "dark", "quoted": '"a\\"b"'},
    "a cookie of no letters": {"theme": "\xff"},
    "six interactions": {f"gatehouse_attempt_{number}": "not-decryptable" for number in range(6)},
}


def test_cookies_of_the_browser_count_alike(compared: Comparison, page: Page, subtests: pytest.Subtests) -> None:
    for name, cookies in COOKIES.items():
        shown, session = page.with_cookies(**cookies), Session(token="a-session")
        for step in (Step.PROFILE, Step.SECOND_FACTOR):
            with subtests.test(f"{name}: {step.value}"):
                outcome = Next(step=step, attempt=page.fields["attempt"], session=session)
                direct, generic = compared.both(outcome, LOGIN, {**shown.fields, **ADA}, headers=shown.headers)
                assert_alike(direct, generic, name)
                assert not direct.is_by_flask


HEADERS = {
    "Arabic": {"Accept-Language": "ar"},
    "no origin": {"Origin": "null"},
    "same origin": {"Sec-Fetch-Site": "same-origin"},
    "gzip": {"Accept-Encoding": "gzip"},
    "another header": {"X-Requested-With": "a script"},
    "a long agent": {"User-Agent": "x" * 1_000},
}


def test_headers_of_the_browser_count_alike(compared: Comparison, page: Page, subtests: pytest.Subtests) -> None:
    step, sent = Next(step=Step.PROFILE), {**page.fields, **ADA}
    for name, headers in HEADERS.items():
        with subtests.test(name):
            direct, generic = compared.both(step, LOGIN, sent, headers={**page.headers, **headers})
            assert_alike(direct, generic, name)
            assert not direct.is_by_flask


UNUSUAL_FIELDS = {
    "no identifier": {"identifier": ""},
    "no password": {"password": ""},
    "a long password": {"password": "x" * 5_000},
    "a long identifier": {"identifier": "x" * 5_000},
    "an answer": {"captcha_asked": "widget", "captcha_proof": "x"},
    "a question": {"security_question": "pet", "security_answer": "Rex"},
    "another field": {"extra": "1"},
    "another account": {"shown_uid": "of-someone"},
    "another box": {"remember": "yes"},
    "no token": {"token": ""},
    "another token": {"token": "A" * 43},
    "another interaction": {"attempt": "unknown"},
    "too much": {"identifier": "x" * 70_000},
}


def test_unusual_field_is_for_flask(compared: Comparison, page: Page, subtests: pytest.Subtests) -> None:
    for name, typed in UNUSUAL_FIELDS.items():
        with subtests.test(name):
            sent = {**page.fields, **ADA, **typed}
            direct, generic = compared.both(Next(step=Step.PROFILE), LOGIN, sent, headers=page.headers)
            assert_alike(direct, generic, name)
            assert direct.is_by_flask


UNUSUAL_FACTORS = {
    "another factor": {"do": "choose"},
    "no code": {"code": ""},
    "unknown kind": {"kind": "unknown"},
    "no kind": {"kind": ""},
    "passkey": {"kind": "passkey"},
    "another token": {"token": "A" * 43},
    "another field": {"extra": "1"},
}


def test_unusual_factor_is_for_flask(compared: Comparison, page: Page, subtests: pytest.Subtests) -> None:
    for name, typed in UNUSUAL_FACTORS.items():
        with subtests.test(name):
            sent = {**page.fields, **CODE, **typed}
            direct, generic = compared.both(Next(step=Step.PROFILE), SECOND_FACTOR, sent, headers=page.headers)
            assert_alike(direct, generic, name)
            assert direct.is_by_flask


def test_form_without_the_browsers_secret_is_for_flask(compared: Comparison, own_page: Page) -> None:
    sent = {**own_page.fields, **ADA}
    direct, generic = compared.both(Next(step=Step.PROFILE), LOGIN, sent, headers={"Accept-Language": "en"})
    assert_alike(direct, generic, "no secret")
    assert direct.is_by_flask
    assert direct.response.status_code == 403
    assert not direct.calls


REQUESTS: dict[str, dict[str, Any]] = {
    "a query": {"path": "/login?lang=de"},
    "a slash": {"path": "/login/"},
    "another content type": {"content_type": "multipart/form-data"},
    "a charset": {"content_type": f"{FORM}; charset=utf-8"},
    "JSON": {"content_type": "application/json", "form": b"{}"},
    "not encoded": {"form": "identifier=\u00fc&password=x".encode()},
    "encoded wrong": {"form": b"identifier=%FF&password=x"},
    "twice": {"form": b"identifier=a&identifier=b&password=x"},
    "no body": {"form": b""},
    "another origin": {"headers": {"Origin": "https://evil.example"}},
    "another site": {"headers": {"Sec-Fetch-Site": "cross-site"}},
    "a full queue": {SHED: Shed(429, 3)},
    "another length": {"CONTENT_LENGTH": "10"},
}


def test_unusual_request_is_for_flask(compared: Comparison, page: Page, subtests: pytest.Subtests) -> None:
    for name, changed in REQUESTS.items():
        with subtests.test(name):
            asked = {"path": LOGIN, "form": {**page.fields, **ADA}, **changed}
            asked["headers"] = {**page.headers, **asked.get("headers", {})}
            direct, generic = compared.both(Next(step=Step.PROFILE), **asked)
            assert_alike(direct, generic, name)
            assert direct.is_by_flask


def test_path_in_capitals_passes_by_flask(compared: Comparison, page: Page) -> None:
    sent = {**page.fields, **ADA}
    direct, generic = compared.both(Next(step=Step.PROFILE), "/Login", sent, headers=page.headers)
    assert_alike(direct, generic, "capitals")
    assert not direct.is_by_flask


@pytest.mark.parametrize("is_known", [True, False], ids=["due to be checked", "unknown host"])
def test_tenant_that_must_be_asked_for_is_for_flask(
    compared: Comparison, page: Page, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    if is_known:
        monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", -1)
    else:
        compared.base_url = "http://nobody-here.localhost:8000"
    direct, generic = compared.both(Next(step=Step.PROFILE), LOGIN, {**page.fields, **ADA}, headers=page.headers)
    assert_alike(direct, generic, "tenant")
    assert direct.is_by_flask


def test_broken_direct_post_is_logged_and_answered(
    compared: Comparison, page: Page, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_after_the_call(post: Any) -> Any:
        before[LOGIN].answer(post)
        raise ZeroDivisionError

    before = dict(DIRECT)
    monkeypatch.setitem(DIRECT, LOGIN, replace(DIRECT[LOGIN], answer=break_after_the_call))
    direct, generic = compared.both(Next(step=Step.PROFILE), LOGIN, {**page.fields, **ADA}, headers=page.headers)
    assert_alike(direct, generic, "broken")
    assert direct.is_by_flask
    assert len(direct.calls) == 1
    assert "direct_answer.broke" in caplog.text


def test_new_visitors_wrong_password_is_counted_once(world: World, new_visitor: NewVisitor) -> None:
    ada = world.person("ada@example.com")
    shown = new_visitor().open(LOGIN)
    assert shown.press("Sign in", identifier=ada.email, password="wrong").cost["api"] == 1
