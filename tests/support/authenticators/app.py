"""An authenticator app."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyotp
from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from tests.support.authenticators.driver import Driver
from tests.support.credentials.factors import SecondFactorHolder


class AppDriver(Driver):
    kind = FactorKind.TOTP
    wrong = (1102,)
    missing = (1099,)
    lives_seconds = 60

    def enrol(self, who: SecondFactorHolder) -> None:
        who.enrols()

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        return None

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> str:
        who.app = pyotp.TOTP(challenge["ManualEntryCode"])
        return who.shows()

    def response(self, who: SecondFactorHolder, token: str) -> str:
        return who.next_code()

    def wrong_response(self, who: SecondFactorHolder, token: str) -> str:
        return who.shows(3600) if who.app else "000000"

    def attacker_response(self, who: SecondFactorHolder, token: str) -> str:
        """Return a code of a key whose enrolment the owner did not finish."""
        return who.scans().shows()

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return who.shows_code(response, token)

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        return who.own("DELETE", "totp")
