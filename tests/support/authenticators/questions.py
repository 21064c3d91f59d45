"""Security questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from tests.support.authenticators.driver import Driver
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.tenants.tenant_server import answered

ROW = "securityquestionanswer"


def listed(pet: str, city: str) -> dict[str, Any]:
    return {ROW: [{"QuestionId": "pet", "Answer": pet}, {"QuestionId": "city", "Answer": city}]}


class QuestionsDriver(Driver):
    kind = FactorKind.QUESTIONS
    wrong = (1093, 1094)
    missing = (1257, 1258, 1259)
    is_used_up = False

    def enrol(self, who: SecondFactorHolder) -> None:
        answered(who.own("PUT", ROW, self._right(who)))

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        return None

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> Any:
        return self._right(who)

    def enrols_by(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return who.answer_challenge(ROW, response, token)

    def response(self, who: SecondFactorHolder, token: str) -> Any:
        return self._right(who)

    def wrong_response(self, who: SecondFactorHolder, token: str) -> Any:
        return listed(who.uid, "nowhere")

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return who.answer_challenge(f"verification/{ROW}", response, token, "POST")

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        return who.own("DELETE", ROW)

    def _right(self, who: SecondFactorHolder) -> dict[str, Any]:
        return listed(who.uid, f"born in {who.uid}")
