"""Who is signed in and proves it once more, as the pages of a sign-in name them; only their own session makes them do so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.contract.hub import PASSKEY_METHOD, PASSWORD_METHOD, InteractionRequest, Next, resume
from app.hub.brand import initials
from app.hub.services import api
from app.hub.visit import current_visit


@dataclass(frozen=True)
class Reauthentication:
    """Whose session it is."""

    account: str
    ways: Mapping[str, str] = field(default_factory=dict)
    """How they prove it, and by which name each way knows them."""

    @property
    def letters(self) -> str:
        return initials(self.account)

    @property
    def has_password(self) -> bool:
        return PASSWORD_METHOD in self.ways

    @property
    def has_passkey(self) -> bool:
        return PASSKEY_METHOD in self.ways

    @property
    def name(self) -> str:
        """By what the password's field knows them."""
        return self.ways.get(PASSWORD_METHOD, "")

    @classmethod
    def of(cls, step: Next) -> Reauthentication | None:
        """Return whom a step asks once more; None where it asks anybody."""
        if not step.must_reauthenticate or step.person is None:
            return None
        current_visit().use_account_language(step.person)
        return cls(step.person.label, step.ways)

    @classmethod
    def sample(cls, *ways: str) -> Reauthentication:
        """Return somebody for samples."""
        name = "ada@example.com"
        return cls(name, dict.fromkeys(ways, name))


def current_reauthentication() -> Reauthentication | None:
    """Return who is asked once more in this attempt; asks nobody where no session is there to tell."""
    visit = current_visit()
    if not visit.session or visit.interaction is None:
        return None
    return Reauthentication.of(api()(resume, InteractionRequest(attempt=visit.interaction.id)))
