"""Reads drafts of workflows, which are tried before they are stored."""

from __future__ import annotations

from typing import Any

from app.contract.workflows.graph import Graph, MalformedGraph, read_graph
from app.contract.workflows.graph_rules import problems_of


class DraftRefused(ValueError):
    """Sign-ins couldn't follow the draft; the message has the expected form."""


def read_draft(data: dict[str, Any]) -> Graph:
    """Return the graph of a draft. Raises DraftRefused."""
    try:
        graph = read_graph(data)
    except MalformedGraph as problem:
        raise DraftRefused(str(problem)) from None
    if problems := problems_of(graph):
        raise DraftRefused(problems[0])
    return graph
