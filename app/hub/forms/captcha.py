"""The captcha of forms: a question in the visitor's language and a proof of work for browsers with scripts; or the widget
of the tenant's provider, with the question as its accessible alternative.

To use it, declare `captcha = CaptchaField()`, send `form.captcha.answer` with the request, call `prompt` with the challenge
of a refusal, and render it with the macro `captcha` of `macros/forms.html`; the page runs the script `work` or `widget`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from flask_babel import lazy_pgettext, pgettext
from wtforms import StringField

from app.contract.captcha.models import CaptchaAnswer, CaptchaChallenge, CaptchaQuestion
from app.hub.locale import lazy_gettext as _l
from app.hub.tenants.captcha_widget import WidgetView
from app.hub.web.visit import current_visit

NUMBERS: Final = (
    lazy_pgettext("number", "zero"),
    lazy_pgettext("number", "one"),
    lazy_pgettext("number", "two"),
    lazy_pgettext("number", "three"),
    lazy_pgettext("number", "four"),
    lazy_pgettext("number", "five"),
    lazy_pgettext("number", "six"),
    lazy_pgettext("number", "seven"),
    lazy_pgettext("number", "eight"),
    lazy_pgettext("number", "nine"),
    lazy_pgettext("number", "ten"),
    lazy_pgettext("number", "eleven"),
    lazy_pgettext("number", "twelve"),
    lazy_pgettext("number", "thirteen"),
    lazy_pgettext("number", "fourteen"),
    lazy_pgettext("number", "fifteen"),
    lazy_pgettext("number", "sixteen"),
    lazy_pgettext("number", "seventeen"),
    lazy_pgettext("number", "eighteen"),
    lazy_pgettext("number", "nineteen"),
    lazy_pgettext("number", "twenty"),
)
_CHALLENGE: Final = re.compile(
    r"(?P<bits>\d{1,2})\.(?P<seed>[\w-]{22})\.(?P<kind>sum|difference|largest|smallest|nth)(?P<numbers>(\.\d{1,2}){2,5})",
    re.ASCII,
)


_PARTS: Final = ("challenge", "asked", "work", "proof", "randstr")
_WIDGET_ALONE: Final = "widget"


class CaptchaField(StringField):
    """A challenge and its answer. Renders nothing before `prompt`, or before a posted form contains a challenge."""

    is_replaced_by_script = True
    """The provider's widget or the browser's proof of work may hide the question; its error is then in the summary."""
    challenge: CaptchaChallenge | None = None
    provider_widget: WidgetView | None = None
    """The widget of the tenant's provider, with the question or alone."""
    was_answered: bool = False
    """Whether the previous question was answered in words."""

    def process(self, formdata: Any, data: Any = None, extra_filters: Any = None) -> None:
        """Read the answer and the challenge that it belongs to."""
        super().process(formdata, data, extra_filters)
        parts = {part: (formdata or {}).get(f"{self.name}_{part}", "") for part in _PARTS}
        if parts["asked"]:
            self._set(_read(parts["challenge"], parts["asked"]), current_visit().tenant.captcha)
        self.work, self.proof, self.randstr = parts["work"], parts["proof"], parts["randstr"]

    def prompt(self, challenge: CaptchaChallenge | None, widget: WidgetView | None = None) -> None:
        """Show a new challenge or the tenant's widget; the previous answer is dropped."""
        self.was_answered = bool(self.data)
        self._set(challenge, widget or current_visit().tenant.captcha)
        self.data = self.work = self.proof = self.randstr = ""

    def _set(self, challenge: CaptchaChallenge | None, widget: WidgetView | None) -> None:
        self.challenge, self.provider_widget = challenge, widget
        if challenge is not None and challenge.question is not None:
            self.label.text = question_text(challenge.question)

    @property
    def is_shown(self) -> bool:
        return self.challenge is not None or self.provider_widget is not None

    @property
    def answer(self) -> CaptchaAnswer | None:
        """The answer for the request; None without a challenge. Raises ValidationError if it is too long."""
        if not self.is_shown:
            return None
        token = self.challenge.token if self.challenge else ""
        return CaptchaAnswer(
            challenge=token, answer=self.data or "", work=self.work, proof=self.proof, randstr=self.randstr
        )

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """Hidden fields that render the challenge again without an API call. A provider's response is for one try."""
        names = {"proof": "", "randstr": ""} if self.provider_widget else {"work": self.work}
        if self.challenge is None or self.challenge.question is None:
            names["asked"] = _WIDGET_ALONE
        else:
            question = self.challenge.question
            encoded = [
                str(self.challenge.work_bits),
                self.challenge.work_seed,
                question.kind,
                *map(str, question.numbers),
            ]
            names |= {"challenge": self.challenge.token, "asked": ".".join(encoded)}
        return [(f"{self.name}_{name}", value) for name, value in names.items()]

    @property
    def refused(self) -> tuple[str, Any]:
        """The field and the text of the error of a failed captcha."""
        if self.provider_widget is None or self.was_answered:
            return self.name, OTHER_QUESTION
        return (self.name, _FAILED) if self.challenge else ("", _WIDGET_FAILED)


