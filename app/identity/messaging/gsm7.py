"""The GSM 7-bit alphabet (3GPP TS 23.038 section 6.2.1). An SMS outside it has 70 characters instead of 160."""

from __future__ import annotations

import unicodedata
from typing import Final

_BASIC: Final = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED: Final = frozenset("^{}\\[~]|€")  # each counts as two
_REPLACEMENTS: Final = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "–": "-",
        "—": "-",
        "\u2011": "-",
        "…": "...",
        "\u00a0": " ",
        "\u202f": " ",
        "•": "-",
    }
)


def fits(text: str) -> bool:
    """Return whether the text can be sent in the GSM 7-bit alphabet."""
    return all(character in _BASIC or character in _EXTENDED for character in text)


def simplify(text: str) -> str:
    """Return the text in the GSM 7-bit alphabet if replacing quotes, dashes and accents suffices, else unchanged."""
    simple = text.translate(_REPLACEMENTS)
    if fits(simple):
        return simple
    without_accents = "".join(character if character in _BASIC else _without_accent(character) for character in simple)
    return without_accents if fits(without_accents) else text


def count_parts(text: str) -> int:
    """Return the number of SMS that the text takes."""
    if fits(text):
        length, single, part = sum(2 if character in _EXTENDED else 1 for character in text), 160, 153
    else:
        length, single, part = len(text.encode("utf-16-le")) // 2, 70, 67
    return 1 if length <= single else -(-length // part)


def _without_accent(character: str) -> str:
    return unicodedata.normalize("NFD", character)[0]
