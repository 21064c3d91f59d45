"""Normalizes texts that must differ between the items of a resource."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Return a text without differences of letter case and white space."""
    return " ".join(text.casefold().split())


def folded_sentence(text: str) -> str:
    """Return a text also without blanks, differences of width, and marks at its end: "Your pet ?" is "your  PET"."""
    sentence = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    while sentence and unicodedata.category(sentence[-1])[0] in "PC":
        sentence = sentence[:-1]
    return sentence
