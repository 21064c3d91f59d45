"""The `fields` parameter: which members of a profile an answer holds (interface profile.json.md section 5).

list  = item *("," item)        a,b
item  = path [ "(" list ")" ]   a(b,c/d)
path  = name *("/" name)        a/b
name  = "*" or a member's name  letter case is folded where the exact spelling is not there
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Union

Tree = dict[str, Union["Tree", None]]  # None: the member whole
_TOKEN = re.compile(r"[^,/()]+|[,/()]")
_MOST_LETTERS = 8_000
_MOST_DEPTH = 12


def project(profile: Mapping[str, Any], fields: str | None) -> dict[str, Any]:
    """Return the members that `fields` names; all if it names none.

    Unknown names are ignored, stray punctuation is skipped, an open group ends with the text. The work grows with the
    length of the text only: what is nested deeper than a profile can be is cut off.
    """
    tree = parse(fields or "")
    return _members(profile, tree) if tree else dict(profile)


def parse(fields: str) -> Tree:
    """Return the asked names as a tree."""
    root: Tree = {}
    groups: list[Tree | None] = [root]  # None: inside something that is asked for whole, or too deep
    here: list[str] = []
    for token in _TOKEN.findall(fields[:_MOST_LETTERS]):
        if token == "/":
            continue
        if token == ",":
            _ask(groups[-1], here)
            here = []
        elif token == "(":
            groups.append(_descend(groups[-1], here) if here and len(groups) < _MOST_DEPTH else None)
            here = []
        elif token == ")":
            _ask(groups[-1], here)
            here = []
            if len(groups) > 1:
                groups.pop()
        elif (name := token.strip()) and len(here) < _MOST_DEPTH:
            here.append(name)
    _ask(groups[-1], here)
    return root


def _ask(group: Tree | None, path: list[str]) -> None:
    """Ask for the last name of the path whole."""
    if group is None or not path:
        return
    parent = _descend(group, path[:-1])
    if parent is not None:
        parent[path[-1]] = None


def _descend(group: Tree | None, path: list[str]) -> Tree | None:
    """Return the tree under the path; None where a name on the way is asked for whole already."""
    for name in path:
        if group is None:
            return None
        group = group.setdefault(name, {})
    return group


def _members(given: Mapping[str, Any], tree: Tree) -> dict[str, Any]:
    if "*" in tree:
        inside = tree["*"]
        if not inside:
            return dict(given)
    folded: dict[str, str] | None = None
    chosen: dict[str, Any] = {}
    for name, inside in tree.items():
        names = [name] if name in given else []
        if name == "*":
            names = list(given)
        elif not names:
            folded = folded if folded is not None else {held.lower(): held for held in given}
            names = [folded[name.lower()]] if name.lower() in folded else []
        for held in names:
            _choose(chosen, held, given[held], inside)
    return chosen


def _choose(chosen: dict[str, Any], name: str, value: Any, inside: Tree | None) -> None:
    if not inside or value is None:
        chosen[name] = value
    elif isinstance(value, dict):
        chosen[name] = _members(value, inside)
    elif isinstance(value, list):
        chosen[name] = [_members(element, inside) for element in value if isinstance(element, dict)]
