"""Questions without words: a few numbers and what to do with them. The page says them in the visitor's language."""

from __future__ import annotations

import unicodedata
from typing import Literal

from app.contract.captcha import Question
from app.kit.randomness import below

MAX_NUMBER = 20
"""The pages have words for the numbers up to this."""
Kind = Literal["sum", "difference", "largest", "smallest", "nth"]
_KINDS: tuple[Kind, ...] = ("sum", "difference", "largest", "smallest", "nth")


def random_question() -> tuple[Question, int]:
    """Return a question and its answer."""
    kind = _KINDS[below(len(_KINDS))]
    if kind in ("sum", "difference"):
        numbers = [2 + below(MAX_NUMBER - 1), 2 + below(MAX_NUMBER - 1)]
        numbers = sorted(numbers, reverse=True) if kind == "difference" else numbers
        return Question(kind=kind, numbers=numbers), numbers[0] + (numbers[1] if kind == "sum" else -numbers[1])
    held = _distinct_numbers(4)
    if kind == "nth":
        position = 1 + below(4)
        return Question(kind=kind, numbers=[position, *held]), held[position - 1]
    return Question(kind=kind, numbers=held), max(held) if kind == "largest" else min(held)


def _distinct_numbers(count: int) -> list[int]:
    held: list[int] = []
    while len(held) < count:
        number = 1 + below(MAX_NUMBER)
        if number not in held:
            held.append(number)
    return held


def parse_number(text: str) -> int | None:
    """Return the number that somebody typed, in the digits of any script; None where it is none."""
    letters = [letter for letter in text if unicodedata.category(letter) not in ("Cf", "Zs")]
    digits = [unicodedata.decimal(letter, -1) for letter in letters]
    if not 0 < len(digits) <= 4 or -1 in digits:
        return None
    return int("".join(map(str, digits)))
