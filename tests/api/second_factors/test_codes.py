"""Second factors by SMS, mail and security questions: the rules that other factors do not have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.authenticators.sent import NUMBER
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.operation_cases.cases import account_holder, without_sms
from tests.support.operation_cases.factor_login import ALL, RIGHT_ANSWERS, mails, of, questions, texts
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

OTHER = "+442079460999"


def ada_of(make: NewTenantServer, **settings: Any) -> SecondFactorHolder:
    return of(account_holder(make, **{"two_factor": "optional", "second_factors": ALL, **settings}))


def message_count(who: SecondFactorHolder, kind: str = "sms") -> int:
    """Return how many messages were sent."""
    return len(sent_messages(who.tenant.services, who.tenant.tenant_id, kind))


def test_challenge_sends_sms_to_sms_factor(new_tenant_server: NewTenantServer) -> None:
    ada = texts(ada_of(new_tenant_server))
    before, challenge = message_count(ada), ada.challenged()
    assert message_count(ada) == before + 1
    assert challenge["OTPPhoneNo"] == "***********23"
    assert challenge["OTPStatus"]["Sid"].startswith("SM")
    assert challenge["SecurityQuestions"] is None
    login = ada.answer_challenge("sms", {"otp": ada.texted()}, challenge["SecondFactorAuthenticationToken"])
    assert answered(login)["Profile"]["Uid"] == ada.uid


def test_preferred_factor_suppresses_code_messages(new_tenant_server: NewTenantServer) -> None:
    ada = texts(mails(ada_of(new_tenant_server))).enrols()
    before = message_count(ada), message_count(ada, "mail")
    challenge = ada.challenged()
    assert (message_count(ada), message_count(ada, "mail")) == before
    assert challenge["OTPStatus"] is challenge["EmailOTPStatus"] is None
    assert challenge["IsOTPAuthenticatorVerified"] is challenge["IsEmailOtpAuthenticatorVerified"] is True


def test_challenge_mails_code_to_only_email_factor(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = mails(ada_of(new_tenant_server))
    challenge = ada.challenged()
    assert challenge["EmailOTPStatus"] == {"Email": challenge["Email"][0]}
    assert ada.email not in str(challenge)
    shown = {"emailid": challenge["Email"][0], "otp": code_in(ada.mailed())}
    assert answered(ada.answer_challenge("email", shown, challenge["SecondFactorAuthenticationToken"]))["Profile"]


def test_unavailable_sms_leaves_other_factors(new_tenant_server: NewTenantServer) -> None:
    ada = texts(ada_of(new_tenant_server))
    codes = ada.backup_codes()
    with without_sms(ada):
        challenge = ada.challenged()
        assert challenge["OTPStatus"] is None
        token = str(challenge["SecondFactorAuthenticationToken"])
        assert answered(ada.answer_challenge("backupcode", {"backupcode": codes[0]}, token))["Profile"]


def test_exhausted_limit_keeps_last_code_valid(new_tenant_server: NewTenantServer) -> None:
    ada = texts(ada_of(new_tenant_server, sending={"sms": {"amount": 2, "minutes": 60}}))
    ada.backup_codes()
    first = ada.challenged()
    assert first["OTPStatus"] is not None
    second = ada.challenged()
    assert second["OTPStatus"] is None
    token = str(second["SecondFactorAuthenticationToken"])
    assert answered(ada.answer_challenge("sms", {"otp": ada.texted()}, token))["Profile"]


def test_new_number_replaces_old_one_once_verified(new_tenant_server: NewTenantServer) -> None:
    ada = texts(ada_of(new_tenant_server))
    answered(ada.own("PUT", "sms/phone", {"phoneno2fa": OTHER}))
    assert ada.own_factors()["OTPPhoneNo"].endswith(NUMBER[-2:]), "the new number is not verified yet"
    answered(ada.own("PUT", "sms", {"otp": ada.texted()}))
    assert ada.own_factors()["OTPPhoneNo"].endswith(OTHER[-2:])
    ada.challenged()
    assert sent_messages(ada.tenant.services, ada.tenant.tenant_id, "sms")[-1]["to"] == OTHER


def test_enrolment_code_does_not_answer_challenge(new_tenant_server: NewTenantServer) -> None:
    """An attacker with a stolen session adds their own number: its code does not answer the account's challenge."""
    ada = texts(ada_of(new_tenant_server))
    token = ada.token()
    answered(ada.own("PUT", "sms/phone", {"phoneno2fa": OTHER}))
    assert refused(ada.answer_challenge("sms", {"otp": ada.texted()}, token)) == (403, 1067)


