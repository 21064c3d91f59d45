"""Finds sizes of type in pixels, which do not grow where people choose larger texts in their browser (WCAG 2.2, 1.4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import tinycss2
from tinycss2.ast import Node

from app.kit.design.theme_css.bounds import LEAST_REM, OWN, REM
from app.kit.design.theme_css.colours import plain_rules
from app.kit.design.theme_css.contrast import StyleProblem

_LARGE_PIXELS: Final = 24
"""From this size on, a text is large without growing: twice that of the smallest texts."""
_GROWING: Final = frozenset(("rem", "em", "lh", "%", "ch"))


def fixed_type(css: str) -> list[StyleProblem]:
    """Return each size and line height in pixels, with the same in rem. The style sheet is one that `checked` accepts."""
    declarations = [item for rule in plain_rules(css) if rule.conditions for item in rule.declarations]
    own: dict[str, list[Node]] = {}
    for item in declarations:
        if item.name.startswith(f"--{OWN}"):
            own.setdefault(item.name, []).append(item)
    of_type = (item for item in declarations if _is_type(item.name))
    return sorted({problem for item in of_type for problem in _problems(item, item, own, set())})


def _is_type(name: str) -> bool:
    return name.lower() in ("font", "font-size", "line-height") or name.startswith("--t-")


def _problems(used: Node, item: Node, own: Mapping[str, list[Node]], seen: set[str]) -> Iterator[StyleProblem]:
    """Yield the problem of a declaration, and of the own properties that it reads.

    Args:
        used: the declaration of type that reads the value of `item`.
        seen: the own properties that were read before; those that follow are added.
    """
    fixed = [token for token in item.value if _is_fixed(token)]
    if fixed and (used.lower_name == "line-height" or _is_small(fixed) or _is_height_alone(item.value, fixed)):
        grown = "".join(_in_rem(token) if token in fixed else tinycss2.serialize([token]) for token in item.value)
        yield StyleProblem(
            item.source_line,
            f"expected type that grows with the texts of the browser; found {item.name}: {tinycss2.serialize(item.value).strip()}: "
            f"write {item.name}: {grown.strip()}",
        )
    for name in _read(item.value):
        if name not in seen:
            seen.add(name)
            for value in own.get(name, ()):
                yield from _problems(used, value, own, seen)


def _is_fixed(token: Node) -> bool:
    """Return whether a size is pixels whatever people choose."""
    if token.type == "function":
        sizes = [*_dimensions(token)]
        return bool(sizes) and any(_unit(each) == "px" for each in sizes) and _GROWING.isdisjoint(map(_unit, sizes))
    return bool(token.type == "dimension" and token.lower_unit == "px")


def _dimensions(token: Node) -> Iterator[Node]:
    for part in token.arguments if token.type == "function" else token.content if token.type == "() block" else ():
        if part.type in ("dimension", "percentage"):
            yield part
        yield from _dimensions(part)


def _unit(token: Node) -> str:
    return "%" if token.type == "percentage" else str(token.lower_unit)


def _is_small(fixed: Sequence[Node]) -> bool:
    return any(each.value < _LARGE_PIXELS for each in _in_pixels(fixed))


def _in_pixels(tokens: Sequence[Node]) -> Iterator[Node]:
    for token in tokens:
        found = [token] if token.type == "dimension" else _dimensions(token)
        yield from (each for each in found if _unit(each) == "px")


def _is_height_alone(value: Sequence[Node], fixed: Sequence[Node]) -> bool:
    """Return whether the line height of `font` is fixed, and its size is not: larger texts would overlap."""
    plain = [token for token in value if token.type != "whitespace"]
    return len(fixed) == 1 and "/" in plain[: plain.index(fixed[0])]


def _in_rem(token: Node) -> str:
    """Return a size with its pixels in rem, none below the smallest that a theme may have."""
    text = str(tinycss2.serialize([token]))
    for each in _in_pixels([token]):
        rem = f"{max(each.value / REM, LEAST_REM):.4f}".rstrip("0").rstrip(".").removeprefix("0")
        text = text.replace(str(tinycss2.serialize([each])), f"{rem}rem", 1)
    return text


def _read(value: Sequence[Node]) -> Iterator[str]:
    """Yield the own properties that a value reads."""
    for token in value:
        if token.type == "function":
            if token.lower_name == "var":
                yield from (str(part.value) for part in token.arguments[:2] if part.type == "ident")
            yield from _read(token.arguments)
