"""The states of a page that together show each of its elements in each of its places."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from typing import NamedTuple

from tests.support.samples import names, rendered, states
from tests.support.services import of_the_run

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


def covering(pages: Sequence[set[Place]]) -> list[int]:
    """Return the indices of pages, in order, that together have every element in every place of all."""
    missing, chosen = set[Place]().union(*pages), list[int]()
    while missing:
        best = max(range(len(pages)), key=lambda index: len(pages[index] & missing))
        missing -= pages[best]
        chosen.append(best)
    return sorted(chosen)


class Cover(NamedTuple):
    """States of a page that differ in their elements, which are the same in all languages."""

    of_page: list[str]
    """These have every element in every place of the page."""
    of_all: list[str]
    """With those of the other pages, these have every element in every place of all pages; at least one."""


@cache
def covers() -> dict[str, Cover]:
    """Return the cover of each page."""
    path = of_the_run("page_covers.json", lambda part: part.write_text(json.dumps(_covers())))
    return {name: Cover(*cover) for name, cover in json.loads(path.read_text()).items()}


def _covers() -> dict[str, Cover]:
    places = {(name, state): Places(rendered(name, state, "en").html).found for name, state in names()}
    of_page = {
        name: [of[index] for index in covering([places[name, state] for state in of])] for name, of in states().items()
    }
    kept = [(name, state) for name, of in of_page.items() for state in of]
    of_all = [kept[index] for index in covering([places[each] for each in kept])]
    return {
        name: Cover(
            of,
            [state for state in of if (name, state) in of_all] or [max(of, key=lambda state: len(places[name, state]))],
        )
        for name, of in of_page.items()
    }
