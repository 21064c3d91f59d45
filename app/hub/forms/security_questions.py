"""A form with a field per security question of the tenant."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from flask_babel import lazy_gettext as _l
from wtforms import StringField
from wtforms.validators import Length

from app.hub.forms.base import HubForm

Questions = tuple[tuple[str, str], ...]


class QuestionsForm(HubForm):
    """A form with a field per question, built as a subclass by `of`."""

    questions: ClassVar[Questions] = ()

    @classmethod
    def of(cls, questions: Questions, **given: Any) -> Self:
        """Return the form with these questions."""
        widgets = {
            f"answer_{at}": StringField(
                text,
                [Length(max=500, message=_l("This is too long."))],
                render_kw={"autocomplete": "off", "dir": "auto"},
            )
            for at, (_, text) in enumerate(questions)
        }
        kind: type[Self] = type("TenantsQuestions", (cls,), {**widgets, "questions": questions})
        return kind(**given)

    @property
    def rows(self) -> list[Any]:
        return [self[f"answer_{at}"] for at in range(len(self.questions))]

    @property
    def typed(self) -> dict[str, str]:
        """The answers by question id."""
        return {question: self[f"answer_{at}"].data or "" for at, (question, _) in enumerate(self.questions)}
