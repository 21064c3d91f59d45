"""A usual authorization request is answered directly, any other by Flask, and a browser cannot tell which (decisions/0290)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from app.contract import hub as contract
from app.contract.hub import Next, Step
from app.contract.hub_models import Session
from app.hub.direct_queries import DIRECT, Query
from app.kit.admission import SHED, Shed
from tests.pages.test_direct_posts import ADA, COOKIES
from tests.support.direct_posts import Comparison, Page, assert_alike, errors, steps
from tests.support.oauth_world import World
from tests.support.visitor import Visitor

AUTHORIZE = "/service/oidc/authorize"
PARAMETERS = {
    "response_type": "code", "client_id": "shop", "redirect_uri": "https://shop.example/cb?x=1&y=\u00fc", "scope": "openid email",
    "state": "a b+c%20<>&=;", "nonce": "", "ui_locales": "de ar",
}  # fmt: skip
ASKED = f"{AUTHORIZE}?{urlencode(PARAMETERS)}"
SENT_ON = Next(step=Step.REDIRECT, address="https://shop.example/cb?code=a&state=b", browser_state="a.state")


@pytest.mark.parametrize("with_interaction", [True, False], ids=["begins", "passes"])
def test_every_step_is_answered_alike(compared: Comparison, page: Page, *, with_interaction: bool) -> None:
    for name, step in steps("begun" if with_interaction else None):
        outcome = step.model_copy(update={"binding": "its-secret"}) if with_interaction else step
        direct, generic = compared.both_get(outcome, ASKED, headers=page.headers)
        assert_alike(direct, generic, name)
        assert len(direct.calls) == 1, name
        assert direct.is_by_flask == (direct.response.status_code != 302), name


def test_every_refusal_is_shown_alike(compared: Comparison, page: Page) -> None:
    for name, error in errors(contract.authorize):
        direct, generic = compared.both_get(error, ASKED, headers=page.headers)
        assert_alike(direct, generic, name)
        assert len(direct.calls) == 1, name
        assert direct.is_by_flask, name


@pytest.mark.parametrize("protocol", ["oidc", "oauth"])
def test_operation_gets_the_same_parameters(compared: Comparison, page: Page, protocol: str) -> None:
    direct, generic = compared.both_get(SENT_ON, ASKED.replace("oidc", protocol), headers=page.headers)
    assert_alike(direct, generic, protocol)
    assert not direct.is_by_flask
    request = direct.calls[0].request
    assert (request.protocol, request.app, dict(request.parameters)) == (protocol, None, PARAMETERS)


@pytest.mark.parametrize("name", COOKIES)
def test_cookies_of_the_browser_count_alike(compared: Comparison, page: Page, name: str) -> None:
    shown, renewed = page.with_cookies(**COOKIES[name]), SENT_ON.model_copy(update={"session": Session(token="new")})
    for outcome in (SENT_ON, renewed, Next(step=Step.LOGIN, attempt="begun", binding="its-secret")):
        direct, generic = compared.both_get(outcome, ASKED, headers=shown.headers)
        assert_alike(direct, generic, name)
        assert not direct.is_by_flask


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept-Language": "ar"}, {"Accept-Encoding": "gzip"}, {"Cookie": ""}, {"User-Agent": "x" * 1_000},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
    ],
    ids=["Arabic", "gzip", "no cookie", "a long agent", "another site"],
)  # fmt: skip
def test_headers_of_the_browser_count_alike(compared: Comparison, page: Page, headers: dict[str, str]) -> None:
    direct, generic = compared.both_get(SENT_ON, ASKED, headers={**page.headers, **headers})
    assert_alike(direct, generic, "headers")
    assert not direct.is_by_flask


UNUSUAL: dict[str, dict[str, Any]] = {
    "an invitation": {"path": f"{ASKED}&invitation_token=a"},
    "an empty invitation": {"path": f"{ASKED}&invitation_token="},
    "twice": {"path": f"{ASKED}&state=b"},
    "another language": {"path": f"{ASKED}&lang=ar"},
    "a language": {"path": f"{ASKED}&language=ar"},
    "an interaction": {"path": f"{ASKED}&attempt=a"},
    "not UTF-8": {"path": f"{AUTHORIZE}?state=%FF"},
    "not encoded": {"QUERY_STRING": "state=\u00c3\u00bc"},
    "an application": {"path": ASKED.replace("/authorize", "/shop/authorize")},
    "a slash": {"path": ASKED.replace("/authorize", "/authorize/")},
    "a body": {"CONTENT_LENGTH": "3"},
    "a full queue": {SHED: Shed(429, 3)},
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_request_is_for_flask(compared: Comparison, page: Page, name: str) -> None:
    asked = {"path": ASKED, **UNUSUAL[name]}
    asked["headers"] = {**page.headers, **asked.get("headers", {})}
    direct, generic = compared.both_get(SENT_ON, **asked)
    assert_alike(direct, generic, name)
    assert direct.is_by_flask


@pytest.mark.parametrize("is_known", [True, False], ids=["due to be checked", "unknown host"])
def test_tenant_that_must_be_asked_for_is_for_flask(
    compared: Comparison, page: Page, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    if is_known:
        monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", -1)
    else:
        compared.base_url = "http://nobody-here.localhost:8000"
    direct, generic = compared.both_get(SENT_ON, ASKED, headers=page.headers)
    assert_alike(direct, generic, "tenant")
    assert direct.is_by_flask


def test_broken_direct_answer_is_logged_and_answered(
    compared: Comparison, page: Page, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = DIRECT[AUTHORIZE]

    def break_after_the_call(query: Query) -> Any:
        before(query)
        raise ZeroDivisionError

    monkeypatch.setitem(DIRECT, AUTHORIZE, break_after_the_call)
    direct, generic = compared.both_get(SENT_ON, ASKED, headers=page.headers)
    assert_alike(direct, generic, "broken")
    assert direct.is_by_flask
    assert len(direct.calls) == 1
    assert "direct_answer.broke" in caplog.text


@pytest.mark.usefixtures("direct_and_flask")
def test_signed_in_person_returns_with_a_code(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ADA["password"])
    callback = visitor.authorize(shop, state="another")
    assert callback.address.startswith(shop.redirect_uri)
    assert callback.query["state"] == "another"
    assert callback.query["code"]
