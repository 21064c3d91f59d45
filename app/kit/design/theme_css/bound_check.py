"""Checks the values of a theme's declarations against bounds, in whatever way they are composed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tinycss2.ast import Node

from app.kit.design.theme_css.bounds import OWN, REM, Bound

_SHADOW_LIMITS: Final = (24, 24, 64, 4)
"""Highest offsets, blur and spread of a shadow in px."""

OwnValues = Mapping[str, Sequence[Sequence[Node]]]
"""The values that a sheet gives to each of its own custom properties."""


class _Leaf(NamedTuple):
    token: Node
    function: str
    """The function that the token is an argument of; empty for none."""
    is_own: bool
    """Whether it comes from an own custom property."""


def is_outside(bound: Bound, value: Sequence[Node], own_values: OwnValues) -> bool:
    """Return whether a value is out of its bound, with any value of the own custom properties that it reads."""
    return _is_cramped(bound, value) or any(
        _is_piece_outside(each, tokens, own_values) for each, tokens in _longhands(bound, value)
    )


def _longhands(bound: Bound, value: Sequence[Node]) -> Iterator[tuple[Bound, Sequence[Node]]]:
    """Yield the pieces of a shorthand with their bounds: a longhand property takes the same values alone."""
    plain = [token for token in value if token.type != "whitespace"]
    last = str(plain[-1].lower_value) if plain and plain[-1].type == "ident" else ""
    if bound.is_of_last:
        yield bound, plain[-1:]
    elif last in bound.by_last:
        yield bound.by_last[last], plain
    elif bound.after_slash is not None and (at := _slash(plain)):
        yield bound.after_slash, plain[at + 1 : at + 2]
        yield bound, (*plain[:at], *plain[at + 2 :])
    else:
        yield bound, value


def _slash(plain: Sequence[Node]) -> int:
    """Return the place of the first slash; 0 without one."""
    return next((at for at, token in enumerate(plain) if token == "/"), 0)


def _is_cramped(bound: Bound, value: Sequence[Node]) -> bool:
    """Return whether lines of `font` would overlap: their height is less than the size."""
    plain = [token for token in value if token.type != "whitespace"]
    if bound.after_slash is None or not 0 < (at := _slash(plain)) < len(plain) - 1:
        return False
    size, height = (
        token.value * {"px": 1, "rem": REM}.get(token.lower_unit, 0) if token.type == "dimension" else 0
        for token in (plain[at - 1], plain[at + 1])
    )
    return bool(0 < height < size)


def _is_piece_outside(bound: Bound, value: Sequence[Node], own_values: OwnValues) -> bool:
    count = 0
    for leaf in _leaves(value, own_values):
        count += leaf.token.type in ("number", "percentage", "dimension")
        if not _is_within(bound, leaf) or count > bound.most:
            return True
    return bound.is_shadow and _is_long_shadow(value)


def _leaves(value: Sequence[Node], own_values: OwnValues) -> Iterator[_Leaf]:
    waiting: list[tuple[Sequence[Node], str, bool]] = [(value, "", False)]
    seen: set[str] = set()
    while waiting:
        tokens, function, is_own = waiting.pop()
        for token in tokens:
            if token.type == "whitespace":
                continue
            yield _Leaf(token, function, is_own)
            if token.type == "() block":
                waiting.append((token.content, function, is_own))
            elif token.type == "function":
                waiting.extend((part, token.lower_name, is_own) for part in _deciding(token))
                name = _variable(token)
                if name.startswith(f"--{OWN}") and name not in seen:
                    seen.add(name)
                    waiting.extend((other, function, True) for other in own_values.get(name, ()))


def _variable(token: Node) -> str:
    """Return the name of the custom property that `var()` reads; empty for another function."""
    if token.lower_name != "var":
        return ""
    return next((str(part.value) for part in token.arguments if part.type == "ident"), "")


def _deciding(function: Node) -> list[list[Node]]:
    """Return the arguments that decide the bounds of a function: `clamp()` stays between its first and its last."""
    parts: list[list[Node]] = [[]]
    for token in function.arguments:
        if token == ",":
            parts.append([])
        elif token.type != "whitespace":
            parts[-1].append(token)
    if function.lower_name == "var":
        return parts[1:]
    if function.lower_name == "clamp" and len(parts) == 3:
        return [parts[0], parts[2]]
    if function.lower_name == "minmax" and len(parts) == 2 and [_number(token) for token in parts[0]] == [0]:
        return parts[1:]
    return parts


def _number(token: Node) -> float | None:
    return float(token.value) if token.type == "number" else None


def _is_within(bound: Bound, leaf: _Leaf) -> bool:
    token = leaf.token
    match token.type:
        case "number" | "percentage" | "dimension":
            return _is_number_within(bound, leaf)
        case "ident":
            return token.lower_value not in bound.refused and (bound.words is None or token.lower_value in bound.words)
        case "function":
            return _is_function_within(bound, token)
        case "hash":
            return bound.words is None and not (bound.is_opaque and len(token.value) in (4, 8))
        case "literal":
            if bound.is_opaque:
                return not (token == "/" or (token == "," and leaf.function in ("rgb", "hsl")))
            return (
                bound.numbers is None
                or token == ","
                or (token == "+" and bool(leaf.function))
                or (token == "/" and not leaf.function and not (leaf.is_own and bound.after_slash))
            )
        case "string" | "url":
            return bound.words is None
    return bool(token.type == "() block")


def _is_function_within(bound: Bound, token: Node) -> bool:
    if bound.functions is not None and token.lower_name not in bound.functions:
        return False
    if bound.is_opaque and token.lower_name in ("rgb", "hsl") and "," in token.arguments:
        return False  # with commas, alpha is the fourth
    name = _variable(token)
    return not name or name.startswith(f"--{OWN}") or bound.tokens is None or name in bound.tokens


def _is_number_within(bound: Bound, leaf: _Leaf) -> bool:
    if bound.is_shadow:
        # A length from a variable could be any of the four.
        return leaf.function not in ("", "var") or not (leaf.is_own or leaf.function)
    if bound.numbers is None:
        return True
    value, unit = leaf.token.value, _unit(leaf.token)
    if unit == "ms":
        value, unit = value / 1000, "s"
    if unit == "" and leaf.function in ("cubic-bezier", "linear", "steps"):
        return True
    lowest, highest = bound.numbers.get(unit, (1, 0))
    return bool(lowest <= value <= highest)


def _unit(token: Node) -> str:
    if token.type == "percentage":
        return "%"
    if token.type == "number":
        return ""
    unit = str(token.lower_unit)
    return "v" if unit[-2:] in ("vw", "vh", "vi", "vb") else unit


def _is_long_shadow(value: Sequence[Node]) -> bool:
    """Return whether a shadow would cover more than its neighbourhood; only px and rem have a known size."""
    place = 0
    for token in value:
        if token == ",":
            place = 0
        elif token.type in ("number", "dimension"):
            pixels = token.value * {"": 1, "px": 1, "rem": REM}.get(_unit(token), 999)
            if place >= len(_SHADOW_LIMITS) or (
                token.value and not -_SHADOW_LIMITS[0] <= pixels <= _SHADOW_LIMITS[place]
            ):
                return True
            place += 1
    return False
