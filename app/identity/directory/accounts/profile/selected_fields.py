"""The `fields` parameter, which selects members of a profile for the response.

list  = item *("," item)        a,b
item  = path [ "(" list ")" ]   a(b,c/d)
path  = name *("/" name)        a/b
name  = "*" or a member's name  letter case is folded if the exact spelling is absent
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Union

Tree = dict[str, Union["Tree", None]]  # None: the whole member
_TOKEN = re.compile(r"[^,/()]+|[,/()]")
_MAX_LENGTH = 8_000
_MAX_DEPTH = 12


def project(profile: Mapping[str, Any], fields: str | None) -> dict[str, Any]:
    """Return the members that `fields` names; all if it names none.

    Unknown names are ignored, stray punctuation is skipped, an open group ends with the text. The work grows with the
    length of the text only: deeper nesting than a profile has is cut off.
    """
    tree = parse(fields or "")
    return _members(profile, tree) if tree else dict(profile)


def parse(fields: str) -> Tree:
    """Return the requested names as a tree."""
    root: Tree = {}
    groups: list[Tree | None] = [root]  # None: inside a member that is requested as a whole, or too deep
    path: list[str] = []
    for token in _TOKEN.findall(fields[:_MAX_LENGTH]):
        if token == "/":
            continue
        if token == ",":
            _request(groups[-1], path)
            path = []
        elif token == "(":
            groups.append(_descend(groups[-1], path) if path and len(groups) < _MAX_DEPTH else None)
            path = []
        elif token == ")":
            _request(groups[-1], path)
            path = []
            if len(groups) > 1:
                groups.pop()
        elif (name := token.strip()) and len(path) < _MAX_DEPTH:
            path.append(name)
    _request(groups[-1], path)
    return root


def _request(group: Tree | None, path: list[str]) -> None:
    """Request the last member of the path as a whole."""
    if group is None or not path:
        return
    parent = _descend(group, path[:-1])
    if parent is not None:
        parent[path[-1]] = None


def _descend(group: Tree | None, path: list[str]) -> Tree | None:
    """Return the tree under the path, or None if a member on the path is already requested as a whole."""
    for name in path:
        if group is None:
            return None
        group = group.setdefault(name, {})
    return group


def _members(profile: Mapping[str, Any], tree: Tree) -> dict[str, Any]:
    if "*" in tree:
        nested = tree["*"]
        if not nested:
            return dict(profile)
    folded: dict[str, str] | None = None
    selected: dict[str, Any] = {}
    for name, nested in tree.items():
        names = [name] if name in profile else []
        if name == "*":
            names = list(profile)
        elif not names:
            folded = folded if folded is not None else {actual.lower(): actual for actual in profile}
            names = [folded[name.lower()]] if name.lower() in folded else []
        for actual in names:
            _select(selected, actual, profile[actual], nested)
    return selected


def _select(selected: dict[str, Any], name: str, value: Any, nested: Tree | None) -> None:
    if not nested or value is None:
        selected[name] = value
    elif isinstance(value, dict):
        selected[name] = _members(value, nested)
    elif isinstance(value, list):
        selected[name] = [_members(element, nested) for element in value if isinstance(element, dict)]
