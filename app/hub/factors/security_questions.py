"""Security questions."""

from collections.abc import Mapping
from typing import Final

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind, Question
from app.contract.second_factors.pages.second_factor_pages import FactorAnswer, FactorPrompt
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.locale import lazy_gettext as _l
from app.hub.web.visit import current_visit

ANSWER: Final = "answer."
"""Prefix of an answer's field name; the question's id follows."""
_MAX_ANSWERS, _MAX_CHARACTERS = 10, 500


class FactorAnswersForm(FactorForm):
    """Answers to the questions that the page shows. Typed answers are not rendered again."""

    wrong = _l("Wrong answer. Capitalization and spaces don’t matter.")
    wrong_errors = (errors.WrongSecurityAnswer, errors.WrongQuestionOrAnswer)
    error_field = "answers"
    refusals = {errors.TooFewAnswers: ("answers", _l("Not enough answers. Answer more questions."))}

    def to_answer(self, interaction_id: str) -> FactorAnswer:
        kind, trust = FactorKind(str(self.kind.data)), bool(self.trust.data)
        return FactorAnswer(
            interaction_id=interaction_id, kind=kind, answers=typed_answers(current_visit().form), trust=trust
        )


def typed_answers(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the answers of a posted form by question id, without empty ones."""
    typed = {name: text.strip()[:_MAX_CHARACTERS] for name, text in fields.items() if name.startswith(ANSWER)}
    provided = [(name.removeprefix(ANSWER), text) for name, text in typed.items() if text]
    return dict(provided[:_MAX_ANSWERS])


_SAMPLE_QUESTIONS: Final = [
    Question(question_id="pet", question="What was your first pet called?"),
    Question(question_id="city", question="In which town did your parents meet?"),
    Question(question_id="teacher", question="Who was your favourite teacher?"),
]
PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.QUESTIONS,
    name=_l("Security questions"),
    hint=_l("Answers only you know"),
    icon="question",
    form=FactorAnswersForm,
    samples={
        "enrolled": FactorPrompt(
            kind=FactorKind.QUESTIONS, is_enrolled=True, questions=_SAMPLE_QUESTIONS[:2], answers_needed=2
        ),
        "to enrol": FactorPrompt(kind=FactorKind.QUESTIONS, questions=_SAMPLE_QUESTIONS, answers_needed=2),
    },
)
