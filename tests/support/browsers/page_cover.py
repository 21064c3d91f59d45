"""The states of pages that together show each of their elements, and each of their texts, in each of its places."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from typing import NamedTuple

from tests.support.browsers.page_samples import names, rendered, states
from tests.support.services.real_services import of_the_run

MAX_LANGUAGE_LENGTH = "de"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
VALUES_MATTER = {"class", "type", "role", "tabindex", "dir", "lang"}
VALUES_DIFFER = {"id", "name", "value", "href", "style"}
"""Attributes whose value is part of an element's kind, and those that do not even matter by name; of all others the name does."""
Element = tuple[object, ...]
Place = tuple[int, Element]
"""An element and the number of the place around it."""
State = tuple[str, str]
"""A page's name and the name of one of its states."""


class Places(HTMLParser):
    """Collects every element with the elements around it, and every text; equal ones of all pages have the same number."""

    def __init__(self, html: str, numbers: dict[Place, int]) -> None:
        super().__init__()
        self.elements: set[int] = set()
        """And whether there is a text."""
        self.texts: set[int] = set()
        """But for a text's digits."""
        self._numbers = numbers
        self._around = [("", -1)]
        self.feed(re.sub(r"<svg\b.*?</svg>", "<svg></svg>", html, flags=re.DOTALL))

    def _number(self, *element: object) -> int:
        return self._numbers.setdefault((self._around[-1][1], element), len(self._numbers))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = tuple(value for name, value in attrs if name in VALUES_MATTER)
        names = tuple(sorted(name for name, _ in attrs if name not in VALUES_DIFFER))
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


def covering(pages: Mapping[State, set[int]]) -> set[State]:
    """Return states that together have everything that all have, and at least one of each page."""
    chosen, left = set[State](), dict(pages)
    while left:
        best = max(left, key=lambda item: len(left[item]))
        chosen.add(best)
        shown = left.pop(best)
        left = {item: missing for item, places in left.items() if (missing := places - shown)}
    for page in {page for page, _ in pages} - {page for page, _ in chosen}:
        chosen.add(max((item for item in pages if item[0] == page), key=lambda item: len(pages[item])))
    return chosen


class Cover(NamedTuple):
    """States of a page; with those of the other pages, they show each thing in each place where any page has it."""

    of_texts: list[str]
    """Each text and each element."""
    of_elements: list[str]
    """Of those states, these have each element, which are the same in all languages."""


@cache
def covers() -> dict[str, Cover]:
    """Return the cover of each page."""
    path = of_the_run("page_covers.json", lambda part: part.write_text(json.dumps(_covers())))
    return {name: Cover(*cover) for name, cover in json.loads(path.read_text()).items()}


def _covers() -> dict[str, Cover]:
    numbers: dict[Place, int] = {}
    pages = {name: Places(rendered(*name, MAX_LANGUAGE_LENGTH).html, numbers) for name in names()}
    of_texts = covering({item: page.elements | page.texts for item, page in pages.items()})
    of_elements = covering({name: pages[name].elements for name in names() if name in of_texts})
    return {
        name: Cover(*([state for state in of if (name, state) in chosen] for chosen in (of_texts, of_elements)))
        for name, of in states().items()
    }
