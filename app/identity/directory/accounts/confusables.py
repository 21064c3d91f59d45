"""What a new username may be made of, so that no two people see the same name (Unicode UTS 39, decisions/0062).

Looking accounts up does not ask this: usernames that are older than the rule keep working.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

import regex

_RECOMMENDED: Final = (
    "Arabic", "Armenian", "Bengali", "Bopomofo", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek", "Gujarati",
    "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Kannada", "Katakana", "Khmer", "Lao", "Latin", "Malayalam",
    "Myanmar", "Oriya", "Sinhala", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan",
)  # fmt: skip
"""UAX 31 table 5: scripts in daily use."""
_TOGETHER: Final = (
    ("Latin", "Han", "Hiragana", "Katakana"), ("Latin", "Han", "Bopomofo"), ("Latin", "Han", "Hangul"),
)  # fmt: skip
"""UTS 39 section 5.2, "highly restrictive": the scripts that one language writes together."""
_BLANK: Final = "\u2800"  # braille without a dot: a symbol by its category, and nothing to see


def has_invisible_character(text: str) -> bool:
    """Return whether a text has a character that nobody sees: UTS 39 refuses them, whatever their category."""
    return _BLANK in text or _unseen().search(text) is not None


def is_single_script(text: str) -> bool:
    """Return whether a text is written in one script, or in those that one language mixes, with digits of one kind."""
    zeros = {ord(letter) - unicodedata.decimal(letter) for letter in text if unicodedata.decimal(letter, -1) >= 0}
    return len(zeros) <= 1 and (text.isascii() or _writings().fullmatch(text) is not None)


@cache
def _unseen() -> regex.Pattern[str]:
    return regex.compile(r"\p{Default_Ignorable_Code_Point}")


@cache
def _writings() -> regex.Pattern[str]:
    def letters(*scripts: str) -> str:
        named = "".join(rf"\p{{Script_Extensions={script}}}" for script in (*scripts, "Common", "Inherited"))
        return f"[{named}]*+"

    return regex.compile("|".join([*map(letters, _RECOMMENDED), *(letters(*scripts) for scripts in _TOGETHER)]))
