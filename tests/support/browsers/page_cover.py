"""The states of pages that together show each of their elements, and each of their texts, in each of its places."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from app.hub.theme_check.browser.page_places import PagePlaces, Place
from tests.support.browsers.page_samples import names, rendered, states
from tests.support.services.real_services import of_the_run

MAX_LANGUAGE_LENGTH = "de"
State = tuple[str, str]
"""A page's name and the name of one of its states."""


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
    pages = {name: PagePlaces(rendered(*name, MAX_LANGUAGE_LENGTH).html, numbers) for name in names()}
    of_texts = covering({item: page.elements | page.texts for item, page in pages.items()})
    of_elements = covering({name: pages[name].elements for name in names() if name in of_texts})
    return {
        name: Cover(*([state for state in of if (name, state) in chosen] for chosen in (of_texts, of_elements)))
        for name, of in states().items()
    }
