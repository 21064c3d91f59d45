"""Normalizes typed codes and numbers: other scripts and widths, and characters copied along with them."""

import unicodedata

_SEPARATORS = ("Zs", "Pd", "Cf", "Cc")
_DASHES = "\u2212\u30fc\uff70"
"""The minus sign, and the long vowel mark, which is where the dash is on Japanese keyboards; neither counts as punctuation."""


CODE_DIGITS = 6


def typed_code(text: str) -> str:
    """Return a typed code with letters and digits of any width and script as ASCII, without spaces, dashes and direction marks."""
    remaining = [item for item in text[:64] if item not in _DASHES and unicodedata.category(item) not in _SEPARATORS]
    return "".join(map(_plain, remaining))


def is_code(text: str) -> bool:
    """Return whether a text has the form of a one-time code, however it is typed."""
    digits = typed_code(text)
    return len(digits) == CODE_DIGITS and digits.isdecimal()


def _plain(character: str) -> str:
    """Return the ASCII form of a full-width character or a digit. A superscript is neither."""
    if unicodedata.east_asian_width(character) == "F":
        return unicodedata.normalize("NFKC", character)
    return str(unicodedata.decimal(character, character))
