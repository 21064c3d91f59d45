"""What a template of a tenant can use: the values and the parts of its place, and what it must not leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


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


@dataclass(frozen=True)
class TemplateContract:
    """The view of one template."""

    values: Mapping[str, Value | Items]
    parts: Mapping[str, Part]
    instead: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a required part: parts that contain it, and may replace it."""


@dataclass(frozen=True, order=True)
class TemplateProblem:
    """Why a template is refused, and what is expected there."""

    line: int
    sentence: str
