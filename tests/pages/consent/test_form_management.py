"""A tenant's server writes consent forms, publishes and disables them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

FORMS = "/v2/manage/consent/forms"
PASSWORD = "correct horse 7"
STEP = "Your consent"
TERMS: dict[str, Any] = {"ConsentOptionId": "terms", "Title": {"en": "Terms of use"}, "IsMandatory": True}
NEWS: dict[str, Any] = {"ConsentOptionId": "news", "Title": {"en": "News by email"}}
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(
        "app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1
    )  # as if five seconds had passed before each page
    return new_world()


@pytest.fixture
def server(tenant: World, identity_app: Flask) -> TenantServer:
    return TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, "")


@pytest.fixture
def send(server: TenantServer) -> Ask:
    token = machine(server, *(f"consent:{action}" for action in ("read", "create", "update", "delete")))
    return lambda method, path="", body=None: ask(server, token, method, f"{FORMS}{path}", body)


@pytest.fixture
def sign_in(tenant: World, new_visitor_at: NewVisitorAt) -> Callable[[], VisitedPage]:
    ada = tenant.person("ada@example.com")

    def sign_in() -> VisitedPage:
        return new_visitor_at(tenant).open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)

    return sign_in


def draft(send: Ask, event: str = "FirstLogin", *options: dict[str, Any], **members: Any) -> dict[str, Any]:
    made: dict[str, Any] = answered(send("POST", body={"Event": event, "Options": list(options) or [TERMS], **members}))
    return made


def set_status(send: Ask, form: dict[str, Any], status: str) -> Any:
    return send("PUT", f"/{form['Id']}/status", {"Status": status})


def statuses(send: Ask) -> list[tuple[str, int, str]]:
    return [(item["Event"], item["Version"], item["Status"]) for item in answered(send("GET"))["Data"]]


def test_published_form_is_asked_for_and_disabled_one_is_not(send: Ask, sign_in: Callable[[], VisitedPage]) -> None:
    form = draft(send, "FirstLogin", TERMS, NEWS)
    assert (form["Status"], form["Version"], form["IsCustom"]) == ("Draft", 1, False)
    assert sign_in().heading != STEP, "a draft is not in force"
    published = answered(set_status(send, form, "Published"))
    assert published["Status"] == "Published"
    page = sign_in()
    assert page.heading == STEP
    assert "Terms of use" in page.text
    assert "News by email" in page.text
    assert answered(set_status(send, form, "Disabled"))["Status"] == "Disabled"
    assert sign_in().heading != STEP


def test_operations_ask_for_the_published_form(send: Ask, server: TenantServer, tenant: World) -> None:
    ada = tenant.person("ada@example.com")
    sign_in = {"email": ada.email, "password": PASSWORD}
    form = draft(send)
    assert answered(server.send("POST", "/identity/v2/auth/login", sign_in, with_secret=False))["access_token"]
    answered(set_status(send, form, "Published"))
    assert refused(server.send("POST", "/identity/v2/auth/login", sign_in, with_secret=False)) == (403, 1226)


def test_next_version_replaces_the_published_one(send: Ask) -> None:
    first = draft(send)
    answered(set_status(send, first, "Published"))
    second = draft(send, Title={"en": "New terms"})
    assert statuses(send) == [("FirstLogin", 1, "Published"), ("FirstLogin", 2, "Draft")]
    answered(set_status(send, second, "Published"))
    assert statuses(send) == [("FirstLogin", 1, "Disabled"), ("FirstLogin", 2, "Published")]
    answered(set_status(send, first, "Disabled"))
    assert statuses(send) == [("FirstLogin", 1, "Disabled"), ("FirstLogin", 2, "Published")]
    answered(set_status(send, first, "Published"))
    assert statuses(send) == [("FirstLogin", 1, "Published"), ("FirstLogin", 2, "Disabled")]


def test_answered_forms_are_neither_changed_nor_deleted(send: Ask) -> None:
    form = draft(send)
    for status in ("Published", "Disabled"):
        answered(set_status(send, form, status))
        assert refused(send("PUT", f"/{form['Id']}", {"Options": [NEWS]})) == (403, 1224)
        assert refused(send("DELETE", f"/{form['Id']}")) == (403, 1224)
    (form,) = answered(send("GET"))["Data"]
    assert [item["ConsentOptionId"] for item in form["Options"]] == ["terms"]


def test_contradicting_status_is_refused_and_changes_nothing(send: Ask) -> None:
    login = draft(send, "Login")
    assert refused(set_status(send, login, "Disabled")) == (400, 7900)
    answer = set_status(send, login, "Published")
    assert refused(answer) == (400, 7900)
    assert "FirstLogin" in answer.get_json()["Description"]
    assert statuses(send) == [("Login", 1, "Draft")]
    first = draft(send)
    for form in (first, login):
        answered(set_status(send, form, "Published"))
    assert refused(set_status(send, first, "Disabled")) == (400, 7900)
    assert refused(set_status(send, {"Id": "unknown"}, "Published")) == (403, 1224)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"Event": "login", "Options": [TERMS]}, "Event"),
        ({"Event": "a b", "Options": [TERMS]}, "Event"),
        ({"Event": "Login", "Options": []}, "Options"),
        ({"Event": "Login", "Options": [TERMS, TERMS]}, "Options"),
        ({"Event": "Login", "Options": [{**TERMS, "Title": {}}]}, "Title"),
        ({"Event": "Login", "Options": [{**TERMS, "Link": "javascript:alert(1)"}]}, "Link"),
        ({"Event": "Login", "Options": [{**TERMS, "Title": {"en": "x" * 301}}]}, "Title"),
    ],
)
def test_malformed_form_is_refused(send: Ask, body: dict[str, Any], named: str) -> None:
    answer = send("POST", body=body)
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
    assert statuses(send) == []


def test_form_of_the_file_is_listed_and_disabled(send: Ask, tenant: World) -> None:
    tenant.change_settings(
        consent_forms=[{"event": "Survey", "version": 7, "options": [{"id": "a", "title": {"en": "A"}}]}]
    )
    (stated,) = answered(send("GET"))["Data"]
    assert (stated["Id"], stated["Status"], stated["IsCustom"]) == ("Survey-7", "Published", True)
    assert draft(send, "Survey")["Version"] == 8
    answered(set_status(send, stated, "Disabled"))
    assert statuses(send) == [("Survey", 8, "Draft"), ("Survey", 7, "Disabled")]
