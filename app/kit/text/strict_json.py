"""Strict JSON for protocol parameters: bounded, and without ambiguous values or characters that databases refuse."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from app.kit.text.input_filter import has_control_character

_DEEPEST: Final = 64


def loads(text: str, *, max_length: int, deepest: int = _DEEPEST) -> Any:
    """Return the value of a JSON text.

    Args:
        deepest: levels of objects and arrays.

    Raises:
        ValueError: malformed, too long or too deep; a member twice; a number without a finite value; a control character or a
            lone surrogate.
    """
    if len(text) > max_length:
        raise ValueError("too long")
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("too deep") from None
    _check(value, deepest)
    return value


def _check(value: Any, deepest: int) -> None:
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str) and has_control_character(item):
            raise ValueError("control character")
        if not isinstance(item, dict | list):
            continue
        if depth == deepest:
            raise ValueError("too deep")
        parts = [*item, *item.values()] if isinstance(item, dict) else item
        waiting += [(part, depth + 1) for part in parts]


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members
