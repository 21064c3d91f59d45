"""One more proof of whoever signs in from where their account never was (interface mfa.md section 9, decisions/0106)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyotp
import pytest
from werkzeug.test import TestResponse

from tests.api.test_risks import CHROME, VIENNA, asks, signs_in, told
from tests.support.customers import OLD
from tests.support.factors import LOGIN_2FA, second_factor_holder
from tests.support.identity_service import on_one_database
from tests.support.mailbox import code_in, sent_messages, token_in
from tests.support.passkeys import passkey_holder
from tests.support.pinned import PINS, again, pinned
from tests.support.races import at_once
from tests.support.rows import QUESTIONS, AccountHolder, account_holder
from tests.support.tenant_server import NewTenantServer, answered, refused

BY_PLACE, BY_BROWSER = {"risk": {"ip": "demand"}}, {"risk": {"browser": "demand"}}
"""Whoever is at home in Linz is elsewhere wherever the tests' own calls come from."""
TEXTED = {"phone_login": True, "second_factors": {"sms": True}}
ASKED = {"second_factors": {"email": False, "security_questions": True}}
NOTHING = {"second_factors": {"email": False}}


def elsewhere(who: AccountHolder, **query: Any) -> TestResponse:
    return asks(who, CHROME, VIENNA, **query)


def at_home(make: NewTenantServer, **settings: Any) -> AccountHolder:
    """Somebody who signed in at home."""
    who = account_holder(make, **{**BY_PLACE, **settings})
    signs_in(who)
    return moved(who)


def moved(who: AccountHolder) -> AccountHolder:
    """Let whatever they ask come from Vienna."""
    inside = who.tenant.app

    def app(environ: dict[str, Any], start_response: Any) -> Any:
        return inside({"HTTP_USER_AGENT": CHROME, **environ, "REMOTE_ADDR": VIENNA}, start_response)

    who.tenant = replace(who.tenant, app=app)  # type: ignore[arg-type]  # it is asked through werkzeug's client alone
    return who


def demanded(answer: TestResponse, code: int) -> dict[str, Any]:
    """The `Data` of a demand."""
    assert refused(answer) == (403, code)
    return dict(answer.get_json()["Data"])


def proved(who: AccountHolder, at: str, body: Any, token: str, method: str = "PUT") -> TestResponse:
    path = f"{LOGIN_2FA}/{at}"
    return who.tenant.send(method, path, body, with_secret=False, secondfactorauthenticationtoken=token)


def texts(who: AccountHolder) -> list[dict[str, Any]]:
    return sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")


def test_mailed_code_completes_login_and_remembers_location(new_tenant_server: NewTenantServer) -> None:
    ada = at_home(new_tenant_server)
    token = demanded(elsewhere(ada), 1166)["SecondFactorAuthenticationToken"]
    assert told(ada) == []
    assert refused(proved(ada, "email", {"otp": "000000"}, token)) == (403, 1185)
    code = code_in(ada.mailed())
    assert answered(proved(ada, "email", {"otp": code}, token))["Profile"]["Uid"] == ada.uid
    assert refused(proved(ada, "email", {"otp": code}, token)) == (403, 1103)
    assert len(told(ada)) == 1
    signs_in(ada, CHROME, VIENNA)


def test_parallel_uses_of_one_code_have_one_winner(new_tenant_server: NewTenantServer) -> None:
    ada = at_home(new_tenant_server)
    token = demanded(elsewhere(ada), 1166)["SecondFactorAuthenticationToken"]
    code = code_in(ada.mailed())
    answers = at_once([lambda: proved(ada, "email", {"otp": code}, token).status_code for _ in range(20)])
    assert sorted(answers) == [200] + [403] * 19


@on_one_database
def test_wrong_password_sends_no_code(new_tenant_server: NewTenantServer) -> None:
    ada = at_home(new_tenant_server)
    assert refused(elsewhere(ada, password="wrong")) == (401, 966)
    assert ada.mails() == []