def test_profile_update_does_not_change_factors(new_tenant_server: NewTenantServer) -> None:
    ada = questions(texts(ada_of(new_tenant_server)))
    ada.tenant.update(
        ada.uid, {"PhoneId": OTHER, "SecurityQuestionAnswer": {"pet": "an attacker's", "city": "an attacker's"}}
    )
    ada.challenged()
    assert sent_messages(ada.tenant.services, ada.tenant.tenant_id, "sms")[-1]["to"] == NUMBER
    stolen = {"securityquestionanswer": [{"QuestionId": name, "Answer": "an attacker's"} for name in ("pet", "city")]}
    answer = ada.answer_challenge("verification/securityquestionanswer", stolen, ada.token(), "POST")
    assert refused(answer) == (403, 1093)


@pytest.mark.parametrize("typed", [" GREY  owl ", "Ｇｒｅｙ Owl"])
def test_security_answers_ignore_case_width_and_spacing(new_tenant_server: NewTenantServer, typed: str) -> None:
    ada = questions(ada_of(new_tenant_server))
    values = {"securityquestionanswer": [{**RIGHT_ANSWERS["securityquestionanswer"][0], "Answer": typed},
                                        RIGHT_ANSWERS["securityquestionanswer"][1]]}  # fmt: skip
    assert answered(ada.answer_challenge("verification/securityquestionanswer", values, ada.token(), "POST"))["Profile"]


def test_code_is_mailed_to_verified_address_only(new_tenant_server: NewTenantServer) -> None:
    ada = mails(ada_of(new_tenant_server))
    ada.update_account(EmailVerified=False)
    assert refused(ada.own("GET", "email", emailid=ada.email)) == (403, 1023)
    assert refused(ada.call("M23", emailid=ada.email)) == (403, 1023)


def test_code_is_bound_to_its_address(new_tenant_server: NewTenantServer) -> None:
    ada = ada_of(new_tenant_server)
    second = f"second.{ada.email}"
    answered(ada.own("GET", "email", emailid=ada.email))
    code = code_in(ada.mailed())
    assert refused(ada.own("PUT", "email", {"emailid": second, "otp": code})) == (403, 1023)
    assert answered(ada.own("PUT", "email", {"emailid": ada.email.upper(), "otp": code}))["Uid"] == ada.uid


def test_public_code_request_hides_unknown_accounts(new_tenant_server: NewTenantServer) -> None:
    ada = ada_of(new_tenant_server, hide_unknown_accounts=True)
    ada.call("M23", emailid="first@example.test")  # reads the tenant's templates into the cache
    known, unknown = ada.call("M23", emailid=ada.email), ada.call("M23", emailid="absent@example.test")
    assert (
        (known.status_code, known.get_json()) == (unknown.status_code, unknown.get_json()) == (200, {"IsPosted": True})
    )
    assert message_count(ada, "mail") == 1
    costs = [answer.headers["X-Gatehouse-Cost"].split("; hash_us")[0] for answer in (known, unknown)]
    assert costs[0] == costs[1]


def test_public_code_requests_leave_challenge_quota(new_tenant_server: NewTenantServer) -> None:
    ada = mails(ada_of(new_tenant_server, sending={"mails": {"amount": 3, "minutes": 60}}))
    answers = [ada.call("M23", emailid=ada.email).status_code for _ in range(5)]
    assert answers == [200, 200, 200, 403, 403]
    challenge = ada.challenged()
    assert challenge["EmailOTPStatus"] is not None
    assert ada.challenged()["SecondFactorAuthenticationToken"]


def test_voice_option_sends_spoken_code(new_tenant_server: NewTenantServer) -> None:
    ada = ada_of(new_tenant_server)
    assert message_count(ada) == 0
    answered(ada.own("PUT", "sms/phone", {"phoneno2fa": NUMBER}, isvoiceotp="true"))
    spoken = sent_messages(ada.tenant.services, ada.tenant.tenant_id, "sms")[-1]["spoken"]
    assert ", ".join(ada.texted()) in spoken
