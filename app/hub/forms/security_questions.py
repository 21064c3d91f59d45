"""The form with one field per security question."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from wtforms import StringField
from wtforms.validators import Length

from app.hub.forms.tenant_forms import tenant_form
from app.hub.rendering.form import HubForm, too_long

Questions = tuple[tuple[str, str], ...]


class SecurityAnswersForm(HubForm):
    """A form with a field per question, built as a subclass by `of`."""

    questions: ClassVar[Questions] = ()

    @classmethod
    def of(cls, questions: Questions, **form_arguments: Any) -> Self:
        """Return the form with these questions."""

        def members() -> dict[str, Any]:
            widgets = {
                f"answer_{at}": StringField(
                    text,
                    [Length(max=500, message=too_long(500))],
                    render_kw={"autocomplete": "off", "dir": "auto"},
                )
                for at, (_, text) in enumerate(questions)
            }
            return {**widgets, "questions": questions}

        return tenant_form(cls, (), members, questions)(**form_arguments)

    @property
    def rows(self) -> list[Any]:
        return [self[f"answer_{at}"] for at in range(len(self.questions))]

    @property
    def typed(self) -> dict[str, str]:
        """The answers by question id."""
        return {question: self[f"answer_{at}"].data or "" for at, (question, _) in enumerate(self.questions)}
