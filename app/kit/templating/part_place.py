"""Where a part can stand in a template: within elements that show all of it, on screens and on paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.kit.templating.contract import ClassEffects, Dialect


class OpenElement(NamedTuple):
    """An open element."""

    name: str
    line: int
    classes: frozenset[str]
    is_hidden: bool
    """Whether screen readers may skip what is in it."""
    hides: str = ""
    """Why its own style or size may hide what is in it."""


def part_problem(part: str, around: Sequence[OpenElement], dialect: Dialect, effects: ClassEffects) -> str:
    """Return what is expected in place of a part within the open elements; empty where it can stand.

    Args:
        effects: of the theme's style sheet.
    """
    classes = frozenset(name for element in around for name in element.classes)
    by_elements = _problems_of_elements(part, around, dialect)
    return next(by_elements, "") or next(_problems_of_classes(part, classes, dialect, effects), "")


def _problems_of_elements(part: str, around: Sequence[OpenElement], dialect: Dialect) -> Iterator[str]:
    holders = dialect.holders | ({"span"} if part in dialect.in_spans else set())
    if any(element.name not in holders for element in around):
        yield f"{part}() within {', '.join(sorted(holders)) or 'no element'} alone"
    if hides := next((element.hides for element in around if element.hides), ""):
        yield f"{part}() outside of an element that may hide it: {hides}"
    if any(element.is_hidden for element in around):
        yield f"{part}() outside of elements with aria-hidden or role"
    if sum(element.name == "small" for element in around) > 1:  # each makes its text smaller
        yield f"{part}() within one <small> alone"


def _problems_of_classes(part: str, classes: frozenset[str], dialect: Dialect, effects: ClassEffects) -> Iterator[str]:
    if apart := classes & dialect.apart:
        yield f"{part}() outside of .{min(apart)}, which may hide it or cut it off: end the element before {part}()"
    for unprinted_classes in (dialect.unprinted.get("", frozenset()), dialect.unprinted.get(part, frozenset())):
        if unprinted := classes & unprinted_classes:
            yield f"{part}() outside of .{min(unprinted)}, which isn’t printed: end the element before {part}()"
    if other := sorted(name for name in classes if dialect.parts_of.get(name, part) != part):
        yield f"{dialect.parts_of[other[0]]}() alone within .{other[0]}: end the element before {part}()"
    if covering := effects.hiding & classes:
        own = min(covering)
        yield (
            f"{part}() outside of .{own}, which may be hidden, covered or cut by "
            f"{effects.cause(f'hiding .{own}')}: change that rule, or end the element before {part}()"
        )
