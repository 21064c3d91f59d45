"""Rules for a rendered page: complete markup, and every part of ours that the page has without its theme's templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from app.hub.theme_check.document import Element, PageDocument

_TOKEN: Final = re.compile(r"[\w-]{43}")
_REFERENCES: Final = (
    "aria-labelledby",
    "aria-describedby",
    "aria-controls",
    "aria-errormessage",
    "headers",
    "for",
    "list",
    "form",
)
_FIELDS: Final = ("input", "select", "textarea", "button")


def markup_problems(page: PageDocument) -> Iterator[str]:
    """Yield what is wrong in the markup of a page."""
    yield from page.problems
    ids = Counter(element.attributes["id"] for element in page.elements if "id" in element.attributes)
    for name, count in ids.items():
        if count > 1:
            yield f"the id {name!r} is there {count} times: an id is unique on a page"
    for element in page.elements:
        for attribute in _REFERENCES:
            for name in element.attributes.get(attribute, "").split():
                if name not in ids:
                    yield f"{attribute} of <{element.tag}> names the id {name!r}, which no element has"
        target = element.attributes.get("href", "")
        if element.tag == "a" and target.startswith("#") and target[1:] not in ids:
            yield f"a link leads to {target}, and no element has this id"
    for tag in ("h1", "main"):
        if (count := sum(1 for _ in page.all(tag))) != 1:
            yield f"there are {count} <{tag}>: a page has one"
    yield from _unlabelled(page)


def _unlabelled(page: PageDocument) -> Iterator[str]:
    labelled = {label.attributes.get("for", "") for label in page.all("label")}
    for element in page.all("input", "select", "textarea"):
        attributes = element.attributes
        is_named = {"aria-label", "aria-labelledby"} & attributes.keys() or element.is_in_label
        if (
            attributes.get("type") not in ("hidden", "submit")
            and attributes.get("id", "") not in labelled
            and not is_named
        ):
            yield f"the field {attributes.get('name', '')!r} has no label"


class PagePart(NamedTuple):
    """A part that a page must keep."""

    kind: str
    """form, field, link, error, problem (the error of a field) or heading."""
    words: str
    """How a problem names it."""
    is_hidden: bool
    place: str
    """`main`, `around` for what layouts must place, `optional` for what they may leave out."""


def page_parts(page: PageDocument) -> list[PagePart]:
    """Return the parts of a page in their order."""
    return [part for element in page.elements if (part := _part(element)) is not None]


def _part(element: Element) -> PagePart | None:
    tag, attributes = element.tag, element.attributes
    if tag == "form":
        method = attributes.get("method", "get").upper()
        return _made(element, "form", f"the form {method} {attributes.get('action', '')}".rstrip())
    if tag in _FIELDS and element.form is not None:
        return _made(element, "field", _field_words(element))
    if tag == "a" and attributes.get("href"):
        return _made(element, "link", f"the link to {attributes['href']}")
    is_problem = attributes.get("id", "").endswith("-problem")
    if is_problem or attributes.get("role") == "alert":
        return _made(element, "problem" if is_problem else "error", f"the error “{element.text[:80]}”")
    return _made(element, "heading", "the heading") if tag == "h1" else None


def _field_words(element: Element) -> str:
    attributes = element.attributes
    name, kind = attributes.get("name", ""), attributes.get("type", "")
    if name == "token":
        return "the CSRF token" if _TOKEN.fullmatch(attributes.get("value", "")) else "an empty CSRF token"
    value = f" {attributes['value']}" if element.tag == "button" and "value" in attributes else ""
    return f"the {element.tag if element.tag != 'input' else f'{kind} field'} {name}{value}".strip()


def _made(element: Element, kind: str, words: str) -> PagePart:
    href = element.attributes.get("href", "")
    if element.is_in_main:
        place = "main"
    else:
        place = "around" if kind != "link" or "hreflang" in element.attributes or href == "/logout" else "optional"
    return PagePart(kind, words, element.is_hidden and element.attributes.get("type") != "hidden", place)


def part_problems(ours: list[PagePart], themed: list[PagePart]) -> Iterator[str]:
    """Yield which parts of our page a themed one has not, has out of order or hidden, and which forms and fields it has beside them."""
    required = Counter(part[:3] for part in ours if part.place != "optional")
    shown = Counter(part[:3] for part in themed)
    hidden = Counter(part.words for part in themed if part.is_hidden)
    missing = required - shown
    for _, words, is_hidden in missing:
        if not is_hidden and hidden[words]:
            yield f"{words} is hidden: place it outside of hidden, aria-hidden and closed <details>"
        else:
            yield f"{words} is missing: place the part that has it"
    known = Counter(part.words for part in ours)
    for words, count in (Counter(part.words for part in themed if part.kind in ("form", "field")) - known).items():
        yield f"{words} is there {count} times too often: only Gatehouse’s own forms can be on a page"
    if not missing and (first := _out_of_order(ours, themed)):
        yield f"{first} is out of order: keep the order of our page"


def _out_of_order(ours: list[PagePart], themed: list[PagePart]) -> str:
    """Return the first part of our content that a themed page has earlier than those before it; empty if there is none.

    The error of a field has no order: a field's template places it above or below the input.
    """
    found = iter(part.words for part in themed if _has_order(part))
    wanted = [part.words for part in ours if _has_order(part)]
    return next((words for words in wanted if words not in found), "")


def _has_order(part: PagePart) -> bool:
    return part.place == "main" and part.kind != "problem"


def left_out(ours: list[PagePart], themed: list[PagePart]) -> Iterator[str]:
    """Yield which links of our page a themed one leaves out, although it may."""
    shown = {part.words for part in themed}
    yield from dict.fromkeys(part.words for part in ours if part.place == "optional" and part.words not in shown)
