"""The interface of an authenticator for the common suite."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from app.identity.platform.services import IdentityServices
from tests.support.credentials.factors import SecondFactorHolder

SENT_FREELY = {"amount": 0, "minutes": 60}


class Driver:
    """One authenticator, driven by the interface's own rows. `who` is a person of a test, `token` that of a challenge."""

    kind: ClassVar[FactorKind]
    settings: ClassVar[Mapping[str, Any]] = {}
    """What a tenant states beside its switch."""
    wrong: ClassVar[tuple[int, ...]]
    """Codes of a response that is wrong, expired, used or from another account."""
    missing: ClassVar[tuple[int, ...]]
    """Codes where the account did not enrol it."""
    lives_seconds: ClassVar[int | None] = None
    """Lifetime of a response; None where it does not expire."""
    is_used_up: ClassVar[bool] = True
    """Whether a response works only once; answers that people know work again with another challenge."""
    stands_alone: ClassVar[bool] = True
    """Whether it is a second factor by itself."""
    counts: ClassVar[bool] = True
    """Whether a wrong response counts toward the account's lock; not where nothing can be guessed."""
    over: ClassVar[tuple[int, ...]] = (1103,)
    """Codes where the challenge is over, or another tenant's."""
    asked_at_once: ClassVar[int] = 10
    """How many concurrent sign-ins may request it."""

    def __str__(self) -> str:
        return self.kind.value

    def tenant_settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings of a tenant that has it, and an authenticator app beside it."""
        on = {FactorKind.TOTP, self.kind}
        switches = {kind.value: kind in on for kind in FactorKind if kind is not FactorKind.BACKUP_CODE}
        sending = {"sms": SENT_FREELY, "sms_per_address": SENT_FREELY, "sms_per_day": 0, "mails": SENT_FREELY}
        made = {"second_factors": switches, "sending": {**sending, "mails_in_all": SENT_FREELY}, **self.settings}
        return {**made, **more}

    def external_services(self, services: IdentityServices) -> AbstractContextManager[Any]:
        """Run the external services that it needs, for the duration of a test."""
        return nullcontext()

    def equipped(self, who: SecondFactorHolder) -> SecondFactorHolder:
        """Return the account with the necessary device, such as a phone."""
        return who

    def enrol(self, who: SecondFactorHolder) -> None:
        """Enrol it with the access token."""
        raise NotImplementedError

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        """Begin to enrol it with a challenge's token; None where that takes no request."""
        raise NotImplementedError

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> Any:
        """Return the first response of an enrolment that began at a challenge."""
        raise NotImplementedError

    def enrols_by(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        """Send a first response with a challenge's token."""
        return self.show(who, token, response)

    def response(self, who: SecondFactorHolder, token: str) -> Any:
        """Return a correct response to a challenge."""
        raise NotImplementedError

    def wrong_response(self, who: SecondFactorHolder, token: str) -> Any:
        """Return a wrong response, after `response` was called; only where it `counts`."""
        raise NotImplementedError

    def attacker_response(self, who: SecondFactorHolder, token: str) -> Any:
        """Return the best response of an attacker who has only the password, where another factor is enrolled."""
        return self.response(who, token)

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        """Answer a challenge."""
        raise NotImplementedError

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        """Remove it with the access token."""
        raise NotImplementedError
