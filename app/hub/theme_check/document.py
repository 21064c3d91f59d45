"""Reads a page as a browser does, as far as checks need it: elements with their attributes, what is around them, and texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_DRAWINGS: Final = frozenset(("svg", "math"))
_HIDING: Final = frozenset(("template", "noscript"))


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    form: Element | None
    """The form around it."""
    is_in_main: bool
    is_in_label: bool
    is_hidden: bool
    """Whether it, or an element around it, is hidden from sight or from screen readers."""
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its text with that of the elements in it, without line breaks."""
        return " ".join("".join(self.pieces).split())


class PageDocument(HTMLParser):
    """The elements of a page in their order, and what its markup gets wrong."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.problems: list[str] = []
        self._open: list[Element] = []
        self.classes_around: dict[str, frozenset[str]] = {}
        """By class: the classes that each element with it has around it."""
        self.feed(html)
        self.close()
        self.problems += [f"<{element.tag}> isn’t closed" for element in self._open if element.tag == "form"]

    def all(self, *tags: str) -> Iterator[Element]:
        """Yield the elements with these names."""
        return (element for element in self.elements if element.tag in tags)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        around = self._open[-1] if self._open else None
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form" and any(element.tag == "form" for element in self._open):
            self.problems.append("a <form> is within another <form>; browsers ignore it")
        element = Element(
            tag,
            attributes,
            form=around and (around if around.tag == "form" else around.form),
            is_in_main=around is not None and (around.tag == "main" or around.is_in_main),
            is_in_label=around is not None and (around.tag == "label" or around.is_in_label),
            is_hidden=_hides(tag, attributes) or (around is not None and around.is_hidden),
        )
        self.elements.append(element)
        self._note_classes(attributes)
        if tag not in VOID:
            self._open.append(element)

    def _note_classes(self, attributes: dict[str, str]) -> None:
        if classes := attributes.get("class", "").split():
            around = frozenset(name for each in self._open for name in each.attributes.get("class", "").split())
            for name in classes:
                self.classes_around[name] = self.classes_around.get(name, around) & around

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take `<div/>` as browsers do: as `<div>`, which stays open; only within a drawing is it closed."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID and any(element.tag in _DRAWINGS for element in self._open):
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        for depth in reversed(range(len(self._open))):
            if self._open[depth].tag == tag:
                self.problems += [
                    f"</{tag}> ends an open <form>" for each in self._open[depth + 1 :] if each.tag == "form"
                ]
                del self._open[depth:]
                return
        if tag == "form":
            self.problems.append("a </form> has no <form>")

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.pieces.append(data)


def _hides(tag: str, attributes: dict[str, str]) -> bool:
    return (
        tag in _HIDING
        or "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or "inert" in attributes
        or (tag == "details" and "open" not in attributes)
    )
