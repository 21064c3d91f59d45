"""What a person reads in HTML, as plain text: made while it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from app.identity.messaging.placeholders import LINKS, Parts, Placeholder, parse

_PARAGRAPH_ELEMENTS: Final = """
    p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre header footer main section article figure address hr
"""
_PARAGRAPHS: Final = frozenset(_PARAGRAPH_ELEMENTS.split())
_LINES: Final = frozenset({"div", "tr", "li", "dt", "dd", "br", "center", "figcaption", "caption"})
_WITHOUT_TEXT: Final = frozenset(["title", "style"])
VOID_ELEMENTS: Final = frozenset(["br", "hr", "img", "meta", "col"])
"""Elements that hold nothing and do not end."""
_HIDDEN: Final = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)


class PlainTextBuilder:
    """Collects the words. What is hidden, such as the line that mail programs preview, is not among them."""

    def __init__(self) -> None:
        self._found: list[str | Placeholder] = []
        self._open: list[tuple[str, bool]] = []  # elements, and whether they are hidden
        self._address: Parts = ()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        is_hidden = tag in _WITHOUT_TEXT or "hidden" in attributes or bool(_HIDDEN.search(attributes.get("style", "")))
        if tag not in VOID_ELEMENTS:
            self._open.append((tag, is_hidden))
        if self._is_silent:
            return
        self._break(tag)
        if tag == "li":
            self._found.append("- ")
        if tag == "img" and attributes.get("alt"):
            self._found.append(attributes["alt"])
        if tag == "a":
            self._address = _link_parts(attributes.get("href", ""))

    def end(self, tag: str) -> None:
        """An element ends."""
        was_silent = self._is_silent
        while self._open and self._open.pop()[0] != tag:
            pass
        if was_silent:
            return
        if tag == "a" and self._address:
            has_own_link = any(isinstance(part, Placeholder) and part.name in LINKS for part in self._address)
            self._found += [":\n", *self._address, "\n"] if has_own_link else [" (", *self._address, ")"]
            self._address = ()
        self._break(tag)

    def say(self, parts: Parts) -> None:
        """Words, with places for values."""
        if self._is_silent:
            return
        if parts == self._address:
            self._address = ()  # the label is the address itself
        for part in parts:
            self._found.append(re.sub(r"\s+", " ", part) if isinstance(part, str) else part)

    def parts(self) -> Parts:
        """Return what was said."""
        return tuple(self._found)

    @property
    def _is_silent(self) -> bool:
        return any(is_hidden for _, is_hidden in self._open)

    @property
    def _is_at_line_start(self) -> bool:
        last = next((part for part in reversed(self._found) if isinstance(part, Placeholder) or part.strip(" ")), "\n")
        return isinstance(last, str) and last.endswith("\n")

    def _break(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            self._found.append("\n\n")
        elif tag == "br" or (tag in _LINES and not self._is_at_line_start):
            self._found.append("\n")
        elif tag in ("td", "th"):
            self._found.append(" ")


def _link_parts(address: str) -> Parts:
    return () if address.startswith(("mailto:", "tel:")) else parse(address.strip())
