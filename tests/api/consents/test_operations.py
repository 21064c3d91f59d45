"""Every refusal and response of consent forms by token and by id: operations U84 to U87 and A36."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.consents import chosen, form, option
from tests.support.operation_cases.cases import AccountHolder, Act, Answer, Ask, Refusal, account_holder, once, refusals
from tests.support.operation_cases.shapes import PROFILE, ListOf
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

SIGN_IN = form("FirstLogin", option("terms", mandatory=True), option("news"), mandatory=False)
SURVEY = form("Survey", option("study"), version=3)
FORMS: dict[str, Any] = {"consent_forms": [SIGN_IN, SURVEY]}
BOTH = [{"Event": "FirstLogin", "IsCustom": False}, {"Event": "Survey", "IsCustom": True}]


def answers(*events: dict[str, Any], **choices: bool) -> dict[str, Any]:
    return {"Events": list(events) or BOTH, "Data": chosen(**(choices or {"terms": True, "news": True}))}


def give(*events: dict[str, Any], **choices: bool) -> Act:
    return lambda who: who.own("U84", answers(*events, **choices))


def change(**choices: bool) -> Act:
    return lambda who: who.own("U85", {"Consents": chosen(**choices)})


def with_consent(who: AccountHolder) -> AccountHolder:
    answered(give()(who))
    return who


def valid(event: str = "FirstLogin", is_custom: bool = False) -> Act:
    return lambda who: who.own("U86", event=event, iscustom=str(is_custom).lower())


REFUSALS: list[Refusal] = [
    *refusals(
        "U84",
        (1224, give({"Event": "Register", "IsCustom": False}), FORMS),
        (1225, give(terms=False, news=True), FORMS),
        (1227, give()),
    ),
    *refusals(
        "U85",
        (1079, lambda who: who.own("U85"), FORMS),
        (1224, lambda who: change(other=True)(with_consent(who)), FORMS),
        (1225, lambda who: change(terms=False)(with_consent(who)), FORMS),
        (1227, change(news=True)),
    ),
    *refusals("U86", (1224, valid("Login"), FORMS), (1227, valid()), (2017, valid(is_custom=True), FORMS)),
    *refusals("U87", (1227, lambda who: who.own("U87")), (1228, lambda who: who.own("U87"), FORMS)),
    *refusals(
        "A36",
        (984, lambda who: who.managed("A36", at={"uid": "0" * 32}), FORMS),
        (1227, lambda who: who.managed("A36")),
        (1228, lambda who: who.managed("A36"), FORMS),
    ),
]
NOT_HERE = {("U87", 2017): "it brings a token and nothing else: that is 1409 where it is wrong"}
_VERSION = {"Event": str, "Version": int, "IsCustom": bool}
CONSENT_PROFILE = {
    "AcceptedConsentVersions": ListOf(_VERSION, 2),
    "Consents": ListOf({"ConsentOptionId": str, "AcceptOnDate": str}),
}
_ENTRY = {
    "Id": str, "UpdateType": "Default", "CurrentConsentFormsVersions": ListOf(_VERSION, 2), "LoggedOnDate": str,
    "UserAgent": str, "IP": str, "Host": str, "ConsentLogs": ListOf({"ConsentId": str, "Event": str}, 3),
}  # fmt: skip
LOGS = {"Uid": str, "ConsentLogs": ListOf(_ENTRY)}
CHANGED = ("ConsentProfileUpdate",)
ANSWERS: list[Answer] = [
    Answer("U84", lambda _: Ask(answers()), PROFILE, FORMS, events=CHANGED),
    Answer("U85", lambda who: once(with_consent(who), Ask({"Consents": chosen(news=False)})), CONSENT_PROFILE, FORMS, events=CHANGED),
    Answer("U86", lambda who: once(with_consent(who), Ask(query={"event": "Survey", "iscustom": "true"})),
           {"ConsentProfile": CONSENT_PROFILE, "IsValid": True}, FORMS),
    Answer("U87", lambda who: once(with_consent(who), Ask()), LOGS, FORMS),
    Answer("A36", lambda who: once(with_consent(who), Ask()), LOGS, FORMS),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


@pytest.mark.parametrize(
    "wrong",
    [
        {"Events": [], "Data": chosen(terms=True)},
        {"Events": BOTH[1:] * 2, "Data": []},
        {"Events": BOTH[1:], "Data": chosen(study=True, terms=True)},
        {"Events": BOTH[:1], "Data": []},
        {"Events": BOTH[1:], "Data": chosen(study=True) * 2},
    ],
    ids=["no form", "one form twice", "an option of another form", "a mandatory one missing", "one option twice"],
)
def test_wrong_consent_answers_change_nothing(new_tenant_server: NewTenantServer, wrong: dict[str, Any]) -> None:
    who = account_holder(new_tenant_server, **FORMS)
    assert refused(who.own("U84", wrong)) == (403, 1225)
    assert answered(who.own("U15"))["ConsentProfile"] is None


def test_given_consent_is_in_profile_and_can_be_withdrawn(new_tenant_server: NewTenantServer) -> None:
    who = with_consent(account_holder(new_tenant_server, **FORMS))
    began = answered(who.own("U15"))["ConsentProfile"]["Consents"]
    assert {item["ConsentOptionId"] for item in began} == {"terms", "news"}
    who.advance_clock(minutes=5)
    after = answered(change(news=False, study=True)(who))
    assert {
        item["ConsentOptionId"]: item["AcceptOnDate"] == began[0]["AcceptOnDate"] for item in after["Consents"]
    } == {
        "terms": True,
        "study": False,
    }
    newest, oldest = answered(who.own("U87"))["ConsentLogs"]
    assert newest["UpdateType"] == "ConsentEditor"
    assert {item["ConsentId"]: item["Event"] for item in newest["ConsentLogs"]} == {
        "news": "Unsubscribe",
        "study": "Subscribe",
    }
    assert {item["ConsentId"]: item["Event"] for item in oldest["ConsentLogs"]}["study"] == "NotOpted"


@pytest.mark.both_databases
def test_unchanged_consent_adds_no_log_entry(new_tenant_server: NewTenantServer) -> None:
    who = with_consent(account_holder(new_tenant_server, **FORMS))
    answered(change(news=True, study=False)(who))
    answered(give()(who))
    assert len(answered(who.own("U87"))["ConsentLogs"]) == 1


def test_unanswered_form_cannot_be_edited(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **FORMS)
    answered(give(BOTH[0], terms=True)(who))
    assert refused(change(study=True)(who)) == (403, 1225)


def test_newer_form_version_needs_new_answer(new_tenant_server: NewTenantServer) -> None:
    who = with_consent(account_holder(new_tenant_server, **FORMS))
    who.tenant.change_settings(consent_forms=[SIGN_IN, {**SURVEY, "version": 4}])
    assert answered(valid("Survey", is_custom=True)(who))["IsValid"] is False
    answered(give(BOTH[1], study=True)(who))
    assert answered(valid("Survey", is_custom=True)(who))["IsValid"] is True
    assert answered(who.own("U87"))["ConsentLogs"][0]["UpdateType"] == "FormMigration"


def test_consents_of_another_account_are_not_found(new_tenant_server: NewTenantServer) -> None:
    who = with_consent(account_holder(new_tenant_server, **FORMS))
    other = AccountHolder(who.tenant, who.tenant.create()["Uid"], "", "")
    assert refused(other.own("U87")) == (403, 1228)
    outsider = account_holder(new_tenant_server, **FORMS)
    assert refused(outsider.managed("A36", at={"uid": who.uid})) == (403, 984)


@pytest.mark.both_databases
def test_concurrent_consent_changes_all_count(new_tenant_server: NewTenantServer) -> None:
    many = [option(f"o{number}") for number in range(8)]
    who = account_holder(new_tenant_server, consent_forms=[form("Survey", *many)])
    answered(give({"Event": "Survey", "IsCustom": True}, o0=False)(who))
    at_once([lambda n=number: answered(change(**{f"o{n}": True})(who)) for number in range(8)])  # type: ignore[misc]  # a lambda's default has no type
    assert len(answered(who.own("U15"))["ConsentProfile"]["Consents"]) == 8
    assert len(answered(who.own("U87"))["ConsentLogs"]) == 9


def test_consent_changes_are_limited(new_tenant_server: NewTenantServer) -> None:
    who = with_consent(account_holder(new_tenant_server, **FORMS))
    codes = [change(news=bool(number % 2))(who).status_code for number in range(60)]
    assert codes == [200] * 59 + [429]
