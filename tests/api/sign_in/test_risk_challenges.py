"""A sign-in from a new location or browser must pass one more challenge (decision 0106)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyotp
import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.customers import OLD
from tests.support.accounts.mailbox import code_in, sent_messages, token_in
from tests.support.accounts.pinned import PINS, pinned, sign_in_with_pin
from tests.support.accounts.risky_sign_ins import CHROME, VIENNA, attempt_sign_in, notices, sign_in
from tests.support.credentials.factors import LOGIN_2FA, second_factor_holder
from tests.support.credentials.passkeys import passkey_holder
from tests.support.operation_cases.cases import QUESTIONS, AccountHolder, account_holder
from tests.support.races import at_once
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

BY_PLACE, BY_BROWSER = {"risk": {"ip": "demand"}}, {"risk": {"browser": "demand"}}
"""The accounts' known address is in Linz; all other calls of the tests come from another address."""
WITH_SMS = {"phone_login": True, "second_factors": {"sms": True}}
WITH_QUESTIONS = {"second_factors": {"email": False, "security_questions": True}}
NO_CHALLENGE = {"second_factors": {"email": False}}


def sign_in_from_another_city(who: AccountHolder, **query: Any) -> TestResponse:
    return attempt_sign_in(who, CHROME, VIENNA, **query)


def known_account(make: NewTenantServer, **settings: Any) -> AccountHolder:
    """Return an account that has signed in from its known address and calls from Vienna from now on."""
    who = account_holder(make, **{**BY_PLACE, **settings})
    sign_in(who)
    return moved_to_vienna(who)


def moved_to_vienna(who: AccountHolder) -> AccountHolder:
    """Let all calls of the account come from Vienna."""
    inside = who.tenant.app

    def app(environ: dict[str, Any], start_response: Any) -> Any:
        return inside({"HTTP_USER_AGENT": CHROME, **environ, "REMOTE_ADDR": VIENNA}, start_response)

    who.tenant = replace(who.tenant, app=app)  # type: ignore[arg-type]  # only werkzeug's client calls it
    return who


def challenge_data(answer: TestResponse, code: int) -> dict[str, Any]:
    """Return the `Data` of a refusal that asks for a challenge."""
    assert refused(answer) == (403, code)
    return dict(answer.get_json()["Data"])


def answer_challenge(who: AccountHolder, at: str, body: Any, token: str, method: str = "PUT") -> TestResponse:
    path = f"{LOGIN_2FA}/{at}"
    return who.tenant.send(method, path, body, with_secret=False, secondfactorauthenticationtoken=token)


def sent_texts(who: AccountHolder) -> list[dict[str, Any]]:
    return sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")


def test_mailed_code_completes_login_and_remembers_location(new_tenant_server: NewTenantServer) -> None:
    ada = known_account(new_tenant_server)
    token = challenge_data(sign_in_from_another_city(ada), 1166)["SecondFactorAuthenticationToken"]
    assert notices(ada) == []
    assert refused(answer_challenge(ada, "email", {"otp": "000000"}, token)) == (403, 1185)
    code = code_in(ada.mailed())
    assert answered(answer_challenge(ada, "email", {"otp": code}, token))["Profile"]["Uid"] == ada.uid
    assert refused(answer_challenge(ada, "email", {"otp": code}, token)) == (403, 1103)
    assert len(notices(ada)) == 1
    sign_in(ada, CHROME, VIENNA)


@pytest.mark.both_databases
def test_parallel_uses_of_one_code_have_one_winner(new_tenant_server: NewTenantServer) -> None:
    ada = known_account(new_tenant_server)
    token = challenge_data(sign_in_from_another_city(ada), 1166)["SecondFactorAuthenticationToken"]
    code = code_in(ada.mailed())
    answers = at_once([lambda: answer_challenge(ada, "email", {"otp": code}, token).status_code for _ in range(20)])
    assert sorted(answers) == [200] + [403] * 19


@on_one_database
def test_wrong_password_sends_no_code(new_tenant_server: NewTenantServer) -> None:
    ada = known_account(new_tenant_server)
    assert refused(sign_in_from_another_city(ada, password="wrong")) == (401, 966)
    assert ada.mails() == []


