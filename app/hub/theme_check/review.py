"""Renders every page of a theme in every state and language, and reports what its templates break and what its files weigh."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from app.hub.tenants.own_templates import NO_TEMPLATES
from app.hub.tenants.tenant import HubTenant
from app.hub.theme_check import page_rules
from app.hub.theme_check.document import PageDocument
from app.hub.theme_check.samples import FIRST_FLIGHT_BYTES, SAMPLE_DOMAIN, NotRendered, PageSample, SamplePages
from app.kit.text.languages import LANGUAGES

_WITHOUT_TEMPLATES: Final = "ours.localhost"
_TRANSLATED: Final = "aria-label|placeholder|hreflang|content|nonce|title|value|lang|dir|alt|data-[a-z-]+"
_WORDS: Final = re.compile(rf'(?<=>)[^<]+(?=<)|([?;]lang=)\w+|( (?:{_TRANSLATED})=")[^"]+')


def without_words(html: str) -> str:
    """Return a page with one word for all of a text or translated attribute: the markup of equal ones is equally right."""

    def replaced(found: re.Match[str]) -> str:
        prefix = found[1] or found[2] or ""
        return prefix + re.sub(r"[^&<>]+", "x", found[0].removeprefix(prefix))

    return _WORDS.sub(replaced, html)


PagePlace = tuple[str, str, str]
"""Page, state and language."""


class PageProblem(NamedTuple):
    """What is wrong on a page of a theme."""

    page: str
    state: str
    language: str
    sentence: str


@dataclass
class ThemeReview:
    """The result of a review."""

    problems: list[PageProblem] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    """Links of ours that templates leave out although they may, each with the number of states of pages that have it."""
    count: int = 0
    """Of rendered pages."""
    heavy_count: int = 0
    """Of pages that with style sheets and script are larger than the first flight."""
    largest: PageSample | None = None
    always_around: dict[str, frozenset[str]] = field(default_factory=dict)
    """By class: the classes that every page with such an element has around it."""
    browser: str = ""
    """The name and version of the one that showed the pages; empty if none did."""


OURS_ALONE: Final = frozenset({"ThemeEditorPage"})
"""Pages of operators, which have nothing of a theme but its colors."""


def page_names(words: Iterable[str], names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pages whose name has one of the words, in any letter case; all without words."""
    wanted = [word.strip().casefold() for word in words if word.strip()]
    themed = [(page, state) for page, state in names if page not in OURS_ALONE]
    return [(page, state) for page, state in themed if not wanted or any(word in page.casefold() for word in wanted)]


def page_places(words: Iterable[str], names: Iterable[tuple[str, str]]) -> list[PagePlace]:
    """Return the pages that `page_names` returns, in each language."""
    return [(*name, tag) for name in page_names(words, names) for tag in LANGUAGES]


def review_pages(tenant: HubTenant) -> SamplePages:
    """Return the pages of a tenant's theme, beside those without its templates."""
    plain = replace(tenant, brand=replace(tenant.brand, templates=NO_TEMPLATES, css=""))
    return SamplePages({SAMPLE_DOMAIN: tenant, _WITHOUT_TEMPLATES: plain})


def review(
    pages: SamplePages,
    places: list[PagePlace],
    progress: Callable[[list[PagePlace]], Iterable[PagePlace]] = iter,
) -> ThemeReview:
    """Return what is wrong on pages of a theme.

    Args:
        pages: those of `review_pages`.
        progress: passes the places on, and may show how many there are.
    """
    made = _Reviewer(pages, has_templates=bool(pages.tenants[SAMPLE_DOMAIN].brand.templates.digest))
    for place in progress(places):
        made.look_at(*place)
    return made.found


@dataclass
class _Reviewer:
    pages: SamplePages
    has_templates: bool
    found: ThemeReview = field(default_factory=ThemeReview)
    _seen: dict[str, list[str]] = field(default_factory=dict)
    """What is wrong in the markup of a page, by the page without its words."""

    def look_at(self, page: str, state: str, language: str) -> None:
        """Render a page and gather what is wrong with it."""
        try:
            sample = self.pages.render(page, state, language)
        except NotRendered as problem:
            self._report((page, state, language), [str(problem)])
            return
        self._weigh(sample, (page, state, language))
        markup = f"{page} {state} {without_words(sample.html)}"
        if markup not in self._seen:
            document = PageDocument(sample.html)
            self._seen[markup] = [*self._sentences(document, page, state, language)]
            for name, around in document.classes_around.items():
                self.found.always_around[name] = self.found.always_around.get(name, around) & around
        failed = (f"{file} failed, so this page has ours: {reason}" for file, reason in sample.failures)
        self._report((page, state, language), (*failed, *self._seen[markup]))

    def _sentences(self, document: PageDocument, page: str, state: str, language: str) -> Iterator[str]:
        yield from page_rules.markup_problems(document)
        if self.has_templates:
            yield from self._compare(document, page, state, language)

    def _compare(self, themed: PageDocument, page: str, state: str, language: str) -> Iterator[str]:
        """Yield how the page differs from ours where it must not."""
        ours = page_rules.page_parts(
            PageDocument(self.pages.render(page, state, language, host=_WITHOUT_TEMPLATES).html)
        )
        parts = page_rules.page_parts(themed)
        yield from page_rules.part_problems(ours, parts)
        for words in page_rules.left_out(ours, parts):
            self.found.left_out[words] = self.found.left_out.get(words, 0) + 1

    def _weigh(self, sample: PageSample, place: PagePlace) -> None:
        found = self.found
        found.count += 1
        found.heavy_count += sample.bytes_all_in > FIRST_FLIGHT_BYTES
        if found.largest is None or sample.bytes_all_in > found.largest.bytes_all_in:
            found.largest = sample
        if sample.bytes_document > FIRST_FLIGHT_BYTES:
            sentence = (
                f"the document has {sample.bytes_document:,} bytes, compressed: expected at most {FIRST_FLIGHT_BYTES:,}; "
                "shorten the layout and the logo, or serve the logo as a file"
            )
            self._report(place, [sentence])

    def _report(self, place: PagePlace, sentences: Iterable[str]) -> None:
        self.found.problems += [PageProblem(*place, sentence) for sentence in dict.fromkeys(sentences)]