OTHER_QUESTION: Final = _l("Wrong answer. Here’s another question.")
_FAILED: Final = _l("We couldn’t verify that. Try again, or answer this question.")
_WIDGET_FAILED: Final = _l("We couldn’t verify that you’re human. Try again.")


def _read(token: str, encoded: str) -> CaptchaChallenge | None:
    """Parse the challenge of a posted form, which is untrusted: it can hold nothing but numbers and only affects rendering."""
    challenge_match = _CHALLENGE.fullmatch(encoded)
    if challenge_match is None or not token or len(token) > 600:
        return None
    numbers = [int(part) for part in challenge_match["numbers"].split(".")[1:]]
    if any(number >= len(NUMBERS) for number in numbers) or (
        challenge_match["kind"] == "nth" and not 0 < numbers[0] < 5
    ):
        return None
    question = CaptchaQuestion.model_validate({"kind": challenge_match["kind"], "numbers": numbers})
    return CaptchaChallenge(
        token=token,
        work_seed=challenge_match["seed"],
        work_bits=min(int(challenge_match["bits"]), 22),
        question=question,
    )


def question_text(question: CaptchaQuestion) -> Any:
    """Return the text of a question; numbers are spelt out for screen readers."""
    words = [str(NUMBERS[number]) for number in question.numbers]
    if question.kind == "sum":
        return _l("What is %(first)s plus %(second)s?", first=words[0], second=words[1])
    if question.kind == "difference":
        return _l("What is %(first)s minus %(second)s?", first=words[0], second=words[1])
    listed = pgettext("between numbers", ", ")
    if question.kind == "largest":
        return _l("Which number is the largest: %(numbers)s?", numbers=listed.join(words))
    if question.kind == "smallest":
        return _l("Which number is the smallest: %(numbers)s?", numbers=listed.join(words))
    return _position(question.numbers[0], listed.join(words[1:]))


def _position(position: int, numbers: str) -> Any:
    return (
        _l("Which number is listed first: %(numbers)s?", numbers=numbers),
        _l("Which number is listed second: %(numbers)s?", numbers=numbers),
        _l("Which number is listed third: %(numbers)s?", numbers=numbers),
        _l("Which number is listed last: %(numbers)s?", numbers=numbers),
    )[position - 1]


SAMPLE_WORK: Final = "103"
"""The solution of the sample with 8 bits."""


def sample(*, kind: str = "sum", numbers: tuple[int, ...] = (17, 5), work_bits: int = 22) -> CaptchaChallenge:
    """Return a sample challenge; `SAMPLE_WORK` solves one of 8 bits."""
    question = CaptchaQuestion.model_validate({"kind": kind, "numbers": list(numbers)})
    return CaptchaChallenge(token="sample", work_seed="0" * 22, work_bits=work_bits, question=question)
