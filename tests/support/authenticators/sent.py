"""Codes by text message and by mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from tests.support.accounts.mailbox import code_in, other_code
from tests.support.authenticators.driver import Driver
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.tenants.tenant_server import answered

NUMBER = "+442079460123"


NONE = "000000"
"""A code that was never sent."""


class SmsDriver(Driver):
    kind = FactorKind.SMS
    wrong = (1067, 1068, 1069, 1070)
    missing = (1100, 1117)
    lives_seconds = 300

    def enrol(self, who: SecondFactorHolder) -> None:
        answered(who.own("PUT", "sms/phone", {"phoneno2fa": NUMBER}))
        answered(who.own("PUT", "sms", {"otp": who.texted()}))

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        return who.answer_challenge("sms/phone", {"phoneno2fa": NUMBER}, token)

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> str:
        return who.texted()

    def response(self, who: SecondFactorHolder, token: str) -> str:
        answered(who.answer_challenge("sms/resend", None, token, "GET"))
        return who.texted()

    def wrong_response(self, who: SecondFactorHolder, token: str) -> str:
        return other_code(who.texted())

    def attacker_response(self, who: SecondFactorHolder, token: str) -> str:
        return NONE

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return who.answer_challenge("sms", {"otp": response}, token)

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        return who.own("DELETE", "sms")


class MailDriver(Driver):
    kind = FactorKind.EMAIL
    wrong = (1185, 1186, 1187, 1188)
    missing = (1256,)
    lives_seconds = 300

    def enrol(self, who: SecondFactorHolder) -> None:
        answered(who.own("GET", "email", emailid=who.email))
        answered(who.own("PUT", "email", {"emailid": who.email, "otp": code_in(who.mailed())}))

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        return who.answer_challenge("email", {"emailid": who.email}, token, "POST")

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> str:
        return code_in(who.mailed())

    def response(self, who: SecondFactorHolder, token: str) -> str:
        answered(who.answer_challenge("email", {"emailid": who.email}, token, "POST"))
        return code_in(who.mailed())

    def wrong_response(self, who: SecondFactorHolder, token: str) -> str:
        return other_code(code_in(who.mailed()))

    def attacker_response(self, who: SecondFactorHolder, token: str) -> str:
        return NONE

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return who.answer_challenge("email", {"emailid": who.email, "otp": response}, token)

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        return who.own("DELETE", "email")
