"""Tenant rules apply to the body as it is stored: other spellings and unknown members do not bypass them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.registering import UNLIMITED, register
from tests.support.accounts.self_service import OWN, ProfilePerson
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

FORM = [
    {"name": "email", "required": True},
    {"name": "first_name", "required": True, "max_length": 5},
    {"name": "city", "type": "option", "options": [{"value": "bonn"}]},
    {"name": "cf_shoe", "required": True, "rule": "integer"},
    {"name": "terms", "type": "multi", "required": True},
    {"name": "password", "type": "password", "required": True},
]
GOOD: dict[str, Any] = {"FirstName": "Ada", "CustomFields": {"shoe": "38"}, "AcceptPrivacyPolicy": True}
MANAGED, PUBLIC = "/identity/v2/manage/registrationdata", "/identity/v2/auth/registrationdata/school"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"FirstName": "Augusta", "firstname": "Ada"}, (403, 1134)),
        ({"FirstName": "Augusta", "first_name": "Ada"}, (403, 1134)),
        ({"City": "cologne", "city": "bonn"}, (403, 1134)),
        ({"CustomFields": {"shoe": "wide"}, "customfields": {"shoe": "38"}}, (403, 1134)),
        ({"FirstName": None, "First_Name": "Ada"}, (400, 908)),
        ({"Email": None, "UserName": "countess", "e_mail": "ada@example.test"}, (400, 1038)),
        ({"AcceptPrivacyPolicy": None, "Terms": "true"}, (403, 1196)),
    ],
)  # fmt: skip
def test_registration_rules_apply_to_normalized_body(
    new_tenant_server: NewTenantServer, members: dict[str, Any], expected: tuple[int, int]
) -> None:
    acme = new_tenant_server(limits=UNLIMITED, registration_form=FORM, custom_fields=["shoe"])
    email = [{"Type": "Primary", "Value": "ada@example.test"}]
    body = {name: value for name, value in {"Email": email, **GOOD, **members}.items() if value is not None}
    assert refused(register(acme, None, **body)) == expected


def test_update_rules_apply_to_normalized_body(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(registration_form=FORM, custom_fields=["shoe"])
    ada = ProfilePerson(acme, FirstName="Ada", CustomFields={"shoe": "38"})
    for body in ({"FirstName": "Augusta", "firstname": "Ada"}, {"City": "cologne", "city": "bonn"}):
        assert ada.refusal("PUT", OWN, body) == (403, 1134)
    assert ada.refusal("PUT", OWN, {"CustomFields": None}, nullsupport="true") == (403, 1134)
    assert ada.update({"CustomFields": None})["CustomFields"] == {"shoe": "38"}


def test_duplicate_spelling_does_not_bypass_code(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED)
    school = {"type": "school", "key": "a", "value": "A", "code": "s3cret"}
    answered(acme.send("POST", MANAGED, {"Data": [school]}))
    (school_entry,) = acme.send("GET", PUBLIC, with_secret=False).get_json()
    link = {"Data": [{"DataSource": "school", "Value": {"Id": school_entry["Id"]}}]}
    duplicated: dict[str, Any] = {"registrationdata": {"Data": []}, "RegistrationData": link}
    assert refused(register(acme, **duplicated)) == (403, 1157)
    ada = ProfilePerson(acme)
    assert ada.refusal("PUT", OWN, duplicated) == (403, 1157)
    assert answered(acme.send("GET", f"{MANAGE}/{ada.uid}"))["RegistrationData"] is None


@pytest.fixture
def tenant_with_questions(new_tenant_server: NewTenantServer) -> TenantServer:
    lockout = {"type": "security_question", "maximum_failed_attempts": 1}
    return new_tenant_server(limits=UNLIMITED, security_questions={"pet": "First pet?"}, lockout=lockout)


LONG = "a" + "\u0300\u0316" * 300
"""Normalizing two alternating combining marks costs the square of the text's length."""


def test_overlong_security_answer_is_refused(tenant_with_questions: TenantServer) -> None:
    answers = {"pet": LONG}
    assert refused(register(tenant_with_questions, SecurityQuestionAnswer=answers)) == (400, 908)
    ada = ProfilePerson(tenant_with_questions, SecurityQuestionAnswer={"pet": "Rex"})
    assert ada.refusal("PUT", OWN, {"SecurityQuestionAnswer": answers}) == (400, 908)
    wrong = {"email": ada.email, "password": "wrong", "securityanswer": answers}
    assert refused(tenant_with_questions.send("POST", "/identity/v2/auth/login", wrong, with_secret=False)) == (
        400,
        908,
    )
    unlocked = ada.send("PUT", "/identity/v2/auth/account/unlock", {"securityanswer": answers})
    assert refused(unlocked) == (400, 908)


def test_custom_field_registers_by_the_name_of_the_schema(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, registration_form=FORM, custom_fields=["shoe"])
    schema = answered(acme.send("GET", "/ciam/appinfo", with_secret=False))["RegistrationFormSchema"]
    (name,) = [item["name"] for item in schema if item["name"].startswith("cf_")]
    body = {**GOOD, "Email": [{"Type": "Primary", "Value": "ada@example.test"}]}
    assert refused(register(acme, None, **{**body, "CustomFields": {name: "wide"}})) == (403, 1134), "the rule holds"
    assert refused(register(acme, None, **{**body, "CustomFields": {name: " "}})) == (400, 908), "it is required"
    assert refused(register(acme, None, **{**body, "CustomFields": {name: "38", "shoe": "39"}})) == (400, 908)
    assert refused(register(acme, None, **{**body, "CustomFields": {"cf_cf_shoe": "38"}})) == (400, 908)
    answered(register(acme, None, **{**body, "CustomFields": {name: "38"}}))
    found = answered(acme.send("GET", MANAGE, email="ada@example.test"))
    assert found["CustomFields"] == {"shoe": "38"}


def test_custom_field_updates_by_the_name_of_the_schema(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(custom_fields=["shoe", "cf_hat"])
    ada = ProfilePerson(acme, FirstName="Ada", CustomFields={"cf_shoe": "38", "cf_hat": "M"})
    assert acme.read(ada.uid)["CustomFields"] == {"shoe": "38", "cf_hat": "M"}, "a server creates by it, too"
    assert ada.update({"CustomFields": {"cf_shoe": "39"}})["CustomFields"] == {"shoe": "39", "cf_hat": "M"}
    assert acme.update(ada.uid, {"CustomFields": {"cf_cf_hat": "L"}})["CustomFields"] == {"shoe": "39", "cf_hat": "L"}
    assert ada.refusal("PUT", OWN, {"CustomFields": {"cf_coat": "x"}}) == (403, 993)
    assert ada.refusal("PUT", OWN, {"CustomFields": {"CF_shoe": "x"}}) == (403, 993)