@on_one_database
def test_repeated_challenges_send_one_code_per_half_minute(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = known_account(new_tenant_server)
    tokens = [challenge_data(sign_in_from_another_city(ada), 1166)["SecondFactorAuthenticationToken"] for _ in range(3)]
    assert len(ada.mails()) == 1
    ada.advance_clock(seconds=31)
    challenge_data(sign_in_from_another_city(ada), 1166)
    assert len(ada.mails()) == 2
    assert answered(answer_challenge(ada, "email", {"otp": code_in(ada.mailed())}, tokens[0]))["access_token"]


@pytest.mark.parametrize("operation_id", ["U63", "M04"])
def test_texted_code_completes_login_by_either_operation(new_tenant_server: NewTenantServer, operation_id: str) -> None:
    ada = known_account(new_tenant_server, **WITH_SMS)
    token = challenge_data(sign_in_from_another_city(ada), 1167)["SecondFactorAuthenticationToken"]
    (text,) = sent_texts(ada)
    assert text["to"] == ada.phone
    by_operation: Callable[[str], TestResponse] = {
        "U63": lambda otp: ada.ask("PUT", {"phone": ada.phone}, path="/identity/v2/auth/phone/otp", otp=otp),
        "M04": lambda otp: answer_challenge(ada, "sms", {"otp": otp}, token),
    }[operation_id]
    assert refused(by_operation("000000")) == (403, 1067)
    assert answered(by_operation(code_in(text)))["Profile"]["Uid"] == ada.uid
    assert refused(by_operation(code_in(text)))[0] == 403


def test_security_answers_complete_login_with_password(new_tenant_server: NewTenantServer) -> None:
    ada = known_account(new_tenant_server, **WITH_QUESTIONS)
    questions = challenge_data(sign_in_from_another_city(ada), 1165)["SecurityQuestions"]
    assert [question["QuestionId"] for question in questions] == ["pet"]

    def answers(text: str) -> TestResponse:
        return ada.call("U12", {"email": ada.email, "password": OLD, "securityanswer": {"pet": text}})

    assert refused(answers("x")) == (403, 1094)
    assert answered(answers("grey owl"))["Profile"]["Uid"] == ada.uid
    assert len(notices(ada)) == 1


@on_one_database
def test_account_without_possible_challenge_is_notified(new_tenant_server: NewTenantServer) -> None:
    ada = known_account(new_tenant_server, **NO_CHALLENGE)
    answered(sign_in_from_another_city(ada))
    assert len(notices(ada)) == 1


@on_one_database
def test_newly_watched_signal_does_not_challenge_known_account(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, risk={"browser": "notify"})
    sign_in(ada)
    ada.tenant.change_settings(risk={"browser": "notify", "ip": "demand"})
    sign_in(ada)
    assert refused(attempt_sign_in(ada, address=VIENNA)) == (403, 1166)


@on_one_database
@pytest.mark.parametrize(
    ("settings", "first_factor", "expected_factor"),
    [
        (PINS, lambda who, pin: sign_in_with_pin(who, pin), "email"),
        ({"passwordless_email": True, **WITH_SMS}, lambda who, _: sign_in_by_link(who), "sms"),
        ({"passwordless_sms": True, **WITH_SMS}, lambda who, _: sign_in_by_text(who), "email"),
    ],
    ids=["PIN", "mailed link", "texted code"],
)  # fmt: skip
def test_challenge_follows_every_first_factor(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], first_factor: Any, expected_factor: str
) -> None:
    ada = pinned(account_holder(new_tenant_server, **{**BY_PLACE, **settings}))
    pin = answered(attempt_sign_in(ada)).get("session_token")
    moved_to_vienna(ada)
    challenge = answered(first_factor(ada, pin))["SecondFactorAuthentication"]
    assert challenge["IsEmailOtpAuthenticatorVerified"] is (expected_factor == "email")
    assert challenge["IsOTPAuthenticatorVerified"] is (expected_factor == "sms")
    code = code_in(ada.mailed()) if expected_factor == "email" else ada.texted()
    login = answer_challenge(ada, expected_factor, {"otp": code}, challenge["SecondFactorAuthenticationToken"])
    assert answered(login)["Profile"]["Uid"] == ada.uid


