"""Approval on another device. The service keeps the approval: the poll sends nothing but the challenge's token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from tests.support.authenticators.driver import Driver
from tests.support.credentials.devices import (
    AWS_KEY,
    PUSH,
    Phone,
    pinged,
    registration_address,
    resent,
    store_service_secrets,
)
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.tenants.tenant_server import answered, refused


@dataclass
class Phoned(SecondFactorHolder):
    """An account with a phone, and the requests that it got for each challenge."""

    requests: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    @property
    def device(self) -> Phone:
        return Phone(self.tenant, token=f"device of {self.uid}")

    def challenged(self, **query: Any) -> dict[str, Any]:
        challenge = super().challenged(**query)
        if requested := self.device.received_messages():
            self.requests[str(challenge["SecondFactorAuthenticationToken"])] = requested[-1]
        return challenge


class PushDriver(Driver):
    kind = FactorKind.PUSH
    settings = {"push": PUSH}
    wrong = (1295, 1296)
    missing = (1313,)
    lives_seconds = 180
    counts = False  # a poll guesses nothing; what a device denies counts: test_push
    over = (1296,)
    asked_at_once = 5  # in ten minutes: repeated requests wear people down

    def equipped(self, who: SecondFactorHolder) -> Phoned:
        store_service_secrets(who.tenant, push=AWS_KEY)
        return Phoned(**vars(who))

    def enrol(self, who: SecondFactorHolder) -> None:
        answered(phoned(who).device.scan(registration_address(who.own_factors()["PushQRCode"])))

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        return None

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> None:
        answered(phoned(who).device.scan(registration_address(challenge["PushQRCode"])))
        answered(phoned(who).device.respond("Yes"))

    def response(self, who: SecondFactorHolder, token: str) -> None:
        answered(phoned(who).device.respond("Yes", phoned(who).requests[token]))

    def attacker_response(self, who: SecondFactorHolder, token: str) -> None:
        """There is no picture to scan, and no device that could be asked."""
        assert refused(resent(who, token)) == (403, 1313)

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return pinged(who, token)

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        return who.own("DELETE", "push")


def phoned(who: SecondFactorHolder) -> Phoned:
    assert isinstance(who, Phoned)
    return who
