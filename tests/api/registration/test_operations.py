"""Every refusal and response of registration and of the lists that its form offers: operations U01, U02, U10, U11, A51 to A56, A58."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts import social_accounts
from tests.support.accounts.consents import consent_answers, required_forms
from tests.support.accounts.registering import primary
from tests.support.accounts.sotts import sott_of
from tests.support.operation_cases.cases import (
    PAGE,
    STRANGE_PAGE,
    AccountHolder,
    Act,
    Answer,
    Ask,
    Refusal,
    account_holder,
    refusals,
    solved,
    with_breached,
    without_sms,
)
from tests.support.operation_cases.registration import SCHOOL, chosen, form, record
from tests.support.operation_cases.shapes import DELETED, LOGIN, POSTED, ExactObject, ListOf
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, answered, refused

EVE = "eve@new.example"
POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}
Register = Callable[..., TestResponse]


def with_sott(who: AccountHolder, *, query: dict[str, Any] | None = None, **members: Any) -> TestResponse:
    """Register by U01; a None value is left out."""
    return who.call("U01", _model(members), **{"sott": sott_of(who.tenant), **(query or {})})


def with_captcha(who: AccountHolder, *, query: dict[str, Any] | None = None, **members: Any) -> TestResponse:
    """Register by U02 and solve the captcha if requested."""
    body = _model(members)
    first = who.call("U02", body, **(query or {}))
    return who.call("U02", {**body, **solved(first)}, **(query or {})) if refused(first)[1] == 982 else first


def _model(members: dict[str, Any]) -> dict[str, Any]:
    values = {"Email": primary(EVE), "Password": PASSWORD, **members}
    return {name: value for name, value in values.items() if value is not None}


def provider_account(who: AccountHolder) -> str:
    """Create an account that signs in through a provider only; return its email."""
    social_accounts.without_password(who.tenant, social_accounts.ADA, email="grace@new.example")
    return "grace@new.example"


def breached_password(who: AccountHolder, register: Register) -> TestResponse:
    with with_breached(who, PASSWORD):
        return register(who)


def texted_nowhere(who: AccountHolder, register: Register) -> TestResponse:
    with without_sms(who):
        return register(who, Email=None, PhoneId="+4930111222333")


def again(who: AccountHolder, register: Register) -> TestResponse:
    """Register a number, remove it, register it again: the second message is one too many."""
    answered(register(who, Email=None, PhoneId="+4930111222333"))
    who.tenant.send("DELETE", "/identity/v2/manage/account", phone="+4930111222333")
    return register(who, Email=None, PhoneId="+4930111222333")


def twice(who: AccountHolder, register: Register) -> TestResponse:
    answered(register(who, Email=None, PhoneId="+4930111222333"))
    return register(who, Email=None, PhoneId="+4930111222444")


def mailed_twice(who: AccountHolder, register: Register) -> TestResponse:
    answered(register(who, Email=primary("eve+1@new.example")))
    return register(who, Email=primary("eve+2@new.example"))


PHONE = {"phone_login": True}


def saying(register: Register) -> Callable[..., Act]:
    """Return a function that registers with these fields."""
    return lambda **members: lambda who: register(who, **members)


def of_the_tenant(row: str, register: Register) -> list[Refusal]:
    """Return the refusals of both registrations that depend on settings or existing accounts."""
    says = saying(register)
    return refusals(
        row,
        (1190, says(), {"registration": False}),
        (936, lambda who: register(who, Email=primary(who.email))),
        (1030, lambda who: register(who, Email=primary(provider_account(who)))),
        (1017, lambda who: register(who, UserName=who.username)),
        (1058, lambda who: register(who, PhoneId=who.phone), PHONE),
        (1056, says(), {"email_access": {"block": [EVE]}}),
        (1247, says(), {"email_access": {"block": ["new.example"]}}),
        (1038, says(Email=primary("no address"))),
        (1075, says(), form("username")),
        (1076, says(), form("phone")),
        (1089, says(Password=None)),
        (1134, says(Password="short")),
        (1216, says(Password="Password-1234")),
        (1315, lambda who: breached_password(who, register), {"password_policy": {"breached": "change"}}),
        (1163, says(BirthDate="01-01-2020"), {"minimum_age": 18}),
        (1196, says(AcceptPrivacyPolicy=False), {"privacy_policy": POLICY}),
        (
            1122,
            lambda who: mailed_twice(who, register),
            {"sending": {"mails_in_all": {"amount": 1, "minutes": 43_200}}},
        ),
        (1123, lambda who: again(who, register), {**PHONE, "sending": {"sms": {"amount": 1, "minutes": 43_200}}}),
        (1149, lambda who: twice(who, register), {**PHONE, "sending": {"sms_per_day": 1}}),
        (1249, says(query={"verificationurl": STRANGE_PAGE})),
        (1071, lambda who: texted_nowhere(who, register), PHONE),
        (1095, says(SecurityQuestionAnswer={"pet": "x"}), {"security_questions": {}}),
        (1225, says(Consents=consent_answers("Register", terms=False)), required_forms("Register")),
        (1226, says(), {**required_forms("Register"), "email_verification": "optional"}),
        (1234, says(), {"pin": {"is_on": True, "required": True, "ask_on_registration": True}}),
    )


def of_the_members(row: str, register: Register) -> list[Refusal]:
    """Return the refusals of both registrations that depend on the given fields."""
    says = saying(register)
    return refusals(
        row,
        (1107, says(Addresses=[{"Type": "home"}, {"Type": "home"}])),
        (1125, says(Addresses=[{"City": "Ulm"}])),
        (1124, says(PhoneNumbers=[{"PhoneType": "home"}, {"PhoneType": "home"}])),
        (1213, says(PhoneNumbers=[{"PhoneNumber": "1"}])),
        (1201, says(Email=[{"Value": EVE}])),
        (1202, says(Email=[*primary(EVE), {"Type": "Work", "Value": EVE}])),
        (1203, says(Email=[*primary(EVE), *primary("b@new.example")])),
        (968, says(BirthDate="02-30-1990")),
        (993, says(CustomFields={"shoe": "1"})),
        (1091, says(SecurityQuestionAnswer={"car": "x"})),
        (1096, says(PhoneId="none"), PHONE),
        (1150, says(RegistrationData=chosen("0" * 32))),
        (1151, says(RegistrationData=chosen(None))),
        (1153, lambda who: register(who, RegistrationData=chosen(record(who), Code="open"))),
        (1157, lambda who: register(who, RegistrationData=chosen(record(who)))),
    )


REFUSALS = [
    *refusals(
        "U01",
        (1048, lambda who: with_sott(who, query={"sott": None})),
        (1049, lambda who: with_sott(who, query={"sott": "nonsense"})),
        (1176, with_sott, {"two_factor": "required", "email_verification": "optional"}),
        (1243, with_sott, {"pin": {"is_on": True, "required": True}, "email_verification": "optional"}),
    ),
    *of_the_tenant("U01", with_sott),
    *of_the_members("U01", with_sott),
    *refusals("U02", (982, lambda who: who.call("U02", _model({})))),
    *of_the_tenant("U02", with_captcha),
    *of_the_members("U02", with_captcha),
    *refusals(
        "U10",
        (1155, lambda who: who.tenant.send("GET", _list("school"), with_secret=False)),
        (1156, lambda who: who.tenant.send("GET", _list("school"), with_secret=False, parentid=record(who))),
        (1158, lambda who: who.tenant.send("GET", _list("sch*ol"), with_secret=False)),
    ),
    *refusals(
        "U11",
        (1150, lambda who: who.call("U11", {"recordid": "0" * 32, "code": "x"})),
        (1152, lambda who: who.call("U11", {"recordid": record(who, code=None), "code": "x"})),
        (1153, lambda who: who.call("U11", {"recordid": record(who), "code": "x"})),
        (1157, lambda who: who.call("U11", {"recordid": record(who)})),
    ),
    *refusals(
        "A51",
        (1151, lambda who: who.managed("A51", {"Data": [{"type": "school"}]})),
        (1154, lambda who: who.managed("A51", {"Data": [{**SCHOOL, "parentid": "0" * 32}]})),
        (1158, lambda who: who.managed("A51", {"Data": [{**SCHOOL, "type": "sch*ol"}]})),
    ),
    *refusals(
        "A52",
        (1155, lambda who: who.managed("A52", at={"type": "school"})),
        (1156, lambda who: who.managed("A52", at={"type": "school"}, parentid=record(who))),
        (1158, lambda who: who.managed("A52", at={"type": "sch*ol"})),
    ),
    *refusals(
        "A53",
        (1150, lambda who: who.managed("A53", {"Value": "x"}, at={"recordid": "0" * 32})),
        (1151, lambda who: who.managed("A53", {"Value": " "}, at={"recordid": record(who)})),
        (1154, lambda who: who.managed("A53", {"ParentId": "0" * 32}, at={"recordid": record(who)})),
    ),
    *refusals("A54", (1150, lambda who: who.managed("A54", at={"recordid": "0" * 32}))),
    *refusals("A55", (1155, lambda who: who.managed("A55", at={"type": "school"}))),
]  # fmt: skip

_NEW = "a new account is neither locked nor blocked, and a taken address is 936"
NOT_HERE: dict[tuple[str, int], str] = {
    **{(row, 988): "936, as for every taken address" for row in ("U01", "U02")},
    **{("U01", code): _NEW for code in (938, 966, 991, 1093, 1094, 1120, 1130, 1132, 1148, 1198)},
    **{("U02", code): _NEW for code in (991, 1093, 1094)},
    **{(row, 970): "IsPosted without a session says it" for row in ("U01", "U02")},
    ("U01", 982): "the token is what U01 asks for; U02 asks for the captcha",
    ("U01", 1215): "no parameter of a registration asks for password delegation",
    ("U01", 1077): "any kind of name may be registered, whichever names sign in",
    ("U01", 1183): "any kind of name may be registered, whichever names sign in",
    ("U01", 1194): "1196, at the registration itself",
    ("U02", 1048): "U02 needs no token",
    ("U02", 1049): "U02 needs no token",
}


def _list(kind: str) -> str:
    return f"/identity/v2/auth/registrationdata/{kind}"


RECORD = {
    "Id": str, "Code": None, "Type": "school", "Key": "one", "Value": "First", "ParentId": None, "ParentType": None,
    "IsActive": True, "DateCreated": str, "DateModified": str,
}  # fmt: skip
OPEN = {"email_verification": "disabled"}
SESSION = {"IsPosted": True, "Data": LOGIN}
BY_NAME = {"UserName": "eve", "Password": PASSWORD}


def _solved(who: AccountHolder) -> Ask:
    return Ask({**BY_NAME, **solved(who.call("U02", BY_NAME))}, {"options": "preventverificationsms"})


CLOCK = {
    "ServerLocation": str, "ServerName": str, "CurrentTime": str,
    "Sott": {"StartTime": str, "EndTime": str, "TimeDifference": "5 Minutes"},
}  # fmt: skip
ANSWERS = [
    Answer("U01", lambda who: Ask(BY_NAME, {"sott": sott_of(who.tenant), "verificationurl": PAGE}), SESSION, OPEN,
           events=("Register", "Login")),
    Answer("U02", _solved, SESSION, OPEN, events=("Register", "Login")),
    Answer("U10", lambda who: Ask(at={"type": record(who) and "school"}), ListOf(RECORD)),
    Answer("U11", lambda who: Ask({"recordid": record(who), "code": "sesame"}), {"IsValid": True}),
    Answer("A51", lambda who: Ask({"data": [SCHOOL]}), POSTED),
    Answer("A52", lambda who: Ask(at={"type": record(who) and "school"}), ListOf({**RECORD, "Code": "sesame"})),
    Answer("A53", lambda who: Ask({"Value": "Last", "IsActive": False}, at={"recordid": record(who)}),
           {"IsPosted": True, "Data": {**RECORD, "Code": "sesame", "Value": "Last", "IsActive": False}}),
    Answer("A54", lambda who: Ask(at={"recordid": record(who)}), DELETED),
    Answer("A55", lambda who: Ask(at={"type": record(who) and "school"}), DELETED),
    Answer("A56", lambda _: Ask(query={"timedifference": "5"}), ExactObject(frozenset({"Sott", "ExpiryTime"}))),
    Answer("A58", lambda _: Ask(query={"timedifference": "5"}), CLOCK),
]  # fmt: skip


@every_refusal(REFUSALS, stored={"A52 1155", "A52 1156", "U02 1123", "U11 1150", "U11 1153"})
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS, stored={"A53", "A55", "U02"})
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


@pytest.mark.parametrize("register", [with_sott, with_captcha])
def test_no_session_before_email_verification(new_tenant_server: NewTenantServer, register: Register) -> None:
    who = account_holder(new_tenant_server)
    assert answered(register(who)) == {"IsPosted": True, "Data": None}
