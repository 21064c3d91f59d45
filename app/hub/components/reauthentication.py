"""Reauthentication: the signed-in account that must authenticate again in an interaction (`prompt=login`, `max_age`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.contract.sign_in.sign_in_pages import InteractionRequest, resume
from app.contract.steps import PASSKEY_METHOD, PASSWORD_METHOD, AnyStep, LoginStep, RegisterStep
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit


@dataclass(frozen=True)
class Reauthentication:
    """The account of the session, and the methods it can use."""

    account: str
    methods: Mapping[str, str] = field(default_factory=dict)
    """The account's methods, each with the identifier that it uses."""

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
        return cls(options.person.label, options.methods)

    @classmethod
    def sample(cls, *methods: str) -> Reauthentication:
        """Return a sample with these methods."""
        name = "ada@example.com"
        return cls(name, dict.fromkeys(methods, name))


def current_reauthentication() -> Reauthentication | None:
    """Return the reauthentication of the current interaction; makes no API call without a session."""
    visit = current_visit()
    if not visit.session or visit.interaction is None:
        return None
    return Reauthentication.of(api()(resume, InteractionRequest(interaction_id=visit.interaction.id)).step)
