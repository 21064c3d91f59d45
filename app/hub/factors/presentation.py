"""The base class of factor forms, and how pages show an authenticator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from wtforms import BooleanField, HiddenField

from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorAnswer, FactorPrompt
from app.hub.forms.code_field import OneTimeCodeField
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice
from app.kit.operations.errors import ApiError


class FactorForm(HubForm):
    """A form that verifies or enrols a factor; subclasses add fields."""

    kind = HiddenField()
    trust = BooleanField()
    wrong: Any = None
    """The error of a wrong answer; None if the form has no field."""
    wrong_errors: tuple[type[ApiError], ...] = ()
    """Refusals of wrong, expired or used answers; the page does not tell them apart."""
    notices: ClassVar[Mapping[type[ApiError], Notice]] = {}
    """The notice for each refusal that is not about the typed answer."""
    error_field: str = "code"
    """The field that shows the error."""

    def to_answer(self, interaction_id: str) -> FactorAnswer:
        """Return the answer for the identity service."""
        raise NotImplementedError

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the error of a wrong answer, or one of `refusals`; return whether the refusal is one of these."""
        if not isinstance(refusal, self.wrong_errors):
            return super().add_refusal(refusal)
        self.add_error(self.error_field, self.wrong)
        return True


class FactorCodeForm(FactorForm):
    """A one-time code of an app or a message."""

    code = OneTimeCodeField(_l("Enter the code."))

    def to_answer(self, interaction_id: str) -> FactorAnswer:
        kind = FactorKind(str(self.kind.data))
        return FactorAnswer(
            interaction_id=interaction_id, kind=kind, code=(self.code.data or "")[:64], trust=bool(self.trust.data)
        )


@dataclass(frozen=True)
class FactorPresentation:
    """How pages show an authenticator; its template is `templates/factors/<kind>.html`."""

    kind: FactorKind
    name: Any
    hint: Any
    """What the person does with it, as shown in a list."""
    icon: str
    form: type[FactorForm]
    scripts: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Style sheets of its own, within the document."""
    own_hint: Callable[[str], Any] = str
    """The hint of an account that has it, from the identity service's: a masked number, a count."""
    samples: Mapping[str, FactorPrompt] = field(default_factory=dict)
    """Its prompt in each state, by name."""
    enrolment_title: Any = ""
    """Of the account page that enrols it; by default the name."""
    is_on_phone: bool = False
    """Whether it is lost with the phone."""
    needs_target: bool = False
    """Whether a code is sent first, to a phone number or address."""

    @property
    def template(self) -> str:
        return f"factors/{self.kind.value}.html"
