"""Graphs of workflows, as an editor draws them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

Drawing = dict[str, Any]


def node(node_id: str, kind: str, **data: Any) -> Drawing:
    """Return a node with what an editor stores beside ours."""
    return {"id": node_id, "type": kind, "position": {"x": 100, "y": -20.5}, "data": data}


def edge(path: str) -> Drawing:
    """Return the edge of `source -> target`, or of `source.output -> target`."""
    begin, _, target = path.partition(" -> ")
    source, _, output = begin.partition(".")
    style = {"style": {"stroke": "#bbb"}, "markerEnd": {"type": "arrow"}, "type": "smoothstep", "targetHandle": None}
    return {"id": path, "source": source, "sourceHandle": output or None, "target": target, **style}


def drawing(nodes: list[Drawing], *paths: str) -> Drawing:
    """Return a graph with an edge for each path."""
    return {"nodes": nodes, "edges": [edge(path) for path in paths]}


def sequence(*between: Drawing) -> Drawing:
    """Return a workflow that signs in, then passes these nodes at their only output."""
    nodes = [node("start", "Start"), node("login", "Login"), *between, node("end", "SuccessFinalNode")]
    ids = [item["id"] for item in nodes]
    return drawing(nodes, *(f"{source} -> {target}" for source, target in pairwise(ids)))


def entering(kind: str, **data: Any) -> Drawing:
    """Return a workflow with this entry alone."""
    nodes = [node("start", "Start"), node("login", kind, **data), node("end", "SuccessFinalNode")]
    return drawing(nodes, "start -> login", "login -> end")


def branching(expression: str = "account.created_days_ago < 7", **deny: Any) -> Drawing:
    """Return a workflow that refuses people by a condition."""
    texts = deny or {"en": "Come back next week."}
    nodes = [
        node("start", "Start"), node("login", "Login"), node("new", "Condition", expression=expression),
        node("refused", "Deny", text=texts), node("end", "SuccessFinalNode"),
    ]  # fmt: skip
    return drawing(nodes, "start -> login", "login -> new", "new.true -> refused", "new.false -> end")
