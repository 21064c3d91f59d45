"""An answer of an operation that moves the visitor, as tests read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from app.contract.accounts.models import PersonView
from app.contract.steps import AnyStep, StepResponse

STEPS = get_args(AnyStep)
"""The model of every step."""
_MEMBERS = {name for kind in STEPS for name in kind.model_fields}


@dataclass(frozen=True)
class AnsweredStep:
    """Has the members of the response, and of the step; those that only other steps have are None."""

    response: StepResponse

    @property
    def kind(self) -> type[AnyStep]:
        return type(self.response.step)

    @property
    def person(self) -> PersonView | None:
        """The account that the step's page shows."""
        step: Any = self.response.step
        requested = getattr(step, "reauthentication", None)
        shown: PersonView | None = requested.person if requested is not None else getattr(step, "person", None)
        return shown

    def __getattr__(self, name: str) -> Any:
        if name in StepResponse.model_fields:
            return getattr(self.response, name)
        if name not in _MEMBERS:
            raise AttributeError(name)
        return getattr(self.response.step, name, None)
