"""Captcha questions in text, and the digits that people type."""

from __future__ import annotations

import pytest

from app.hub.forms.captcha import NUMBERS, question_text
from app.identity.credentials.captcha.built_in import MAX_NUMBER, parse_number, random_question
from tests.support.visitors.captchas import answer_to


def test_every_question_has_a_text_and_the_expected_answer() -> None:
    kinds, texts = set(), set()
    for _ in range(2_000):
        question, answer = random_question()
        assert all(0 < number <= MAX_NUMBER for number in question.numbers)
        assert answer == answer_to(question) >= 0
        kinds.add(question.kind)
        texts.add(str(question_text(question)))
    assert kinds == {"sum", "difference", "largest", "smallest", "nth"}
    assert len(texts) > 1_200  # a list of seen questions is useless
    assert len(NUMBERS) == MAX_NUMBER + 1


def test_no_answer_is_frequent_enough_to_guess() -> None:
    answers = [random_question()[1] for _ in range(5_000)]
    assert max(answers.count(answer) for answer in set(answers)) < 5_000 * 0.12


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("22", 22), (" 22 ", 22), ("٢٢", 22), ("۲۲", 22), ("２２", 22), ("२२", 22), ("\u200f22\u200f", 22), ("007", 7), ("2\u00a02", 22),
        ("", None), (" ", None), ("twenty", None), ("-2", None), ("2.0", None), ("2²", None), ("½", None), ("Ⅻ", None), ("1" * 5, None),
        ("1" * 10_000, None), ("2\x00", None), ("\ud800", None), ("0x16", None), ("2_2", None),
    ],
)  # fmt: skip
def test_only_digits_of_any_script_are_read(typed: str, number: int | None) -> None:
    assert parse_number(typed) == number
