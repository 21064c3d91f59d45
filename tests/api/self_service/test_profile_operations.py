"""Every refusal and response of the account's own profile, identifiers and emails: operations U15 to U17, U22 to U24."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.customers import NEW, OLD
from tests.support.accounts.mailbox import code_in, sent_messages, token_in
from tests.support.accounts.registering import primary
from tests.support.operation_cases.cases import (
    PAGE,
    STRANGE_PAGE,
    AccountHolder,
    Act,
    Answer,
    Ask,
    account_holder,
    refusals,
    solved,
    without_sms,
)
from tests.support.operation_cases.profile import nameless, twice
from tests.support.operation_cases.registration import chosen, form, record
from tests.support.operation_cases.shapes import DELETED, POSTED, PROFILE
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}
PHONE = {"phone_login": True}
NUMBER = "+4930111222333"


def update(query: dict[str, Any] | None = None, **members: Any) -> Act:
    return lambda who: who.own("U16", members, **(query or {}))


def taken(who: AccountHolder) -> TestResponse:
    """Add an address that another account has."""
    nameless(who, Email=primary("grace@example.test"))
    return add("grace@example.test")(who)


def other(act: Act, **members: Any) -> Act:
    """Call it as that account."""
    return lambda who: act(nameless(who, **members))


def second(who: AccountHolder) -> str:
    """Add a second verified email and return it."""
    email = f"two.{who.email}"
    answered(who.own("U23", {"email": email, "type": "Secondary"}))
    answered(who.call("U05", verificationtoken=token_in(who.mailed(email))))
    return email


def add(email: str = "new@example.test", kind: str = "Secondary", **query: Any) -> Act:
    return lambda who: who.own("U23", {"email": email, "type": kind}, **query)


def many(who: AccountHolder) -> TestResponse:
    for number in range(10):
        answer = who.own("U23", {"email": f"n{number}@{number}.example", "type": "Secondary"})
        if answer.status_code == 200:
            answered(who.call("U05", verificationtoken=token_in(who.mailed(f"n{number}@{number}.example"))))
    return answer


def texted_nowhere(who: AccountHolder) -> TestResponse:
    with without_sms(who):
        return update(PhoneId=NUMBER)(nameless(who))


def texted_twice(who: AccountHolder) -> TestResponse:
    answered(update(PhoneId=NUMBER)(nameless(who)))
    return update(PhoneId="+4930111222444")(nameless(who, UserName="somebody.else"))


def lock(kind: str) -> dict[str, Any]:
    return {"lockout": {"type": kind, "maximum_failed_attempts": 1}}


def locked(who: AccountHolder) -> AccountHolder:
    who.bearer  # noqa: B018 - the sign-in comes first
    who.guesses(1)
    return who


REFUSALS = [
    *refusals(
        "U15",
        (1039, lambda who: who.own("U15")),
        (1194, lambda who: who.own("U15"), {"privacy_policy": POLICY}),
    )[1:],
    *refusals(
        "U16",
        (936, lambda who: update(Email=primary(who.email))(nameless(who))),
        (968, update(BirthDate="13-13-1990")),
        (993, update(CustomFields={"shoe": "1"})),
        (1017, lambda who: update(UserName=who.username)(nameless(who))),
        (1038, other(update(Email=primary("no address")))),
        (1056, other(update(Email=primary("eve@bad.example"))), {"email_access": {"block": ["eve@bad.example"]}}),
        (1058, lambda who: update(PhoneId=who.phone)(nameless(who)), PHONE),
        (1091, update(SecurityQuestionAnswer={"car": "x"})),
        (1095, update(SecurityQuestionAnswer={"pet": "x"}), {"security_questions": {}}),
        (1096, update(PhoneId="none"), PHONE),
        (1107, update(Addresses=[{"Type": "home"}, {"Type": "home"}])),
        (1125, update(Addresses=[{"City": "Ulm"}])),
        (1124, update(PhoneNumbers=[{"PhoneType": "home"}, {"PhoneType": "home"}])),
        (1213, update(PhoneNumbers=[{"PhoneNumber": "1"}])),
        (967, update(Password=NEW)),
        (1074, update(PhoneId=NUMBER)),
        (1134, update(Password="short", oldpassword=OLD)),
        *(
            (code, lambda who: update(Password=NEW, oldpassword=OLD)(locked(who)), lock(kind))
            for code, kind in ((1198, "suspend"), (1132, "captcha"), (1148, "security_question"))
        ),
        (1150, update(RegistrationData=chosen("0" * 32))),
        (1151, update(RegistrationData=chosen(None))),
        (1153, lambda who: update(RegistrationData=chosen(record(who), Code="open"))(who)),
        (1157, lambda who: update(RegistrationData=chosen(record(who)))(who)),
        (1163, update(BirthDate="01-01-2020"), {"minimum_age": 18}),
        (1174, update(Email=primary("other@example.test"))),
        (1194, update(FirstName="Ada"), {"privacy_policy": POLICY}),
        (1216, update(Password="Password-1234", oldpassword=OLD)),
        (1015, update(Password=OLD, oldpassword=OLD)),
        (1071, texted_nowhere, PHONE),
        (1149, texted_twice, {**PHONE, "sending": {"sms_per_day": 1}}),
    ),
    *refusals(
        "U17",
        (1091, lambda who: who.own("U17", {"securityquestionanswer": {"car": "x"}})),
        (1095, lambda who: who.own("U17", {"securityquestionanswer": {"pet": "x"}}), {"security_questions": {}}),
    ),
    *refusals(
        "U22",
        (1017, lambda who: who.own("U22", {"username": nameless(who).username})),
        (1024, lambda who: who.own("U22", {"username": "a@b"})),
        (1075, lambda who: who.own("U22", {"username": ""})),
        (1204, lambda who: who.own("U22", {"username": "a b"})),
    ),
    *refusals(
        "U23",
        (936, taken),
        (1006, add(kind="Primary")),
        (1038, add("no address")),
        (1046, lambda who: add(who.email)(who)),
        (1122, twice(add()), {"sending": {"mails_by_type": {"add_email": {"amount": 1, "minutes": 43_200}}}}),
        (1174, many, {"sending": {"mails_by_type": {"add_email": {"amount": 0, "minutes": 43_200}}}}),
        (1177, lambda who: add()(who.update_account(EmailVerified=False))),
        (1201, add(kind="")),
        (1249, add(verificationurl=STRANGE_PAGE)),
    ),
    *refusals(
        "U24",
        (1005, lambda who: who.own("U24", {"email": who.email})),
        (1023, lambda who: who.own("U24", {"email": "other@example.test"})),
    ),
]  # fmt: skip
NOT_HERE: dict[tuple[str, int], str] = {
    ("U15", 1039): "every token has a profile, also for an account without an email or a password",
    ("U16", 991): "1409: a blocked account's token opens nothing",
    ("U16", 1075): "a username that is left out stays as it is",
    ("U16", 1093): "answers are set here, not compared",
    ("U16", 1094): "answers are set here, not compared",
    ("U22", 1018): "no older username is given, so that none can be wrong",
    ("U24", 1006): "nothing but removing can be asked: an unknown address is 1023, the last one 1005",
}

UPDATED = {"IsPosted": True, "Data": PROFILE}
ANSWERS = [
    Answer("U15", lambda _: Ask(query={"welcomeemailtemplate": "x"}), PROFILE),
    Answer("U16", lambda _: Ask({"FirstName": "Ada", "Gender": "f", "BirthDate": "1/2/1990"}, {"nullsupport": "true"}),
           UPDATED, events=("UpdateProfile",)),
    Answer("U17", lambda _: Ask({"securityquestionanswer": {"pet": "red fox"}, "oldpassword": OLD}), UPDATED, is_flat=False,
           events=("UpdateProfile",)),
    Answer("U22", lambda _: Ask({"username": "Countess"}), POSTED, events=("SetUsername",)),
    Answer("U23", lambda _: Ask({"email": "two@example.test", "type": "Work"}, {"verificationurl": PAGE}), POSTED),
    Answer("U24", lambda who: Ask({"email": second(who)}), DELETED, events=("RemoveEmail",)),
]  # fmt: skip


def test_welcome_mail_is_sent_once_to_verified_email(
    new_tenant_server: NewTenantServer,
) -> None:
    who = account_holder(new_tenant_server).update_account(EmailVerified=False)
    who.bearer  # noqa: B018 - the sign-in comes first
    for _ in range(2):
        who.own("U15", welcomeemailtemplate="hello")
    who.update_account(EmailVerified=True)
    before = len(sent_messages(who.tenant.services, who.tenant.tenant_id))
    who.own("U15")
    assert len(sent_messages(who.tenant.services, who.tenant.tenant_id)) == before
    for _ in range(2):
        who.own("U15", welcomeemailtemplate="hello")
    sent = sent_messages(who.tenant.services, who.tenant.tenant_id)[before:]
    assert [(message["to"], "Welcome" in message["subject"]) for message in sent] == [(who.email, True)]


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


@pytest.mark.parametrize("has_number", [False, True])
def test_number_of_update_counts_once_its_code_is_sent(new_tenant_server: NewTenantServer, has_number: bool) -> None:
    who = account_holder(new_tenant_server, **PHONE)
    who = who if has_number else nameless(who)
    before = who.phone if has_number else None
    assert answered(update(PhoneId=NUMBER)(who))["Data"]["PhoneId"] == before
    sent = sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")
    assert [message["to"] for message in sent] == [NUMBER]
    answered(update(PhoneId=before, FirstName="Ada")(who))
    assert len(sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")) == 1, "a number that is there stays"
    code = code_in(sent[0])
    answered(who.tenant.send("PUT", "/identity/v2/auth/phone/otp", {}, bearer=who.bearer, otp=code))
    stored = answered(who.own("U15"))
    assert (stored["PhoneId"], stored["PhoneIdVerified"]) == (NUMBER, True)


@pytest.mark.parametrize("has_number", [False, True])
def test_hidden_account_with_the_number_is_not_revealed(new_tenant_server: NewTenantServer, has_number: bool) -> None:
    """As by the operation of numbers; the owner of the number gets a text instead."""
    who = account_holder(new_tenant_server, **PHONE, hide_unknown_accounts=True)
    other = nameless(who, **({"PhoneId": "+4930111222555", "PhoneIdVerified": True} if has_number else {}))
    taken, free = (update(PhoneId=number)(other) for number in (who.phone, NUMBER))
    assert [refused(answer)[0] for answer in (taken, free)] == [200, 200]
    assert taken.get_json()["Data"]["PhoneId"] == free.get_json()["Data"]["PhoneId"]
    texts = sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")
    assert [text["to"] for text in texts] == [who.phone, NUMBER]
    assert who.tenant.read(other.uid)["PhoneId"] == ("+4930111222555" if has_number else None)


def test_verification_sms_of_update_can_be_prevented(new_tenant_server: NewTenantServer) -> None:
    who = nameless(account_holder(new_tenant_server, **PHONE))
    answered(update({"options": "preventverificationsms"}, PhoneId=NUMBER)(who))
    assert sent_messages(who.tenant.services, who.tenant.tenant_id, "sms") == []


def test_captcha_is_required_where_configured(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, captcha_at=["update_profile"])
    first = update(FirstName="Ada")(who)
    assert refused(first) == (403, 982)
    assert answered(update(FirstName="Ada", **solved(first))(who))["Data"]["FirstName"] == "Ada"
    published = answered(who.tenant.send("GET", "/ciam/appinfo", with_secret=False))
    assert published["OptionalRecaptchaConfiguration"]["Apis"]["PutUpdateProfile"] is True


def test_chosen_list_entry_is_in_profile(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    link = chosen(record(who), Code="sesame")
    stored = answered(update(RegistrationData=link)(who))["Data"]["RegistrationData"]
    assert stored == chosen(link["Data"][0]["Value"]["Id"]), "the code is not returned"
    assert answered(update(RegistrationData=stored)(who))["Data"]["RegistrationData"] == stored, (
        "an existing value needs no code"
    )


def test_pending_email_is_shown_as_unverified(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, email_verification_codes=True)
    answered(add("two@example.test", "Work")(who))
    stored = answered(who.own("U15"))
    assert stored["UnverifiedEmail"] == [{"Type": "Work", "Value": "two@example.test"}]
    assert stored["Email"] == primary(who.email)
    answered(who.call("U03", {"email": "two@example.test"}))
    answered(who.call("U06", {"email": "two@example.test", "otp": code_in(who.mailed("two@example.test"))}))
    stored = answered(who.own("U15"))
    assert stored["UnverifiedEmail"] is None
    assert {"Type": "Work", "Value": "two@example.test"} in stored["Email"]


@pytest.mark.both_databases
def test_pending_email_can_be_removed(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(add("two@example.test")(who))
    token = token_in(who.mailed("two@example.test"))
    assert answered(who.own("U24", {"email": "two@example.test"})) == DELETED
    assert answered(who.own("U15"))["UnverifiedEmail"] is None
    assert refused(who.call("U05", verificationtoken=token))[0] == 403


def test_missing_form_field_is_named(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **form("first_name"))
    answer = update(FirstName="")(who)
    assert refused(answer) == (403, 1134)
    assert answer.get_json()["Errors"] == [{"FieldName": "firstname", "ErrorMessage": "This is needed."}]