@on_one_database
def test_new_mailed_codes_do_not_reset_sms_attempts(new_tenant_server: NewTenantServer) -> None:
    lock = {"type": "suspend", "maximum_failed_attempts": 3}
    ada = known_account(new_tenant_server, passwordless_email=True, lockout=lock, **WITH_SMS)
    for expected in (1067, 1067, 1198):
        answered(ada.call("U49", email=ada.email))
        login = answered(ada.call("U51", {"email": ada.email, "otp": code_in(ada.mailed())}))
        token = login["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
        assert refused(answer_challenge(ada, "sms", {"otp": "000000"}, token)) == (403, expected)


@on_one_database
def test_fresh_email_factor_is_not_challenged_again(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = known_account(new_tenant_server, passwordless_email=True)
    assert answered(sign_in_by_link(ada))["SecondFactorAuthentication"] is None
    assert len(notices(ada)) == 1


@on_one_database
def test_user_verifying_passkey_counts_as_two_factors(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, **BY_PLACE).add_passkey()
    sign_in(ada)
    moved_to_vienna(ada)
    assert answered(ada.sign_in())["Profile"]["Uid"] == ada.uid


@on_one_database
def test_challenge_enrols_no_optional_factor(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE)
    answered(attempt_sign_in(ada, path=LOGIN_2FA))
    moved_to_vienna(ada)
    challenge = ada.challenged()
    assert challenge["IsEmailOtpAuthenticatorVerified"] is True
    assert (challenge["QRCode"], challenge["ManualEntryCode"]) == (None, None)
    token = challenge["SecondFactorAuthenticationToken"]
    totp = pyotp.TOTP(ada.own_factors()["ManualEntryCode"])
    assert refused(
        answer_challenge(ada, "totp", {"authenticatorcode": totp.at(ada.tenant.services.clock.now())}, token)
    ) == (
        403,
        1099,
    )
    assert answered(answer_challenge(ada, "email", {"otp": code_in(ada.mailed())}, token))["access_token"]
    assert ada.own_factors()["IsEmailOtpAuthenticatorVerified"] is False
    assert ada.signs_in().get_json()["SecondFactorAuthentication"] is None


@on_one_database
def test_enrolled_factor_replaces_fallback_challenge(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE).enrols()
    token = ada.token()
    assert refused(answer_challenge(ada, "email", {"emailid": ada.email}, token, "POST")) == (403, 1256)
    assert answered(ada.shows_code(ada.next_code(), token))["access_token"]


@on_one_database
def test_fallback_challenge_ends_once_factor_is_enrolled(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE)
    answered(attempt_sign_in(ada, path=LOGIN_2FA))
    moved_to_vienna(ada)
    token = ada.token()
    mailed = code_in(ada.mailed())
    ada.enrols()
    assert refused(answer_challenge(ada, "email", {"otp": mailed}, token)) == (403, 1103)


@on_one_database
def test_disabled_fallback_factor_allows_no_enrolment(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE)
    answered(attempt_sign_in(ada, path=LOGIN_2FA))
    moved_to_vienna(ada)
    token = ada.token()
    ada.tenant.change_settings(second_factors={"email": False, "security_questions": True})
    chosen = {"securityquestionanswer": [{"QuestionId": question, "Answer": "x"} for question in QUESTIONS]}
    assert refused(answer_challenge(ada, "securityquestionanswer", chosen, token)) == (403, 1258)


def sign_in_by_link(who: AccountHolder) -> TestResponse:
    answered(who.call("U49", email=who.email))
    return who.call("U50", verificationtoken=token_in(who.mailed()))


def sign_in_by_text(who: AccountHolder) -> TestResponse:
    answered(who.call("U53", phone=who.phone))
    return who.call("U54", {"phone": who.phone, "otp": who.texted()})
