"""The GSM 7-bit alphabet (3GPP TS 23.038 section 6.2.1). An SMS outside it has 70 characters instead of 160."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

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


class TextSize(NamedTuple):
    """What a text takes as SMS."""

    encoding: str
    """GSM-7 or UCS-2 (3GPP TS 23.038)."""
    units: int
    """Characters of GSM-7, of which some count twice; or UTF-16 code units."""
    parts: int
    """The number of SMS."""


def measure(text: str) -> TextSize:
    """Return the size of a text. In several SMS, each loses 7 of 160 characters, or 3 of 70 code units, to the header that joins them."""
    if fits(text):
        encoding, units, single, part = "GSM-7", sum(2 if item in _EXTENDED else 1 for item in text), 160, 153
    else:
        encoding, units, single, part = "UCS-2", len(text.encode("utf-16-le")) // 2, 70, 67
    return TextSize(encoding, units, 1 if units <= single else -(-units // part))


def _without_accent(character: str) -> str:
    return unicodedata.normalize("NFD", character)[0]
