"""Looks at every page of a theme in a browser, in every state and language, and reports what people could not see or press."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from app.hub.gallery import OWN
from app.hub.theme_check.browser.colour_rules import in_forced_colours, readable
from app.hub.theme_check.browser.focus_rules import by_keyboard
from app.hub.theme_check.browser.layout_rules import in_narrow_windows, uncovered
from app.hub.theme_check.browser.page_places import PagePlaces, Place
from app.hub.theme_check.browser.sheet import Sheet
from app.hub.theme_check.review import PagePlace, PageProblem
from app.hub.theme_check.samples import SAMPLE_DOMAIN, NotRendered, SamplePages, sample_address
from app.kit.text.languages import LANGUAGES

SENDS_ITSELF: Final = "FormPostPage"
"""Its script sends it to another site."""
_AT_ONCE: Final = 24
"""Pages on a sheet."""
_RULES: Final = (uncovered, by_keyboard, readable, in_forced_colours)
"""On elements rather than words: they are asked of pages with an element in a place where no page before had it."""


class LaidPages(NamedTuple):
    """States of a page that are laid on a sheet together."""

    page: str
    language: str
    states: tuple[str, ...]


def laid_pages(places: Iterable[PagePlace]) -> list[LaidPages]:
    """Return pages in the groups in which they are looked at."""
    groups: dict[tuple[str, str], list[str]] = {}
    for page, state, language in places:
        groups.setdefault((page, language), []).append(state)
    return [
        LaidPages(*name, tuple(states[first : first + _AT_ONCE]))
        for name, states in groups.items()
        for first in range(0, len(states), _AT_ONCE)
    ]


@dataclass
class BrowserReview:
    """Looks at pages in one window of a browser.

    Args:
        address: where a `SheetServer` serves the pages.
    """

    sheet: Sheet
    address: str
    pages: SamplePages
    _numbers: dict[Place, int] = field(default_factory=dict)
    _seen: dict[str, set[int]] = field(default_factory=dict)
    """The places of elements that were looked at, by the direction of a language."""

    def look_at(self, group: LaidPages) -> Iterator[PageProblem]:
        """Yield what is wrong on some pages. Raises PageNotLoaded."""
        page, language, states = group
        how = {"sandbox": "allow-same-origin"} if page == SENDS_ITSELF else {}
        new = {state for state in states if self._is_new(page, state, language)}
        self.sheet.lay(self.address, {state: sample_address(page, state, language, OWN) for state in states}, **how)
        found = [*self.sheet.found(in_narrow_windows)]
        if new:
            self.sheet.keep(new)
            found += self.sheet.found(*(rule for rule in _RULES if not how or rule is not by_keyboard))
        yield from (PageProblem(page, state, language, sentence) for state, sentence in dict.fromkeys(found))

    def _is_new(self, page: str, state: str, language: str) -> bool:
        """Return whether a page has an element in a place where no page before had it."""
        try:
            html = self.pages.render(page, state, language, host=SAMPLE_DOMAIN).html
        except NotRendered:
            return False
        seen = self._seen.setdefault(LANGUAGES[language].direction, set())
        new = PagePlaces(html, self._numbers).elements - seen
        seen |= new
        return bool(new)


def review_in_browser(
    made: BrowserReview,
    places: Iterable[PagePlace],
    progress: Callable[[list[LaidPages]], Iterable[LaidPages]] = iter,
) -> Iterator[PageProblem]:
    """Yield what is wrong on the pages of a theme in a browser. Raises PageNotLoaded."""
    for group in progress(laid_pages(places)):
        yield from made.look_at(group)
