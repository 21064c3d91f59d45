"""Duo, to which the browser is led."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from app.identity.platform.services import IdentityServices
from tests.support.authenticators.driver import Driver
from tests.support.credentials.devices import store_service_secrets
from tests.support.credentials.factors import OWN_2FA, SecondFactorHolder
from tests.support.fakes.duo import DUO, SECRET, FakeDuo, duo
from tests.support.tenants.tenant_server import answered

BACK = "https://shop.example/duo"


@dataclass
class Led(SecondFactorHolder):
    """An account whose browser comes back from Duo, and where each challenge led it."""

    addresses: dict[str, str] = field(default_factory=dict, repr=False)

    def challenged(self, **query: Any) -> dict[str, Any]:
        challenge = super().challenged(**{"duoredirecturi": BACK, **query})
        self.addresses[str(challenge["SecondFactorAuthenticationToken"])] = challenge["DuoAuthEndpoint"]
        return challenge

    def begins(self) -> str:
        """Begin to enrol it with the access token; return where the browser is led."""
        shown = answered(self.tenant.send("GET", OWN_2FA, bearer=self.bearer, duoredirecturi=BACK))
        return str(shown["DuoAuthEndpoint"])


class DuoDriver(Driver):
    kind = FactorKind.DUO
    settings = {"duo": {**DUO, "redirect_uris": [BACK]}}
    wrong = (1332, 1333)
    missing = (1334,)
    counts = False  # a state is 122 bits which cannot be guessed, and Duo counts by itself
    there: FakeDuo
    # `lives_seconds` is none: a prompt ends with its challenge; test_duo asks it where there is no challenge

    @contextmanager
    def external_services(self, services: IdentityServices) -> Iterator[FakeDuo]:
        with duo(services) as self.there:
            yield self.there

    def equipped(self, who: SecondFactorHolder) -> Led:
        store_service_secrets(who.tenant, duo={"client_secret": SECRET})
        return Led(**vars(who))

    def enrol(self, who: SecondFactorHolder) -> None:
        answered(who.own("PUT", "duo", self.there.passed(led(who).begins())))

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        return None

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> Any:
        return self.there.passed(challenge["DuoAuthEndpoint"])

    def response(self, who: SecondFactorHolder, token: str) -> Any:
        return self.there.passed(led(who).addresses[token])

    def attacker_response(self, who: SecondFactorHolder, token: str) -> Any:
        """Of a prompt that the owner had begun."""
        return self.there.passed(led(who).begins())

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        return who.answer_challenge("duo", response, token)

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        return who.own("DELETE", "duo")


def led(who: SecondFactorHolder) -> Led:
    assert isinstance(who, Led)
    return who
