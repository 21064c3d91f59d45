"""What a template of a tenant can use: the values and the parts of its place, and what it must not leave out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple


class ValueKind(Enum):
    """What a value is, which decides where it may stand."""

    TEXT = "text"
    """Anywhere in text and in attributes that are no address."""
    FLAG = "flag"
    """In conditions alone."""
    ADDRESS = "address"
    """As the whole value of `href`, or in text."""


@dataclass(frozen=True)
class Value:
    """A value of a template's view."""

    kind: ValueKind
    meaning: str


@dataclass(frozen=True)
class Items:
    """A list of a template's view, for a loop."""

    members: Mapping[str, Value]
    meaning: str


@dataclass(frozen=True)
class Part:
    """Markup of ours that a template places: `{{ name() }}`."""

    meaning: str
    is_required: bool = False
    since: int = 1
    """The contract that it came with."""


_PRESENT: Final = "has_"


def flag_of(part: str) -> str:
    """Return the flag that says whether a part has anything: `has_methods`."""
    return _PRESENT + part


def part_of_flag(name: str, parts: Set[str]) -> str:
    """Return which of the parts a flag is about; empty for other names."""
    part = name.removeprefix(_PRESENT)
    return part if part != name and part in parts else ""


Words = Set[str]


@dataclass(frozen=True)
class Dialect:
    """The elements, attributes and values that markup may have."""

    elements: Words
    void: Words
    """Elements without an end."""
    attributes: Words
    """Of every element."""
    by_element: Mapping[str, Words]
    """Further attributes of single elements."""
    words: Mapping[str, Words]
    """The values that an attribute may have."""
    classes: Words
    """Those of our classes that a template can use, beside its own."""
    holders: Words
    """Elements that a part may be in: none hides it, makes it small, or is too small for its blocks."""
    file: re.Pattern[str]
    """The addresses of pictures."""
    example: str
    """An address of a picture."""
    apart: Words = frozenset()
    """Those of our classes whose elements no part can be in: they may hide it, or cut it off."""
    unprinted: Mapping[str, Words] = field(default_factory=dict)
    """By the name of a part, or an empty one for all: classes whose elements it cannot be in, because they are not printed."""
    parts_of: Mapping[str, str] = field(default_factory=dict)
    """By a class: the only part that its elements can have."""
    in_spans: Words = frozenset()
    """Parts of a line of text, which can be within `<span>`, too."""
    silencing: Words = frozenset()
    """Attributes with which screen readers may skip what is in the element."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """By the name of an element or attribute that designers may look for: what to write instead."""
    patterns: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """The values that an attribute may have, as a pattern."""
    parents: Mapping[str, Words] = field(default_factory=dict)
    """Elements that stand directly within one of others, as a row does within a table: nothing else may be in those."""
    style: Callable[[str], tuple[str, str]] | None = None
    """Returns what is wrong with the value of `style`, and why a part cannot be in the element; both may be empty. None: no `style`."""

    @property
    def without_text(self) -> Words:
        """Elements that have no text of their own: browsers would move it out of the table."""
        return frozenset(name for names in self.parents.values() for name in names)


@dataclass(frozen=True)
class TemplateContract:
    """The view of one template."""

    values: Mapping[str, Value | Items]
    parts: Mapping[str, Part]
    instead: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a required part: parts that contain it, and may replace it."""
    dialect: Dialect | None = None
    """The markup that it may have; None: that of pages."""
    is_within_page: bool = False
    """Whether its markup is among that of the page: it then has no element that the style sheet may hide, place or stack."""
    newer: frozenset[str] = frozenset()
    """Parts that came after the template was written: it has none of them, and required ones follow the part before them."""

    def written_for(self, number: int) -> TemplateContract:
        """Return the contract for a template that was written for an earlier one."""
        newer = frozenset(name for name, part in self.parts.items() if part.since > number)
        return replace(self, newer=newer) if newer else self


class ClassEffects(NamedTuple):
    """What the theme's style sheet may do to elements by their own classes."""

    hiding: frozenset[str] = frozenset()
    """It may hide, place or stack them: parts are outside of them."""
    placing: frozenset[str] = frozenset()
    """It may move them over others: templates within the page have none."""
    causes: tuple[tuple[str, str], ...] = ()
    """`hiding .own-a` or `placing .own-a` for each of these classes, with the line of the style sheet that is why."""

    def cause(self, key: str) -> str:
        """Return what a problem names: the line of the style sheet, where it is known."""
        return f"static/css/theme.css, {dict(self.causes)[key]}" if key in dict(self.causes) else "the theme’s css"


NO_EFFECTS: Final = ClassEffects()


@dataclass(frozen=True, order=True)
class TemplateProblem:
    """Why a template is refused, and what is expected there."""

    line: int
    sentence: str
