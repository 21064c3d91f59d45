"""A passkey as second factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from tests.support.authenticators.driver import Driver
from tests.support.credentials.factors import LOGIN_2FA, OWN_2FA, SecondFactorHolder
from tests.support.credentials.passkeys import PasskeyHolder, passkey_holder_of

MAKING = f"{LOGIN_2FA}/register/passkey"


class PasskeyDriver(Driver):
    kind = FactorKind.PASSKEY
    wrong = (1321,)
    missing = (1258, 1328)
    lives_seconds = 300

    def equipped(self, who: SecondFactorHolder) -> PasskeyHolder:
        return passkey_holder_of(who)

    def enrol(self, who: SecondFactorHolder) -> None:
        device(who).enrols_passkey()

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        return who.answer_challenge("register/passkey/begin", None, token, "GET")

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> Any:
        token = challenge["SecondFactorAuthenticationToken"]
        options = device(who).begins(f"{MAKING}/begin", secondfactorauthenticationtoken=token)
        return device(who).device.makes(options)

    def enrols_by(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return device(who).gives(f"{MAKING}/finish", response, secondfactorauthenticationtoken=token)

    def response(self, who: SecondFactorHolder, token: str) -> Any:
        return self._shown(who, token)

    def wrong_response(self, who: SecondFactorHolder, token: str) -> Any:
        return self._shown(who, token, signature=b"x")

    def attacker_response(self, who: SecondFactorHolder, token: str) -> Any:
        """Made for what the owner had begun."""
        return device(who).device.makes(device(who).begins(f"{OWN_2FA}/register/passkey/begin", own=True))

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return device(who).gives(f"{LOGIN_2FA}/passkey/finish", response, secondfactorauthenticationtoken=token)

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        return who.own("DELETE", "passkey")

    def _shown(self, who: SecondFactorHolder, token: str, **overrides: Any) -> dict[str, Any]:
        options = device(who).begins(f"{LOGIN_2FA}/passkey/begin", secondfactorauthenticationtoken=token)
        return device(who).device.shows(options, **overrides)


def device(who: SecondFactorHolder) -> PasskeyHolder:
    assert isinstance(who, PasskeyHolder)
    return who
