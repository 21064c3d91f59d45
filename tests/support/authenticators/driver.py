"""What the common suite needs of an authenticator."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from app.identity.platform.services import Services
from tests.support.factors import SecondFactorHolder

SENT_FREELY = {"amount": 0, "minutes": 60}


class Driver:
    """One authenticator, driven by the interface's own rows. `who` is a person of a test, `token` that of a challenge."""

    kind: ClassVar[FactorKind]
    settings: ClassVar[Mapping[str, Any]] = {}
    """What a tenant states beside its switch."""
    wrong: ClassVar[tuple[int, ...]]
    """Codes of a proof that is wrong, old, used or somebody else's."""
    missing: ClassVar[tuple[int, ...]]
    """Codes where the account did not enrol it."""
    lives_seconds: ClassVar[int | None] = None
    """How long a proof is good; None where it does not end by itself."""
    is_used_up: ClassVar[bool] = True
    """Whether a proof works once; what people know works again, with another challenge."""
    stands_alone: ClassVar[bool] = True
    """Whether it is a second factor by itself."""
    counts: ClassVar[bool] = True
    """Whether a wrong proof counts toward the account's lock; not where there is nothing to guess."""
    over: ClassVar[tuple[int, ...]] = (1103,)
    """Codes where the challenge is over, or another tenant's."""
    asked_at_once: ClassVar[int] = 10
    """In how many sign-ins at once somebody may be asked for it."""

    def __str__(self) -> str:
        return self.kind.value

    def tenant_settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings of a tenant that has it, and an authenticator app beside it."""
        switches = {"totp": True, "sms": False, "email": False, "passkey": False, "push": False, "duo": False}
        if self.kind.value in switches or self.kind is FactorKind.QUESTIONS:
            switches[self.kind.value] = True
        sending = {"sms": SENT_FREELY, "sms_per_address": SENT_FREELY, "sms_per_day": 0, "mails": SENT_FREELY}
        made = {"second_factors": switches, "sending": {**sending, "mails_in_all": SENT_FREELY}, **self.settings}
        return {**made, **more}

    def elsewhere(self, services: Services) -> AbstractContextManager[Any]:
        """Run what it needs of others, for as long as a test takes."""
        return nullcontext()

    def equipped(self, who: SecondFactorHolder) -> SecondFactorHolder:
        """Return somebody with what it takes, as a phone."""
        return who

    def enrol(self, who: SecondFactorHolder) -> None:
        """Enrol it with the access token."""
        raise NotImplementedError

    def begin(self, who: SecondFactorHolder, token: str) -> TestResponse | None:
        """Begin to enrol it with a challenge's token; None where that takes no request."""
        raise NotImplementedError

    def first_response(self, who: SecondFactorHolder, challenge: Mapping[str, Any]) -> Any:
        """Return the first proof of what was begun at a challenge."""
        raise NotImplementedError

    def enrols_by(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        """Show a first proof with a challenge's token."""
        return self.show(who, token, response)

    def response(self, who: SecondFactorHolder, token: str) -> Any:
        """Return a right proof, for a challenge."""
        raise NotImplementedError

    def wrong_response(self, who: SecondFactorHolder, token: str) -> Any:
        """Return one that is wrong, after `proof` was asked for; only where it `counts`."""
        raise NotImplementedError

    def attacker_response(self, who: SecondFactorHolder, token: str) -> Any:
        """Return the best that somebody can show who has the password alone, where another factor is enrolled."""
        return self.response(who, token)

    def show(self, who: SecondFactorHolder, token: str, response: Any) -> TestResponse:
        """Answer a challenge."""
        raise NotImplementedError

    def remove(self, who: SecondFactorHolder) -> TestResponse:
        """Remove it with the access token."""
        raise NotImplementedError
