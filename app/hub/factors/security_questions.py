"""Security questions."""

from typing import Final

from flask import request
from flask_babel import lazy_gettext as _l

from app.contract import errors as e
from app.contract.hub_second_factors import FactorAnswer, FactorPrompt
from app.contract.second_factors.challenge import FactorKind, Question
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.kit.errors import ApiError

_ANSWER: Final = "answer."
"""What the name of a question's field begins with; its id follows."""
_MOST, _MOST_LETTERS = 10, 500


class QuestionsForm(FactorForm):
    """An answer to each question; which there are, the page knows. What was typed is not drawn again."""

    wrong = _l("Those answers did not work. Capital letters and spaces do not matter.")
    named = "answers"

    def proof(self, attempt: str) -> FactorAnswer:
        typed = {name: text.strip()[:_MOST_LETTERS] for name, text in request.form.items() if name.startswith(_ANSWER)}
        given = [(name.removeprefix(_ANSWER), text) for name, text in typed.items() if text]
        kind, trust = FactorKind(str(self.kind.data)), bool(self.trust.data)
        return FactorAnswer(attempt=attempt, kind=kind, answers=dict(given[:_MOST]), trust=trust)

    def add_refusal(self, refusal: ApiError) -> bool:
        """Too few answers are no wrong ones."""
        if not isinstance(refusal, e.TooFewAnswers):
            return super().add_refusal(refusal)
        self.add_error(self.named, _l("Some answers are missing."))
        return True


_ASKED: Final = [
    Question(question_id="pet", question="What was your first pet called?"),
    Question(question_id="city", question="In which town did your parents meet?"),
    Question(question_id="teacher", question="Who was your favourite teacher?"),
]
PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.QUESTIONS,
    name=_l("Security questions"),
    hint=_l("Answers that only you know"),
    icon="note",
    form=QuestionsForm,
    samples={
        "enrolled": FactorPrompt(kind=FactorKind.QUESTIONS, is_enrolled=True, questions=_ASKED[:2], answers_needed=2),
        "to enrol": FactorPrompt(kind=FactorKind.QUESTIONS, questions=_ASKED, answers_needed=2),
    },
)