@on_one_database
def test_repeated_challenges_send_one_code_per_half_minute(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = at_home(new_tenant_server)
    tokens = [demanded(elsewhere(ada), 1166)["SecondFactorAuthenticationToken"] for _ in range(3)]
    assert len(ada.mails()) == 1
    ada.waits(seconds=31)
    demanded(elsewhere(ada), 1166)
    assert len(ada.mails()) == 2
    assert answered(proved(ada, "email", {"otp": code_in(ada.mailed())}, tokens[0]))["access_token"]


@pytest.mark.parametrize("row", ["U63", "M04"])
def test_texted_code_completes_login_by_either_operation(new_tenant_server: NewTenantServer, row: str) -> None:
    ada = at_home(new_tenant_server, **TEXTED)
    token = demanded(elsewhere(ada), 1167)["SecondFactorAuthenticationToken"]
    (text,) = texts(ada)
    assert text["to"] == ada.phone
    by_row = {
        "U63": lambda otp: ada.ask("PUT", {"phone": ada.phone}, path="/identity/v2/auth/phone/otp", otp=otp),
        "M04": lambda otp: proved(ada, "sms", {"otp": otp}, token),
    }[row]
    assert refused(by_row("000000")) == (403, 1067)
    assert answered(by_row(code_in(text)))["Profile"]["Uid"] == ada.uid
    assert refused(by_row(code_in(text)))[0] == 403


def test_security_answers_complete_login_with_password(new_tenant_server: NewTenantServer) -> None:
    ada = at_home(new_tenant_server, **ASKED)
    asked = demanded(elsewhere(ada), 1165)["SecurityQuestions"]
    assert [one["QuestionId"] for one in asked] == ["pet"]

    def answers(text: str) -> TestResponse:
        return ada.call("U12", {"email": ada.email, "password": OLD, "securityanswer": {"pet": text}})

    assert refused(answers("x")) == (403, 1094)
    assert answered(answers("grey owl"))["Profile"]["Uid"] == ada.uid
    assert len(told(ada)) == 1


@on_one_database
def test_account_without_possible_challenge_is_notified(new_tenant_server: NewTenantServer) -> None:
    ada = at_home(new_tenant_server, **NOTHING)
    answered(elsewhere(ada))
    assert len(told(ada)) == 1


@on_one_database
def test_newly_watched_signal_does_not_challenge_known_account(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, risk={"browser": "notify"})
    signs_in(ada)
    ada.tenant.change_settings(risk={"browser": "notify", "ip": "demand"})
    signs_in(ada)
    assert refused(asks(ada, address=VIENNA)) == (403, 1166)


@on_one_database
@pytest.mark.parametrize(
    ("settings", "comes", "prefers"),
    [
        (PINS, lambda who, pin: again(who, pin), "email"),
        ({"passwordless_email": True, **TEXTED}, lambda who, _: by_link(who), "sms"),
        ({"passwordless_sms": True, **TEXTED}, lambda who, _: by_text(who), "email"),
    ],
    ids=["PIN", "mailed link", "texted code"],
)  # fmt: skip
def test_challenge_follows_every_first_factor(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], comes: Any, prefers: str
) -> None:
    ada = pinned(account_holder(new_tenant_server, **{**BY_PLACE, **settings}))
    pin = answered(asks(ada)).get("session_token")
    moved(ada)
    challenge = answered(comes(ada, pin))["SecondFactorAuthentication"]
    assert challenge["IsEmailOtpAuthenticatorVerified"] is (prefers == "email")
    assert challenge["IsOTPAuthenticatorVerified"] is (prefers == "sms")
    code = code_in(ada.mailed()) if prefers == "email" else ada.texted()
    login = proved(ada, prefers, {"otp": code}, challenge["SecondFactorAuthenticationToken"])
    assert answered(login)["Profile"]["Uid"] == ada.uid


@on_one_database
def test_new_mailed_codes_do_not_reset_sms_attempts(new_tenant_server: NewTenantServer) -> None:
    lock = {"type": "suspend", "maximum_failed_attempts": 3}
    ada = at_home(new_tenant_server, passwordless_email=True, lockout=lock, **TEXTED)
    for expected in (1067, 1067, 1198):
        answered(ada.call("U49", email=ada.email))
        login = answered(ada.call("U51", {"email": ada.email, "otp": code_in(ada.mailed())}))
        token = login["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
        assert refused(proved(ada, "sms", {"otp": "000000"}, token)) == (403, expected)


@on_one_database
def test_fresh_email_factor_is_not_challenged_again(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = at_home(new_tenant_server, passwordless_email=True)
    assert answered(by_link(ada))["SecondFactorAuthentication"] is None
    assert len(told(ada)) == 1


@on_one_database
def test_user_verifying_passkey_counts_as_two_factors(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, **BY_PLACE).has_passkey()
    signs_in(ada)
    moved(ada)
    assert answered(ada.comes())["Profile"]["Uid"] == ada.uid


@on_one_database
def test_challenge_enrols_no_optional_factor(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE)
    answered(asks(ada, path=LOGIN_2FA))
    moved(ada)
    challenge = ada.challenged()
    assert challenge["IsEmailOtpAuthenticatorVerified"] is True
    assert (challenge["QRCode"], challenge["ManualEntryCode"]) == (None, None)
    token = challenge["SecondFactorAuthenticationToken"]
    begun = pyotp.TOTP(ada.own_factors()["ManualEntryCode"])
    assert refused(proved(ada, "totp", {"authenticatorcode": begun.at(ada.tenant.services.clock.now())}, token)) == (
        403,
        1099,
    )
    assert answered(proved(ada, "email", {"otp": code_in(ada.mailed())}, token))["access_token"]
    assert ada.own_factors()["IsEmailOtpAuthenticatorVerified"] is False
    assert ada.signs_in().get_json()["SecondFactorAuthentication"] is None


@on_one_database
def test_enrolled_factor_replaces_fallback_challenge(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE).enrols()
    token = ada.token()
    assert refused(proved(ada, "email", {"emailid": ada.email}, token, "POST")) == (403, 1256)
    assert answered(ada.shows_code(ada.next_code(), token))["access_token"]


@on_one_database
def test_fallback_challenge_ends_once_factor_is_enrolled(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE)
    answered(asks(ada, path=LOGIN_2FA))
    moved(ada)
    token = ada.token()
    mailed = code_in(ada.mailed())
    ada.enrols()
    assert refused(proved(ada, "email", {"otp": mailed}, token)) == (403, 1103)


@on_one_database
def test_disabled_fallback_factor_allows_no_enrolment(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = second_factor_holder(new_tenant_server, **BY_PLACE)
    answered(asks(ada, path=LOGIN_2FA))
    moved(ada)
    token = ada.token()
    ada.tenant.change_settings(second_factors={"email": False, "security_questions": True})
    chosen = {"securityquestionanswer": [{"QuestionId": one, "Answer": "x"} for one in QUESTIONS]}
    assert refused(proved(ada, "securityquestionanswer", chosen, token)) == (403, 1258)


def by_link(who: AccountHolder) -> TestResponse:
    answered(who.call("U49", email=who.email))
    return who.call("U50", verificationtoken=token_in(who.mailed()))


def by_text(who: AccountHolder) -> TestResponse:
    answered(who.call("U53", phone=who.phone))
    return who.call("U54", {"phone": who.phone, "otp": who.texted()})
