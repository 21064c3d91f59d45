"""Converts HTML to plain text while it is parsed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from app.identity.messaging.tenant_templates.placeholders import LINKS, Parts, Placeholder, parse

_PARAGRAPH_ELEMENTS: Final = """
    p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre header footer main section article figure address hr
"""
_PARAGRAPHS: Final = frozenset(_PARAGRAPH_ELEMENTS.split())
_LINES: Final = frozenset({"div", "tr", "li", "dt", "dd", "br", "center", "figcaption", "caption"})
_WITHOUT_TEXT: Final = frozenset(["title", "style"])
VOID_ELEMENTS: Final = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
"""Elements without content and end tag."""
_HIDDEN: Final = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)


class PlainTextBuilder:
    """Collects visible text. Hidden elements, such as the preview line of mail programs, are left out."""

    def __init__(self) -> None:
        self._parts: list[str | Placeholder] = []
        self._open: list[tuple[str, bool]] = []  # elements, and whether they are hidden
        self._link: Parts = ()
        self._is_at_line_start = True

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        is_hidden = tag in _WITHOUT_TEXT or "hidden" in attributes or bool(_HIDDEN.search(attributes.get("style", "")))
        if tag not in VOID_ELEMENTS:
            self._open.append((tag, is_hidden))
        if self._is_hidden:
            return
        self._break(tag)
        if tag == "li":
            self._append("- ")
        if tag == "img" and attributes.get("alt"):
            self._append(attributes["alt"])
        if tag == "a":
            self._link = _link_parts(attributes.get("href", ""))

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        was_hidden = self._is_hidden
        while self._open and self._open.pop()[0] != tag:
            pass
        if was_hidden:
            return
        if tag == "a" and self._link:
            has_own_link = any(isinstance(part, Placeholder) and part.name in LINKS for part in self._link)
            for part in (":\n", *self._link, "\n") if has_own_link else (" (", *self._link, ")"):
                self._append(part)
            self._link = ()
        self._break(tag)

    def add_text(self, parts: Parts) -> None:
        """Add text and placeholders."""
        if self._is_hidden:
            return
        if parts == self._link:
            self._link = ()  # the label is the address itself
        for part in parts:
            self._append(re.sub(r"\s+", " ", part) if isinstance(part, str) else part)

    def parts(self) -> Parts:
        """Return the collected parts."""
        return tuple(self._parts)

    @property
    def _is_hidden(self) -> bool:
        return any(is_hidden for _, is_hidden in self._open)

    def _append(self, part: str | Placeholder) -> None:
        self._parts.append(part)
        if isinstance(part, Placeholder) or part.strip(" "):
            self._is_at_line_start = isinstance(part, str) and part.endswith("\n")

    def _break(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            self._append("\n\n")
        elif tag == "br" or (tag in _LINES and not self._is_at_line_start):
            self._append("\n")
        elif tag in ("td", "th"):
            self._append(" ")


def _link_parts(address: str) -> Parts:
    return () if address.startswith(("mailto:", "tel:")) else parse(address.strip())
