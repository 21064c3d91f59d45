"""Rejects confusable characters in new usernames (Unicode UTS 39, decision 0062).

Lookups do not apply these rules, so that older usernames keep working.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
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
"""UTS 39 section 5.2, "highly restrictive": scripts that one language combines."""
_BLANK: Final = "\u2800"  # BRAILLE PATTERN BLANK: a symbol by category, but invisible


def has_invisible_character(text: str) -> bool:
    """Return whether a text contains an invisible character, which UTS 39 rejects in any category."""
    return _BLANK in text or _ignorable().search(text) is not None


def is_single_script(text: str) -> bool:
    """Return whether a text uses one script, or scripts that one language combines, and digits of one script."""
    zeros = {
        ord(character) - unicodedata.decimal(character) for character in text if unicodedata.decimal(character, -1) >= 0
    }
    return len(zeros) <= 1 and (text.isascii() or _allowed_scripts().fullmatch(text) is not None)


@cache
def _ignorable() -> regex.Pattern[str]:
    import regex

    return regex.compile(r"\p{Default_Ignorable_Code_Point}")


@cache
def _allowed_scripts() -> regex.Pattern[str]:
    import regex

    def in_scripts(*scripts: str) -> str:
        properties = "".join(rf"\p{{Script_Extensions={script}}}" for script in (*scripts, "Common", "Inherited"))
        return f"[{properties}]*+"

    return regex.compile("|".join([*map(in_scripts, _RECOMMENDED), *(in_scripts(*scripts) for scripts in _TOGETHER)]))
