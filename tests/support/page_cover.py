"""The states of a page that together show each of its elements in each of its places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
VALUES_MATTER = {"class", "type", "role", "tabindex", "dir", "lang"}
VALUES_DIFFER = {"id", "name", "value", "href", "style"}
"""Attributes whose value is part of an element's kind, and those that do not even matter by name; of all others the name does."""
Element = tuple[object, ...]
Place = tuple[Element, ...]


class Places(HTMLParser):
    """Collects every element with the elements around it, and whether it has a text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[Place] = set()
        self._around: list[Element] = []
        self.feed(re.sub(r"<svg\b.*?</svg>", "<svg></svg>", html, flags=re.DOTALL))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = tuple(value for name, value in attrs if name in VALUES_MATTER)
        names = tuple(sorted(name for name, _ in attrs if name not in VALUES_DIFFER))
        self._around.append((tag, values, names))
        self.found.add(tuple(self._around))
        if tag in VOID:
            self._around.pop()

    def handle_endtag(self, tag: str) -> None:
        for depth in reversed(range(len(self._around))):
            if self._around[depth][0] == tag:
                del self._around[depth:]
                return

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.found.add((*self._around, ("text",)))


def covering(pages: Sequence[str]) -> list[int]:
    """Return the indices of pages, in order, that together have every element in every place of all."""
    places = [Places(html).found for html in pages]
    missing, chosen = set[Place]().union(*places), list[int]()
    while missing:
        best = max(range(len(pages)), key=lambda index: len(places[index] & missing))
        missing -= places[best]
        chosen.append(best)
    return sorted(chosen)
