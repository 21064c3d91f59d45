"""Accounts with second factors, and the states in which their operations refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import code_in
from tests.support.authenticators.questions import ROW as SQA
from tests.support.authenticators.questions import listed
from tests.support.authenticators.sent import NUMBER
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.operation_cases.cases import AccountHolder, Act, Refusal, refusals
from tests.support.operation_cases.expected_operations import ROWS
from tests.support.operation_cases.shapes import LOGIN
from tests.support.tenants.tenant_server import answered

ALL = {"totp": True, "sms": True, "email": True, "security_questions": True, "passkey": False}


REQUIRED = {"two_factor": "required", "second_factors": ALL}


SESSION = {**LOGIN, "SecondFactorAuthentication": None}


SMS = {"AccountSid": str, "Sid": str}


FACTORS = frozenset(
    str.split(
        "QRCode ManualEntryCode PushQRCode DuoAuthEndpoint IsGoogleAuthenticatorVerified IsAuthenticatorVerified "
        "IsOTPAuthenticatorVerified IsEmailOtpAuthenticatorVerified IsSecurityQuestionAuthenticatorVerified "
        "IsPushDeviceRegistered IsDuoAuthenticatorVerified IsPasskeyAuthenticatorVerified OTPPhoneNo OTPStatus Email "
        "EmailOTPStatus SecurityQuestions"
    )
)


ONE = {"amount": 1, "minutes": 60}


def on(*without: str, **settings: Any) -> dict[str, Any]:
    """Return settings of a tenant that requires a second factor and offers all but these."""
    return {**REQUIRED, "second_factors": {**ALL, **dict.fromkeys(without, False)}, **settings}


def of(who: AccountHolder) -> SecondFactorHolder:
    return SecondFactorHolder(**vars(who))


def totp(who: SecondFactorHolder) -> SecondFactorHolder:
    return who.enrols()


def texts(who: SecondFactorHolder) -> SecondFactorHolder:
    answered(who.own("PUT", "sms/phone", {"phoneno2fa": NUMBER}))
    answered(who.own("PUT", "sms", {"otp": who.texted()}))
    return who


def mails(who: SecondFactorHolder) -> SecondFactorHolder:
    answered(who.own("GET", "email", emailid=who.email))
    answered(who.own("PUT", "email", {"otp": code_in(who.mailed())}))
    return who


def questions(who: SecondFactorHolder) -> SecondFactorHolder:
    answered(who.own("PUT", SQA, listed("Grey Owl", "Bern")))
    return who


def paper(who: SecondFactorHolder) -> SecondFactorHolder:
    who.codes = totp(who).backup_codes()
    return who


Has = Callable[[SecondFactorHolder], SecondFactorHolder]


def nothing(who: SecondFactorHolder) -> SecondFactorHolder:
    return who


def ask(row: str, who: SecondFactorHolder, body: Mapping[str, Any] | None, token: str) -> TestResponse:
    return who.call(row, body, secondfactorauthenticationtoken=token)


def unknown(row: str, body: Mapping[str, Any] | None) -> Act:
    return lambda who: ask(row, of(who), body, "no such token")


def after_expiry(row: str, body: Mapping[str, Any] | None) -> Act:
    def act(account_holder: AccountHolder) -> TestResponse:
        who = of(account_holder)
        token = who.token()
        who.advance_clock(minutes=10)
        return ask(row, who, body, token)

    return act


def locked_since(row: str, body: Mapping[str, Any] | None, has: Has) -> Act:
    def act(account_holder: AccountHolder) -> TestResponse:
        who = has(of(account_holder))
        token = who.token()
        who.ask("POST", {"email": who.email, "password": "wrong"}, path=ROWS["M01"].path)
        return ask(row, who, body, token)

    return act


def base(row: str, body: Mapping[str, Any] | None, has: Has = nothing) -> list[Refusal]:
    """Return the refusals of a challenge token."""
    shut = on(lockout={"type": "suspend", "maximum_failed_attempts": 1})
    return refusals(
        row,
        (1103, unknown(row, body), on()),
        (1104, after_expiry(row, body), on()),
        (1264, locked_since(row, body, has), shut),
    )


def texted(who: SecondFactorHolder) -> dict[str, Any]:
    return {"otp": who.texted()}


PHONE, PAGE = {"phoneno2fa": NUMBER}, {"phone_login": True}


APP, OTP, CODE = {"authenticatorcode": "000000"}, {"otp": "000000"}, {"backupcode": "00000-00000"}


RIGHT_ANSWERS = listed("Grey Owl", "Bern")
