"""The conditions of `@media`, as far as they are decided for a screen in light or dark mode without forced colors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import tinycss2
from tinycss2.ast import Node

from app.kit.design.theme_css.tokens import between_commas

LIGHT: Final = 0
DARK: Final = 1
MODES: Final = (LIGHT, DARK)
_FEATURES: Final[Mapping[str, tuple[bool, bool]]] = {
    "prefers-color-scheme:light": (True, False),
    "prefers-color-scheme:dark": (False, True),
    "forced-colors": (False, False),
    "forced-colors:active": (False, False),
    "forced-colors:none": (True, True),
    "max-width:0": (False, False),
    "min-width:0": (True, True),
}
"""Whether a feature holds, by mode."""
_TYPES: Final = {"all": True, "screen": True, "print": False}


def holds(queries: Sequence[Node], mode: int) -> bool | None:
    """Return whether one of the media queries holds in a mode; None if that depends on more. Media Queries 4, section 3."""
    return _opposite(_all([_opposite(_query(query, mode)) for query in between_commas(queries)]))


def _query(nodes: Sequence[Node], mode: int) -> bool | None:
    """Return whether a query holds; None if that depends on more than the mode."""
    words = [node for node in nodes if node.type != "whitespace"]
    is_negated = len(words) > 1 and _word(words[0]) == "not" and words[1].type == "ident"
    if is_negated or (words and _word(words[0]) == "only"):
        words = words[1:]
    if not words or words[0].type != "ident" or _word(words[0]) == "not":
        return _condition(words, mode)
    found = _TYPES.get(_word(words[0]))
    if len(words) > 1:
        found = _all((found, _condition(words[2:], mode) if _word(words[1]) == "and" else None))
    return _opposite(found) if is_negated else found


def _condition(words: Sequence[Node], mode: int) -> bool | None:
    """Return whether blocks with `not`, `and` or `or` between them hold."""
    if words and _word(words[0]) == "not":
        return _opposite(_condition(words[1:], mode))
    joints = {_word(word) for word in words[1::2]}
    found = [_block(word, mode) for word in words[::2]]
    if joints == {"or"}:
        return _opposite(_all([_opposite(each) for each in found]))
    return _all(found) if joints <= {"and"} else None


def _block(block: Node, mode: int) -> bool | None:
    if block.type != "() block":
        return None
    words = [node for node in block.content if node.type != "whitespace"]
    if any(word.type == "() block" for word in words):
        return _condition(words, mode)
    decided = _FEATURES.get(tinycss2.serialize(words).lower())
    return decided[mode] if decided else None


def _word(node: Node) -> str:
    return str(node.lower_value) if node.type == "ident" else ""


def _opposite(found: bool | None) -> bool | None:
    return None if found is None else not found


def _all(found: Sequence[bool | None]) -> bool | None:
    """Return whether all hold."""
    return False if False in found else None if None in found else True
