"""The alphabet of text messages (3GPP TS 23.038 section 6.2.1): a message outside of it holds 70 letters instead of 160."""

from __future__ import annotations

import unicodedata
from typing import Final

_BASIC: Final = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED: Final = frozenset("^{}\\[~]|€")  # each takes the room of two
_REPLACEMENTS: Final = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "–": "-",
        "—": "-",
        "…": "...",
        "\u00a0": " ",
        "\u202f": " ",
        "•": "-",
    }
)


def fits(text: str) -> bool:
    """Return whether the text can be sent in the short alphabet."""
    return all(letter in _BASIC or letter in _EXTENDED for letter in text)


def simplify(text: str) -> str:
    """Return the text in the short alphabet where quotes, dashes and accents alone keep it out; else as it is."""
    simple = text.translate(_REPLACEMENTS)
    if fits(simple):
        return simple
    bare = "".join(letter if letter in _BASIC else _without_accent(letter) for letter in simple)
    return bare if fits(bare) else text


def count_parts(text: str) -> int:
    """Return how many messages a network makes of it."""
    if fits(text):
        length, alone, each = sum(2 if letter in _EXTENDED else 1 for letter in text), 160, 153
    else:
        length, alone, each = len(text.encode("utf-16-le")) // 2, 70, 67
    return 1 if length <= alone else -(-length // each)


def _without_accent(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0]
