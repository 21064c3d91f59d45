"""Turns the text of a theme's CSS into tokens without comments, errors and disguised names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

import tinycss2
from tinycss2.ast import Node

from app.kit.design.theme_css.allowed import UNITS

MAX_NESTING: Final = 12
MAX_DIGITS: Final = 20
_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_UNSEEN: Final = ("Cc", "Cf", "Cs")
_END: Final = "own-end"
_UNOPENED: Final = "expected an opening bracket before"


class RefusedCss(ValueError):
    """The theme's CSS cannot be served; the message says what is expected, what was found, and how to mend it."""

    def __init__(self, node: Node, sentence: str) -> None:
        super().__init__(sentence)
        self.line: int = node.source_line


def read_tokens(css: str) -> tuple[list[Node], list[tuple[int, str]]]:
    """Return the tokens, and the problems of single tokens as (line, sentence)."""
    if unseen := _unseen(css):
        return [], [unseen]
    try:
        # A token after the end shows whether a block, string or comment swallows what follows.
        tokens = tinycss2.parse_component_value_list(f"{css}\n@{_END};")
    except ValueError:  # Python refuses integers of thousands of digits
        return [], [(1, f"expected numbers of at most {MAX_DIGITS} digits; found a longer one: shorten it")]
    problems: list[tuple[int, str]] = []
    is_closed = len(tokens) > 1 and tokens[-2].type == "at-keyword" and tokens[-2].value == _END
    cleaned = _cleaned(tokens[:-2] if is_closed else tokens, problems, 0)
    if not is_closed and all(sentence.startswith(_UNOPENED) for _, sentence in problems):
        return [], [
            _unclosed(tokens)
        ]  # the bracket that lacks its end takes the next one of another kind for a stray one
    return cleaned, problems


def _unseen(css: str) -> tuple[int, str] | None:
    for index, letter in enumerate(css):
        if letter not in "\n\r\t" and unicodedata.category(letter) in _UNSEEN:
            line = css.count("\n", 0, index) + 1
            return line, f"expected characters that can be seen; found U+{ord(letter):04X}: delete it"
    return None


def _unclosed(tokens: Sequence[Node]) -> tuple[int, str]:
    """Return the problem of the innermost block or comment that has no end."""
    last, opening = tokens[-1], ""
    while True:
        if last.type == "comment":
            return last.source_line, "expected */ at the end of the comment; found none: add it"
        opening, inner = _inside(last)
        if not inner or not (_inside(inner[-1])[0] or inner[-1].type == "comment"):
            closing = {"{": "}", "[": "]"}.get(opening, ")")
            return last.source_line, f"expected {closing} for this {opening or '('}; found none: add it"
        last = inner[-1]


def _inside(node: Node) -> tuple[str, list[Node]]:
    """Return how a block or function begins, and what it contains; an empty text for others."""
    if node.type == "function":
        return f"{node.name}(", node.arguments
    if node.type.endswith(" block"):
        return node.type[0], node.content
    return "", []


def _cleaned(tokens: Sequence[Node], problems: list[tuple[int, str]], depth: int) -> list[Node]:
    if depth > MAX_NESTING:
        problems.append(
            (
                tokens[0].source_line,
                f"expected at most {MAX_NESTING} brackets within one another; found more: write it simpler",
            )
        )
        return []
    kept = []
    for token in tokens:
        if token.type == "comment":
            continue
        if sentence := _sentence(token):
            problems.append((token.source_line, sentence))
            continue
        if token.type == "whitespace":
            token.value = " "
        elif token.type == "function":
            token.arguments = _cleaned(token.arguments, problems, depth + 1) if token.arguments else []
        elif token.type.endswith(" block"):
            token.content = _cleaned(token.content, problems, depth + 1) if token.content else []
        kept.append(token)
    return kept


def _sentence(token: Node) -> str:
    """Return what is wrong with a single token, or an empty text."""
    if token.type == "error":
        return _error(token)
    if token.type in ("ident", "at-keyword", "hash", "function"):
        return _misnamed(token.name if token.type == "function" else token.value, is_hash=token.type == "hash")
    if token.type in ("string", "url"):
        return _unsafe_text(token.value)
    if token in ("<!--", "-->"):
        return f"expected CSS without HTML; found {token.value}: delete it"
    if token.type == "unicode-range":
        return "expected whole fonts; found a range of letters (U+…), which would show what people type: delete it"
    if token.type in ("number", "percentage", "dimension"):
        if len(token.representation) > MAX_DIGITS:
            return f"expected numbers of at most {MAX_DIGITS} digits; found a longer one: shorten it"
        if token.type == "dimension" and token.lower_unit not in UNITS and token.lower_unit.partition("-")[0] != "n":
            return f"expected a unit such as px, rem, %, s or deg; found {_shown(token.unit)}: use one of them"
    return ""


def _error(token: Node) -> str:
    if token.kind == "bad-string":
        return "expected the closing quote on the same line; found a line break in the text: close or join it"
    if token.kind in ")]}":
        return f"{_UNOPENED} {token.kind}; found none: delete {token.kind}"
    return "expected url(img/NAME); found an address with quotes, brackets or spaces in it, or without an end: mend it"


def _misnamed(name: str, *, is_hash: bool) -> str:
    if set(name) <= _NAME and name != "-" and (is_hash or not name.lstrip("-")[:1].isdigit()):
        return ""
    return f"expected a name of letters, digits, - and _; found {_shown(name)}: rename it"


def _unsafe_text(text: str) -> str:
    for letter in text:
        if letter in "<>\\" or unicodedata.category(letter) in _UNSEEN:
            return f"expected text without <, >, \\ and unseen characters; found U+{ord(letter):04X}: delete it"
    return ""


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:40])


def trimmed(tokens: Sequence[Node]) -> list[Node]:
    """Return the tokens without whitespace at both ends."""
    start, end = 0, len(tokens)
    while start < end and tokens[start].type == "whitespace":
        start += 1
    while end > start and tokens[end - 1].type == "whitespace":
        end -= 1
    return list(tokens[start:end])


def between_commas(tokens: Sequence[Node]) -> list[list[Node]]:
    """Return the tokens before, between and after commas."""
    found: list[list[Node]] = [[]]
    for token in tokens:
        if token == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def text_of(tokens: Sequence[Node], tight: str) -> str:
    """Return the tokens as CSS, without whitespace beside the literals of `tight`."""
    return str(tinycss2.serialize(list(_tightened(trimmed(tokens), tight))))


def _tightened(tokens: Sequence[Node], tight: str) -> Iterator[Node]:
    for index, token in enumerate(tokens):
        beside = (*tokens[index - 1 : index], *tokens[index + 1 : index + 2])
        if token.type == "whitespace" and any(other.type == "literal" and other.value in tight for other in beside):
            continue
        yield token
