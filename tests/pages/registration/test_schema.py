"""A tenant's server adds custom fields and changes the registration form; page and operation follow at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt

FIELDS, SCHEMA = "/v2/manage/custom-fields", "/v2/manage/registration-schema"
EMAIL: dict[str, Any] = {"name": "emailid", "rules": "required"}
PASSWORD: dict[str, Any] = {"name": "password", "type": "password", "rules": "required"}
PLAN: dict[str, Any] = {
    "Name": "cf_Plan", "Type": "option", "Display": "Your plan", "Rules": "required",
    "Options": [{"Value": "s", "Text": "Small"}, {"Value": "l", "Text": "Large"}],
}  # fmt: skip
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
    token = machine(server, *(f"profile:{action}" for action in ("read", "create", "update", "delete")))
    return lambda method, path, body=None: ask(server, token, method, path, body)


def registers(server: TenantServer, address: str, **members: Any) -> Any:
    body = {"Email": [{"Type": "Primary", "Value": address}], "Password": "Zebra-kettle-91", **members}
    return server.send("POST", "/identity/v2/auth/register", body, with_secret=False)


def test_custom_field_on_the_form_is_asked_for(
    send: Ask, server: TenantServer, tenant: World, new_visitor_at: NewVisitorAt
) -> None:
    assert refused(send("GET", FIELDS)) == (404, 7928)
    assert answered(send("POST", FIELDS, {"CustomField": "Plan"})) == {"Key": "cf_Plan", "Display": "Plan"}
    assert refused(send("GET", f"{FIELDS}/active")) == (404, 7928)
    assert "Your plan" not in new_visitor_at(tenant).open("/register").text
    (shown,) = answered(send("PUT", FIELDS, {"Data": [PLAN]}))["Data"]
    assert shown == {**PLAN, "Permission": "w", "Checked": True}
    page = new_visitor_at(tenant).open("/register")
    assert "Your plan" in page.text
    assert "Large" in page.text
    assert refused(registers(server, "ada@example.test"))[0] == 400
    assert refused(registers(server, "ada@example.test", CustomFields={"Plan": "xl"}))[0] == 400
    appinfo = answered(server.send("GET", "/ciam/appinfo", with_secret=False))
    assert [item["name"] for item in appinfo["RegistrationFormSchema"]] == ["emailid", "password", "cf_Plan"]


def test_field_of_the_form_is_not_deleted(send: Ask) -> None:
    answered(send("POST", FIELDS, {"CustomField": "Plan"}))
    answered(send("PUT", FIELDS, {"Data": [PLAN]}))
    answer = send("DELETE", f"{FIELDS}/cf_Plan")
    assert refused(answer) == (400, 7900)
    assert "the form asks for it" in answer.get_json()["Description"]
    assert answered(send("PUT", FIELDS, {"Data": []})) == {"Data": []}
    assert answered(send("DELETE", f"{FIELDS}/CF_PLAN")) == {"IsDeleted": True}
    assert refused(send("DELETE", f"{FIELDS}/cf_Plan")) == (404, 7928)


def test_one_key_names_one_field(send: Ask) -> None:
    assert answered(send("POST", FIELDS, {"CustomField": "Shoe size"}))["Key"] == "cf_Shoe_size"
    for display in ("Shoe size", "shoe SIZE", "Shoe_size"):
        assert refused(send("POST", FIELDS, {"CustomField": display})) == (409, 7919)
    for number in range(14):
        answered(send("POST", FIELDS, {"CustomField": f"Field {number}"}))
    assert refused(send("POST", FIELDS, {"CustomField": "The sixteenth"})) == (400, 7900)


def test_unknown_custom_field_is_not_on_the_form(send: Ask) -> None:
    assert refused(send("PUT", FIELDS, {"Data": [PLAN]})) == (400, 7929)
    assert refused(send("PUT", SCHEMA, {"Data": [EMAIL, PASSWORD, {"name": "cf_Plan"}]})) == (400, 7900)


def test_changed_form_is_on_page_and_in_force(
    send: Ask, server: TenantServer, tenant: World, new_visitor_at: NewVisitorAt
) -> None:
    answered(send("POST", FIELDS, {"CustomField": "Age"}))
    age = {"name": "cf_Age", "display": "Your age", "rules": "required|is_natural|greater_than[17]|less_than[120]"}
    shown = answered(send("PUT", SCHEMA, {"Data": [EMAIL, age, PASSWORD, {"name": "company", "Checked": False}]}))
    assert [(item["name"], item["rules"]) for item in shown["Data"]][:2] == [
        ("emailid", "required|valid_email"),
        ("cf_Age", "required|is_natural|greater_than[17]|less_than[120]"),
    ]
    assert answered(send("GET", SCHEMA)) == shown
    assert "Your age" in new_visitor_at(tenant).open("/register").text
    for value in ("17", "120", "18.5", "old"):
        assert refused(registers(server, "ada@example.test", CustomFields={"Age": value}))[0] == 400, value
    assert answered(send("PUT", SCHEMA, {"Data": []}))["Data"][0]["name"] == "emailid"
    assert "Your age" not in new_visitor_at(tenant).open("/register").text


def test_labels_in_other_languages_survive_a_change(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    company = {"name": "company", "label": {"en": "Employer", "de": "Arbeitgeber"}}
    password = {"name": "password", "type": "password", "required": True}
    tenant.change_settings(registration_form=[{"name": "email", "required": True}, company, password])
    form = answered(send("GET", SCHEMA))["Data"]
    answered(send("PUT", SCHEMA, {"Data": form}))
    assert "Arbeitgeber" in replace(new_visitor_at(tenant), language="de").open("/register").text
    form[1]["display"] = "Your employer"
    answered(send("PUT", SCHEMA, {"Data": form}))
    assert "Arbeitgeber" in replace(new_visitor_at(tenant), language="de").open("/register").text
    assert "Your employer" in new_visitor_at(tenant).open("/register").text


@pytest.mark.parametrize(
    ("elements", "named"),
    [
        ([EMAIL], "password"),
        ([PASSWORD], "email"),
        ([EMAIL, EMAIL, PASSWORD], "email once"),
        ([EMAIL, PASSWORD, {"name": "uid"}], "Data.2"),
        ([EMAIL, PASSWORD, {"name": "company", "type": "hidden"}], "type"),
        ([EMAIL, PASSWORD, {"name": "company", "rules": "custom_validation"}], "rules"),
        ([EMAIL, PASSWORD, {"name": "company", "rules": "integer|numeric"}], "rules"),
        ([EMAIL, PASSWORD, {"name": "company", "rules": "min_length[-1]"}], "rules"),
        ([EMAIL, PASSWORD, {"name": "company", "rules": "min_length[5]|max_length[4]"}], "min_length"),
        ([EMAIL, PASSWORD, {"name": "company", "rules": "matches[nothing]"}], "rules"),
        ([EMAIL, PASSWORD, {"name": "company", "type": "option"}], "options"),
        ([EMAIL, PASSWORD, {"name": "company", "Parent": "country"}], "Parent"),
    ],
)
def test_form_that_cannot_be_filled_in_is_refused(send: Ask, elements: list[dict[str, Any]], named: str) -> None:
    before = answered(send("GET", SCHEMA))
    answer = send("PUT", SCHEMA, {"Data": elements})
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
    assert answered(send("GET", SCHEMA)) == before
