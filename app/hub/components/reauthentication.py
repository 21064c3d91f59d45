"""The account that must authenticate in an interaction: again (`prompt=login`, `max_age`), or to connect a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.contract.accounts.models import PASSKEY_METHOD, PASSWORD_METHOD
from app.contract.sign_in.sign_in_pages import InteractionRequest, resume
from app.contract.steps import AnyStep, LoginStep, RegisterStep
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit


@dataclass(frozen=True)
class Reauthentication:
    """The account of the session, or the one that a provider's identity is connected to, and the methods it can use."""

    account: str
    methods: Mapping[str, str] = field(default_factory=dict)
    """The account's methods, each with the identifier that it uses."""
    connects: str = ""
    """The title of the provider that this sign-in connects; empty for an account that is signed in."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @property
    def has_password(self) -> bool:
        return PASSWORD_METHOD in self.methods

    @property
    def has_passkey(self) -> bool:
        return PASSKEY_METHOD in self.methods

    @property
    def name(self) -> str:
        """The identifier for the password; empty if the account has none."""
        return self.methods.get(PASSWORD_METHOD, "")

    @classmethod
    def of(cls, step: AnyStep) -> Reauthentication | None:
        """Return the reauthentication that a step requires; None if it requires none."""
        options = step.reauthentication if isinstance(step, LoginStep | RegisterStep) else None
        if options is None:
            return None
        current_visit().use_account_language(options.person)
        return cls(options.person.label, options.methods, options.connects)

    @classmethod
    def sample(cls, *methods: str, connects: str = "") -> Reauthentication:
        """Return a sample with these methods."""
        name = "ada@example.com"
        return cls(name, dict.fromkeys(methods, name), connects)


def current_reauthentication() -> Reauthentication | None:
    """Return the reauthentication of the current interaction.

    Makes no API call without a session, unless the sign-in connects a provider.
    """
    visit = current_visit()
    if visit.interaction is None or not (visit.session or visit.interaction.needs_confirmation):
        return None
    return Reauthentication.of(api()(resume, InteractionRequest(interaction_id=visit.interaction.id)).step)
