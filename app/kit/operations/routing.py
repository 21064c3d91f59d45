"""Finds the operations at a method and path.

Fixed path segments ignore letter case, parameters keep theirs. A segment that is fixed in one path is never a parameter
at that place, whatever follows it: beside `/books/{id}` and `/books/search`, `/books/search/pages` matches no parameter. A tree of
segments: lookup does not slow down with the number of operations, and building it for 500 takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.kit.operations.operation import AnyOperation


@dataclass
class _Node:
    fixed: dict[str, _Node] = field(default_factory=dict)
    open: list[tuple[str, _Node]] = field(default_factory=list)
    methods: dict[str, list[AnyOperation]] = field(default_factory=dict)
    route: str = ""


@dataclass(frozen=True)
class Match:
    """The operations at a path, by method, the path's parameters, and the declared path, such as `/books/{id}`."""

    methods: Mapping[str, list[AnyOperation]]
    parameters: Mapping[str, str]
    route: str


class Router:
    """The paths of a catalogue."""

    def __init__(self, operations: Iterable[AnyOperation]) -> None:
        self._root = _Node()
        self._fixed: dict[str, Match] = {}
        for operation in operations:
            for method, path in operation.addresses():
                self._add(method, path, operation)

    def _node(self, path: str) -> _Node:
        """Return the path's node, created if it does not exist."""
        node = self._root
        for segment in path.strip("/").split("/"):
            if segment.startswith("{"):
                name = segment[1:-1]
                known = next((child for label, child in node.open if label == name), None)
                if known is None:
                    known = _Node()
                    node.open.append((name, known))
                node = known
            else:
                node = node.fixed.setdefault(segment.lower(), _Node())
        return node

    def _add(self, method: str, path: str, operation: AnyOperation) -> None:
        node = self._node(path)
        node.route = node.route or path
        stored = node.methods.setdefault(method, [])
        if any(other.when == operation.when for other in stored):
            raise ValueError(f"{method} {path} belongs to {stored[0].name} already; {operation.name} needs a `when`")
        stored.append(operation)
        stored.sort(key=lambda item: not item.when)  # the one without a condition comes last
        if "{" not in path:
            self._fixed[f"/{path.strip('/').lower()}"] = Match(node.methods, {}, node.route)

    def find(self, path: str) -> Match | None:
        """Return the operations at the path; fixed segments win over parameters, which may have several names."""
        if (fixed := self._fixed.get(path.lower())) is not None:
            return fixed
        found = _walk(self._root, path.strip("/").split("/"), 0, [])
        return found if found is None or all(found.parameters.values()) else _for_blank_segments(found)


_Pairs = list[tuple[str, str]]


def _walk(node: _Node, segments: list[str], at: int, parameters: _Pairs) -> Match | None:
    if at == len(segments):
        return Match(node.methods, dict(parameters), node.route) if node.methods else None
    child = node.fixed.get(segments[at].lower())
    if child is not None:
        return _walk(child, segments, at + 1, parameters)
    if not node.open:
        return None
    hits = [_walk(child, segments, at + 1, [*parameters, (name, segments[at])]) for name, child in node.open]
    found = [hit for hit in hits if hit is not None]
    return _merged(found) if len(found) > 1 else next(iter(found), None)


def _for_blank_segments(match: Match) -> Match | None:
    """Return only the operations that take empty path segments; None if there is none."""
    taking = {
        method: [element for element in item if element.takes_blank_segments] for method, item in match.methods.items()
    }
    methods = {method: item for method, item in taking.items() if item}
    return Match(methods, match.parameters, match.route) if methods else None


def _merged(matches: list[Match]) -> Match:
    """Merge paths that differ only in the name of a parameter."""
    methods: dict[str, list[AnyOperation]] = {}
    parameters: dict[str, str] = {}
    for hit in reversed(matches):  # the first declaration wins
        methods.update(hit.methods)
        parameters.update(hit.parameters)
    return Match(methods, parameters, matches[0].route)


def choose(operations: list[AnyOperation], query_names: Iterable[str]) -> AnyOperation | None:
    """Return the operation that the query's names select: one with a matching `when` first, else the one without."""
    if len(operations) == 1 and not operations[0].when:
        return operations[0]
    present = {name.lower() for name in query_names}
    for operation in operations:
        if not operation.when or any(name in present for name in operation.when):
            return operation
    return None
