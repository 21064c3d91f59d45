"""Reads from the tests which addresses they ask: methods and paths in calls, and operations by their row of the interface."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")
UNKNOWN = "*"
"""A part of a path that the source of a test does not show."""
_ROW = re.compile(r"[A-Z]\d\d")
_ADDRESS = re.compile(rf"(?:({'|'.join(METHODS)}) )?(/[^\s]*)")

Address = tuple[str, str]


@dataclass
class CalledAddresses:
    """What one module of the tests asks."""

    module: str
    """Relative to the folder of the tests."""
    addresses: list[Address] = field(default_factory=list)
    """(method, path) of each call; the method is empty if the call does not show it."""
    bases: set[str] = field(default_factory=set)
    """Paths that the module names; its calls may ask below them."""
    rows: set[str] = field(default_factory=set)

    def calls(self, known: Sequence[Address]) -> Iterator[list[Address]]:
        """Yield the known addresses that each call asks."""
        for method, path in self.addresses:
            below = (nearest((method, f"{base}{path}"), known) for base in sorted(self.bases))
            yield nearest((method, path), known) or next(filter(None, below), [])


def addresses_called_in(folder: Path, *parts: str) -> list[CalledAddresses]:
    """Return the addresses that the modules below a folder call, sorted by module; with `parts`, only those below these subfolders."""
    below = {path for part in parts or (".",) for path in (folder / part).rglob("*.py")}
    return [_called(folder, path) for path in sorted(below)]


def nearest(requested: Address, known: Sequence[Address]) -> list[Address]:
    """Return the addresses that a test asks: those with the most fixed parts in common."""
    scores = {address: score for address in known if (score := _score(requested, address))}
    return [address for address, score in scores.items() if score == max(scores.values())]


@cache
def parts(path: str) -> tuple[str, ...]:
    """Return the segments of a path, in lower case and without its query; a parameter is `*`."""
    plain = path.partition("?")[0].strip("/")
    return tuple(UNKNOWN if "{" in part or UNKNOWN in part else part.lower() for part in plain.split("/"))


def _score(requested: Address, address: Address) -> int:
    """Return how well a test's address fits; 0: not at all."""
    theirs, ours = parts(requested[1]), parts(address[1])
    if requested[0] not in ("", address[0]) or len(theirs) != len(ours) or theirs[0] != ours[0]:
        return 0
    if any(UNKNOWN not in pair and pair[0] != pair[1] for pair in zip(theirs, ours, strict=True)):
        return 0
    return 1 + sum(2 if item == other else other == UNKNOWN for item, other in zip(theirs, ours, strict=True))


def _called(folder: Path, path: Path) -> CalledAddresses:
    texts, found = _constants(folder, path), CalledAddresses(str(path.relative_to(folder)))
    found.bases |= {text for text in texts.values() if text.startswith("/")}
    for outer in _tree(path).body:
        inner = dict(texts)
        for node in ast.walk(outer):
            if isinstance(node, ast.Assign):
                inner |= _assigned(node.targets[0], node.value, inner)
        for node in ast.walk(outer):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _ROW.fullmatch(node.value):
                found.rows.add(node.value)
            found.addresses += _of_node(node, inner)
    return found


def _of_node(node: ast.AST, texts: Mapping[str, str]) -> Iterator[Address]:
    """Yield the addresses of a call, of a tuple with a method, and of a list, whose values a test is run with."""
    if isinstance(node, ast.Call):
        verb = node.func.attr.upper() if isinstance(node.func, ast.Attribute) else ""
        yield from _of_values([*node.args, *(keyword.value for keyword in node.keywords)], texts, verb)
    elif isinstance(node, ast.List):
        yield from _of_values(node.elts, texts, "")
    elif isinstance(node, ast.Tuple):
        yield from (value for value in _of_values(node.elts, texts, "") if value[0])


def _of_values(values: Sequence[ast.expr], texts: Mapping[str, str], verb: str) -> Iterator[Address]:
    """Yield the addresses among the values of a call or a tuple; a method among them is that of each."""
    known = [text for value in values if (text := _text(value, texts))]
    method = next((text for text in known if text in METHODS), verb if verb in METHODS else "")
    for text in known:
        if match := _ADDRESS.fullmatch(text):
            yield match[1] or method, match[2]


def _text(node: ast.expr, texts: Mapping[str, str]) -> str:
    """Return the text of an expression, with `*` for its unknown parts; empty if it begins with one."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.Name):
        return texts.get(node.id, "")
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, texts) or UNKNOWN
    if isinstance(node, ast.JoinedStr):
        complete = "".join(_text(value, texts) for value in node.values)
        return "" if complete.startswith(UNKNOWN) else complete
    return ""


@cache
def _constants(folder: Path, path: Path) -> Mapping[str, str]:
    """Return the texts that a module names at its top level, also those of other modules of the tests."""
    texts: dict[str, str] = {}
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{folder.name}."):
            other = folder.joinpath(*str(node.module).split(".")[1:]).with_suffix(".py")
            theirs = _constants(folder, other) if other.exists() else {}
            texts |= {name.asname or name.name: theirs[name.name] for name in node.names if name.name in theirs}
        elif isinstance(node, ast.Assign):
            texts |= _assigned(node.targets[0], node.value, texts)
    return texts


def _assigned(target: ast.expr, value: ast.expr, texts: Mapping[str, str]) -> dict[str, str]:
    if isinstance(target, ast.Name):
        return {target.id: text} if (text := _text(value, texts)) else {}
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=False)
        return {name: text for pair in pairs for name, text in _assigned(*pair, texts).items()}
    return {}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
