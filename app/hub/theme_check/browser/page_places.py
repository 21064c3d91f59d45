"""Numbers the elements of pages and their texts by the place where each stands; equal ones in equal places have one number."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from app.hub.theme_check.document import VOID

_VALUES_MATTER: Final = frozenset(("class", "type", "role", "tabindex", "dir", "lang"))
_VALUES_DIFFER: Final = frozenset(("id", "name", "value", "href", "style"))
"""Attributes whose value is part of an element's kind, and those that do not even matter by name; of all others the name does."""
_DRAWING: Final = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
Element = tuple[object, ...]
Place = tuple[int, Element]
"""An element and the number of the place around it."""


class PagePlaces(HTMLParser):
    """The places of one page.

    Args:
        numbers: of the places of all pages, which grow with this one.
    """

    def __init__(self, html: str, numbers: dict[Place, int]) -> None:
        super().__init__()
        self.elements: set[int] = set()
        """And whether there is a text."""
        self.texts: set[int] = set()
        """But for a text's digits."""
        self._numbers = numbers
        self._around = [("", -1)]
        self.feed(_DRAWING.sub("<svg></svg>", html))

    def _number(self, *element: object) -> int:
        return self._numbers.setdefault((self._around[-1][1], element), len(self._numbers))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = tuple(value for name, value in attrs if name in _VALUES_MATTER)
        names = tuple(sorted(name for name, _ in attrs if name not in _VALUES_DIFFER))
        number = self._number(tag, values, names)
        self.elements.add(number)
        if tag not in VOID:
            self._around.append((tag, number))

    def handle_endtag(self, tag: str) -> None:
        for depth in reversed(range(len(self._around))):
            if self._around[depth][0] == tag:
                del self._around[depth:]
                return

    def handle_data(self, data: str) -> None:
        if (text := re.sub(r"\d", "0", " ".join(data.split()))) and self._around[-1][0] != "title":
            self.elements.add(self._number("text"))
            self.texts.add(self._number("text", text))
