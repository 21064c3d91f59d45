"""Codes on paper, beside an authenticator app."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from tests.support.authenticators.driver import Driver
from tests.support.credentials.factors import SecondFactorHolder


class PaperDriver(Driver):
    kind = FactorKind.BACKUP_CODE
    wrong = (1129,)
    missing = (1128,)
    stands_alone = False

    def enrol(self, who: SecondFactorHolder) -> None:
        who.enrols()
        who.codes = who.backup_codes()

    def response(self, who: SecondFactorHolder, token: str) -> str:
        return who.codes.pop()

    def wrong_response(self, who: SecondFactorHolder, token: str) -> str:
        return "00000-00000"

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return who.answer_challenge("backupcode", {"backupcode": response}, token)

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        """New ones end the old ones; with the last factor all of them go."""
        renewed = who.own("GET", "backupcode/reset")
        return who.own("DELETE", "totp") if renewed.status_code == 200 else renewed
