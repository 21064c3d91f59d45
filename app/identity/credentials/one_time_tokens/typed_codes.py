"""Codes as people type them."""

import unicodedata

DIGITS = 6


def digits_in(text: str) -> str:
    """Return a code as it was sent: digits of any script as plain ones, without spaces, dashes and direction marks."""
    kept = [letter for letter in text[:64] if unicodedata.category(letter) not in ("Zs", "Pd", "Cf", "Cc")]
    return "".join(str(unicodedata.decimal(letter, letter)) for letter in kept)


def is_code(text: str) -> bool:
    """Return whether a text could be a code that was sent, however it is spelt."""
    digits = digits_in(text)
    return len(digits) == DIGITS and digits.isdecimal()
