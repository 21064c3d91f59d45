"""Reads untrusted lists of font families for style sheets."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"-?[A-Za-z][A-Za-z0-9_-]*(?: [A-Za-z0-9_-]+)*")

_GENERIC: Final = frozenset(
    ("serif", "sans-serif", "monospace", "cursive", "fantasy", "system-ui", "ui-serif", "ui-sans-serif", "ui-rounded")
)


class NotAFontStack(ValueError):
    """The text is not a list of font families."""


def font_stack(text: str) -> str:
    """Return a CSS value for `font-family` from names between commas, quoted or not. It has no quotes, so that it fits any markup.

    Raises:
        NotAFontStack: a name with other characters than letters, digits, spaces, `_` and `-`.
    """
    names = [name.strip().strip("\"'") for name in text.split(",")]
    if not all(_NAME.fullmatch(name) for name in names):
        raise NotAFontStack(text)
    return ",".join(" ".join(_identifier(word) for word in name.split(" ")) for name in names)


def named_fonts(stack: str) -> str:
    """Return a stack of `font_stack` without generic families, for which each device chooses a font in every script."""
    return ",".join(name for name in stack.split(",") if name.lower() not in _GENERIC)


def _identifier(word: str) -> str:
    """Return the word as a CSS identifier, which begins with no digit (CSS Syntax Level 3 section 4.3.9)."""
    rest = word.lstrip("-")
    return word if rest[:1].isalpha() or word[0] == "_" else "".join(f"\\{ord(letter):x} " for letter in word)
