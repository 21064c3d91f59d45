"""Every refusal and response of sign-in by mail and by text message: U49 to U54."""

from __future__ import annotations

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.consents import required_forms
from tests.support.accounts.mailbox import links_in, sent_messages
from tests.support.operation_cases.cases import PAGE, STRANGE_PAGE, AccountHolder, Answer, Ask, account_holder, refusals
from tests.support.operation_cases.passwordless import (
    LIMITED,
    MAIL,
    ON,
    POLICY,
    SESSION,
    SMS,
    UNKNOWN_EMAIL,
    USERNAME,
    by_link,
    link,
    on,
    twice,
)
from tests.support.operation_cases.shapes import POSTED, POSTED_SMS
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

PHONELESS = {"passwordless_email": True, "passwordless_sms": True}


def used(who: AccountHolder) -> TestResponse:
    token = link(who)
    answered(by_link(who, token))
    return by_link(who, token)


def after_expiry(who: AccountHolder) -> TestResponse:
    token = link(who)
    who.advance_clock(minutes=61)
    return by_link(who, token)


REFUSALS = [
    *refusals(
        "U49",
        (938, lambda who: who.call("U49", email=UNKNOWN_EMAIL), ON),
        (1038, lambda who: who.call("U49", email="no address"), ON),
        (1059, lambda who: who.call("U49", email=who.email)),
        (1122, twice(lambda who: who.call("U49", email=who.email)), on(sending={"mails": LIMITED})),
        (1249, lambda who: who.call("U49", email=who.email, verificationurl=STRANGE_PAGE), ON),
        (1183, lambda who: who.call("U49", email=who.email), on(email_login=None)),
    ),
    *refusals(
        "U50",
        (973, lambda who: by_link(who, link(who)[:-5]), ON),
        (975, after_expiry, ON),
        (1059, lambda who: by_link(who, "A" * 43)),
        (1062, used, ON),
        (1063, lambda who: by_link(who, "A" * 43), ON),
        (1194, lambda who: by_link(who, link(who)), on(**POLICY)),
        (1226, lambda who: by_link(who, link(who)), on(**required_forms("FirstLogin"))),
        (1243, lambda who: by_link(who, link(who)), on(pin={"is_on": True, "required": True})),
    ),
    *refusals("U51", *MAIL.lines(1185, 1186, 1187, 1188)),
    *refusals("U52", *USERNAME.lines(1185, 1186, 1187, 1188)),
    *refusals(
        "U53",
        (938, lambda who: who.call("U53", phone="+493099999999"), ON),
        (1043, lambda who: who.call("U53", phone="none"), ON),
        (1059, lambda who: who.call("U53", phone=who.phone)),
        (1066, lambda who: who.update_account(PhoneIdVerified=False).call("U53", phone=who.phone), ON),
        (1074, lambda who: who.call("U53", phone=who.phone), PHONELESS),
        (1123, twice(lambda who: who.call("U53", phone=who.phone)), on(sending={"sms": LIMITED})),
        (1149, twice(lambda who: who.call("U53", phone=who.phone)), on(sending={"sms_per_day": 1})),
    ),
    *refusals("U54", *SMS.lines(1067, 1068, 1069, 1070)),
]
NOT_HERE = {("U49", 1176): "a tenant with second factors answers with the challenge, as the interface chooses"}
ANSWERS = [
    Answer("U49", lambda who: Ask(query={"email": who.email, "verificationurl": PAGE}), POSTED, ON),
    Answer("U50", lambda who: Ask(query={"verificationtoken": link(who)}), SESSION, ON, events=("Login",)),
    Answer("U51", MAIL.ask, SESSION, ON, events=("Login",)),
    Answer("U52", USERNAME.ask, SESSION, ON, events=("Login",)),
    Answer("U53", lambda who: Ask(query={"phone": who.phone}), POSTED_SMS, ON),
    Answer("U54", SMS.ask, SESSION, ON, events=("Login",)),
]


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


def test_link_with_unaccepted_policy_is_single_use(new_tenant_server: NewTenantServer) -> None:
    """1194: the token accepts the policy, and the link is consumed."""
    who = account_holder(new_tenant_server, **on(**POLICY))
    token = link(who)
    answer = by_link(who, token)
    assert refused(answer) == (403, 1194)
    who.stored_token = answer.get_json()["Data"]["access_token"]
    answered(who.own("U27"))
    assert refused(by_link(who, token)) == (403, 1062)


def test_head_request_does_not_consume_link(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **ON)
    token = link(who)
    looked = who.tenant.send("HEAD", "/identity/v2/auth/login/passwordlesslogin/email/verify", verificationtoken=token)
    assert looked.status_code == 200
    answered(by_link(who, token))


def test_security_answer_with_code_unlocks_account(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **on(lockout={"type": "security_question", "maximum_failed_attempts": 2}))
    otp = MAIL.code(who)
    who.guesses(2)
    answered(MAIL.shown(who, otp, securityanswer={"pet": "grey owl"}))


def test_second_factor_is_asked_after_every_method(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **on(two_factor="required"))
    for answer in (by_link(who, link(who)), MAIL.shown(who, MAIL.code(who)), SMS.shown(who, SMS.code(who))):
        said = answered(answer)
        assert said["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
        assert said["Profile"] is None


def test_unknown_email_is_answered_by_mail_only(new_tenant_server: NewTenantServer) -> None:
    """With hidden accounts the mailbox is notified, and no text message is sent."""
    who = account_holder(new_tenant_server, **on(hide_unknown_accounts=True))
    stored = (who.tenant.services, who.tenant.tenant_id)
    assert answered(who.call("U49", email=UNKNOWN_EMAIL)) == POSTED
    notice = who.mailed(UNKNOWN_EMAIL)
    assert "don’t have an account" in notice["subject"]
    assert not links_in(notice)
    before = (len(sent_messages(*stored)), len(sent_messages(*stored, "sms")))
    assert answered(who.call("U49", username="absent")) == POSTED
    answered(who.call("U53", phone="+493099999999"))
    assert (len(sent_messages(*stored)), len(sent_messages(*stored, "sms"))) == before
