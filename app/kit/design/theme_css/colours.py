"""The colors of CSS values in light and in dark mode, as far as a style sheet alone decides them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import tinycss2
from tinycss2 import color4
from tinycss2.ast import Node

from app.kit.design.colour import Colour
from app.kit.design.theme_css.media import MODES, holds
from app.kit.design.theme_css.tokens import between_commas

_ANY: Final = re.compile(r":(?:is|where)\(([^()]*)\)")
_MAX_NESTED: Final = 3
_MAX_ALTERNATIVES: Final = 64
_MAX_STEPS: Final = 8
"""Of custom properties that name another."""


class Paint(NamedTuple):
    """A color with its opacity, 0 to 1."""

    colour: Colour
    opacity: float

    def over(self, ground: Colour) -> Colour:
        """Return the color that people see on a ground."""
        mixed = (
            round(mine * self.opacity + other * (1 - self.opacity))
            for mine, other in zip(_channels(self.colour), _channels(ground), strict=True)
        )
        return Colour(*mixed)


def _channels(colour: Colour) -> tuple[int, int, int]:
    return colour.red, colour.green, colour.blue


class UndecidedColour(Exception):
    """The style sheet alone does not say which color a value is."""


@dataclass(frozen=True)
class PlainRule:
    """A rule of a style sheet, for one mode or both."""

    selectors: tuple[str, ...]
    declarations: tuple[Node, ...]
    conditions: Mapping[int, tuple[str, ...]]
    """By each mode in which it can apply: the conditions around it that the mode alone does not decide, the outermost first."""

    def applies(self, mode: int, unmet: Set[str] = frozenset()) -> bool:
        """Return whether it applies in a mode, of the undecided conditions all but the `unmet` ones being met."""
        return mode in self.conditions and unmet.isdisjoint(self.conditions[mode])


def plain_rules(css: str) -> list[PlainRule]:
    """Return the rules for screens in their order; those for paper and forced colors are left out."""
    nodes = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    return [*_rules(nodes, dict.fromkeys(MODES, ()))]


def _rules(nodes: Sequence[Node], conditions: Mapping[int, tuple[str, ...]]) -> Iterator[PlainRule]:
    for node in nodes:
        if node.type == "qualified-rule":
            found = tinycss2.parse_declaration_list(node.content, skip_comments=True, skip_whitespace=True)
            declarations = tuple(item for item in found if item.type == "declaration")
            yield PlainRule(tuple(_selectors(node.prelude)), declarations, conditions)
        elif node.type == "at-rule" and node.lower_at_keyword in ("media", "supports") and node.content is not None:
            nested = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
            yield from _rules(nested, _within(node, conditions))


def _within(node: Node, conditions: Mapping[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Return the conditions of the rules in an at-rule; without the modes in which it does not hold."""
    text = f"@{node.lower_at_keyword} {' '.join(tinycss2.serialize(node.prelude).lower().split())}"
    found = {mode: holds(node.prelude, mode) if node.lower_at_keyword == "media" else None for mode in conditions}
    return {
        mode: around if found[mode] else (*around, text)
        for mode, around in conditions.items()
        if found[mode] is not False
    }


def _selectors(prelude: Sequence[Node]) -> Iterator[str]:
    for part in between_commas(prelude):
        if text := " ".join(tinycss2.serialize(part).split()):
            yield text


def alternatives(selector: str) -> list[str]:
    """Return the selectors that one with `:is()` or `:where()` stands for; at most 64."""
    found = [selector]
    for _ in range(_MAX_NESTED):
        found = [one for each in found for one in _without_first(each)][:_MAX_ALTERNATIVES]
    return found


def _without_first(selector: str) -> list[str]:
    match = _ANY.search(selector)
    if match is None:
        return [selector]
    return [selector[: match.start()] + each.strip() + selector[match.end() :] for each in match[1].split(",")]


@dataclass
class Tokens:
    """Custom properties of the root, each in both modes."""

    values: dict[tuple[str, int], Sequence[Node] | Colour] = field(default_factory=dict)

    def add(self, rules: Sequence[PlainRule], mode: int) -> None:
        """Take over the custom properties that rules set on the root in a mode."""
        for rule in rules:
            if ":root" in rule.selectors or "html" in rule.selectors:
                self.values |= {
                    (item.name, mode): item.value for item in rule.declarations if item.name.startswith("--")
                }

    def paint(self, value: Sequence[Node], mode: int, steps: int = 0) -> Paint | None:
        """Return the color among the words of a value; None for none of them.

        Raises:
            UndecidedColour: it is not known here: an image, a mix, an inherited or a system color.
        """
        found = None
        for node in value:
            if node.type == "url" or (node.type == "function" and node.lower_name not in _COLOUR_FUNCTIONS):
                raise UndecidedColour
            if node.type == "function" and node.lower_name == "var":
                found = self._token(node, mode, steps)
            elif (parsed := color4.parse_color(node)) is not None:
                found = _paint(parsed)
            elif node.type == "ident" and node.lower_value in _UNKNOWN:
                raise UndecidedColour
        return found

    def _token(self, node: Node, mode: int, steps: int) -> Paint | None:
        name = next((item.value for item in node.arguments if item.type == "ident"), "")
        value = self.values.get((name, mode))
        if value is None or steps > _MAX_STEPS:
            raise UndecidedColour
        return Paint(value, 1) if isinstance(value, Colour) else self.paint(value, mode, steps + 1)


_COLOUR_FUNCTIONS: Final = frozenset(("var", "rgb", "rgba", "hsl", "hsla", "hwb", "oklch"))
_UNKNOWN: Final = frozenset(("inherit", "initial", "unset", "revert"))


def _paint(parsed: Any) -> Paint:
    """Return a color that tinycss2, which has no types, read."""
    space = getattr(parsed, "space", "")
    if space == "oklch":
        lightness, chroma, hue = parsed.coordinates
        return Paint(Colour.from_oklch(lightness, chroma, hue), parsed.alpha)
    if space not in ("srgb", "hsl", "hwb"):  # also `currentcolor`, a text
        raise UndecidedColour
    red, green, blue = (round(min(max(part, 0), 1) * 255) for part in parsed.to("srgb").coordinates)
    return Paint(Colour(red, green, blue), parsed.alpha)
