"""The factors that a sign-in has passed so far, and how a token stores them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.workflows.workflow_run import WorkflowRun

MFA: Final = "mfa"  # RFC 8176


@dataclass(frozen=True)
class Authentication:
    """The factors that a sign-in has passed so far."""

    methods: tuple[str, ...]  # amr (RFC 8176), in the order passed
    kind: str = "email"  # of the identifier that named the account
    channel: FactorKind | None = None  # where a code was sent: a second code there is no second factor
    opens_lock: bool = False  # the first factor came with the solution of a lock
    remember: bool = False
    suppress_webhook: bool = False  # an earlier request of this sign-in asked that no webhook receives its events
    authenticated_at: int | None = None  # on another device, whose sign-in this browser takes over; None: now and here
    ends_at: int | None = None  # of that device's session
    provider: str = ""  # the connection of a sign-in at a provider
    workflow: WorkflowRun | None = None  # how far the sign-in has come in the workflow in force

    @property
    def is_taken_over(self) -> bool:
        """Whether the factors were passed on another device."""
        return self.authenticated_at is not None

    @property
    def is_waiting(self) -> bool:
        """Whether the workflow in force waits for an action of the person."""
        return self.workflow is not None and not self.workflow.is_passed

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Authentication:
        """Return the authentication that a token stores."""
        fields = {name: value for name, value in stored.items() if name != "is_silent"}
        fields["suppress_webhook"] = bool(stored.get("is_silent"))
        fields["channel"] = FactorKind(stored["channel"]) if stored.get("channel") else None
        fields["workflow"] = WorkflowRun.from_stored(stored["workflow"]) if stored.get("workflow") else None
        return cls(**{**fields, "methods": tuple(stored["methods"])})

    def to_stored(self) -> dict[str, Any]:
        stored = {**vars(self), "methods": list(self.methods), "is_silent": self.suppress_webhook}
        del stored["suppress_webhook"]
        if not self.is_taken_over:  # the previous version knows neither
            del stored["authenticated_at"], stored["ends_at"]
        if not self.provider:  # nor this
            del stored["provider"]
        if self.workflow is None:  # nor this
            del stored["workflow"]
        else:
            stored["workflow"] = self.workflow.to_stored()
        return stored
