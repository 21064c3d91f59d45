"""A body is weighed as it is kept: a second spelling or an unknown member takes nobody past a tenant's rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.test_self_service_profile import OWN, Person
from tests.support.registering import UNLIMITED, register
from tests.support.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

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
    stated = {name: value for name, value in {"Email": email, **GOOD, **members}.items() if value is not None}
    assert refused(register(acme, None, **stated)) == expected


def test_update_rules_apply_to_normalized_body(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(registration_form=FORM, custom_fields=["shoe"])
    ada = Person(acme, FirstName="Ada", CustomFields={"shoe": "38"})
    for body in ({"FirstName": "Augusta", "firstname": "Ada"}, {"City": "cologne", "city": "bonn"}):
        assert ada.refusal("PUT", OWN, body) == (403, 1134)
    assert ada.refusal("PUT", OWN, {"CustomFields": None}, nullsupport="true") == (403, 1134)
    assert ada.update({"CustomFields": None})["CustomFields"] == {"shoe": "38"}


def test_duplicate_spelling_does_not_bypass_code(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED)
    school = {"type": "school", "key": "a", "value": "A", "code": "s3cret"}
    answered(acme.send("POST", MANAGED, {"Data": [school]}))
    (listed,) = answered(acme.send("GET", PUBLIC, with_secret=False))
    link = {"Data": [{"DataSource": "school", "Value": {"Id": listed["Id"]}}]}
    twice = {"registrationdata": {"Data": []}, "RegistrationData": link}
    assert refused(register(acme, **twice)) == (403, 1157)
    ada = Person(acme)
    assert ada.refusal("PUT", OWN, twice) == (403, 1157)
    assert answered(acme.send("GET", f"{MANAGE}/{ada.uid}"))["RegistrationData"] is None


@pytest.fixture
def asking(new_tenant_server: NewTenantServer) -> TenantServer:
    lockout = {"type": "security_question", "maximum_failed_attempts": 1}
    return new_tenant_server(limits=UNLIMITED, security_questions={"pet": "First pet?"}, lockout=lockout)


LONG = "a" + "\u0300\u0316" * 300
"""To bring a text of two such marks in turn into its normal form costs the square of its length."""


def test_overlong_security_answer_is_refused(asking: TenantServer) -> None:
    answers = {"pet": LONG}
    assert refused(register(asking, SecurityQuestionAnswer=answers)) == (400, 908)
    ada = Person(asking, SecurityQuestionAnswer={"pet": "Rex"})
    assert ada.refusal("PUT", OWN, {"SecurityQuestionAnswer": answers}) == (400, 908)
    wrong = {"email": ada.email, "password": "wrong", "securityanswer": answers}
    assert refused(asking.send("POST", "/identity/v2/auth/login", wrong, with_secret=False)) == (400, 908)
    unlocked = ada.send("PUT", "/identity/v2/auth/account/unlock", {"securityanswer": answers})
    assert refused(unlocked) == (400, 908)
