"""A stored workflow, read for sign-ins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from app.contract.workflows import conditions
from app.contract.workflows.expressions import Expression
from app.contract.workflows.graph import Graph, MalformedGraph, Node, read_graph
from app.contract.workflows.graph_rules import problems_of
from app.contract.workflows.nodes import ConditionNode, StartNode
from app.identity.platform.resource_storage.items import Item
from app.kit.caching.lru_cache import LruCache

_MAX_CACHED: Final = 500


class NotRunnable(Exception):
    """No sign-in can follow the workflow: it has nodes of another product, or an older version stored it."""


@dataclass(frozen=True)
class RunnableWorkflow:
    """A workflow that can run, at one version."""

    workflow_id: str
    version: int
    name: str
    theme_name: str
    graph: Graph = field(repr=False)
    conditions: Mapping[str, Expression] = field(repr=False)
    """Parsed, by node."""

    @property
    def start(self) -> Node:
        return self.graph.starts[0]

    @property
    def runs_on_refresh(self) -> bool:
        """Whether refreshing a token runs it as well."""
        return isinstance(self.start.data, StartNode) and self.start.data.on_refresh


def read_workflow(workflow_id: str, content: Mapping[str, Any]) -> RunnableWorkflow:
    """Return a workflow from its stored content. Raises NotRunnable."""
    try:
        graph = read_graph(content["data"])
    except MalformedGraph as problem:
        raise NotRunnable(str(problem)) from None
    if problems := problems_of(graph):
        raise NotRunnable(problems[0])
    parsed = {
        node.id: conditions.parse(node.data.expression)
        for node in graph.nodes.values()
        if isinstance(node.data, ConditionNode)
    }
    version = int(content.get("version") or 1)
    return RunnableWorkflow(workflow_id, version, content["name"], content.get("theme_name", ""), graph, parsed)


class WorkflowCache:
    """The most recently used workflows of all tenants, so that a sign-in parses none."""

    def __init__(self, max_entries: int = _MAX_CACHED) -> None:
        self._entries: LruCache[tuple[str, str, datetime | None], RunnableWorkflow] = LruCache(max_entries)

    def of_item(self, tenant_id: str, item: Item) -> RunnableWorkflow:
        """Return a stored workflow. Raises NotRunnable.

        A file chooses ids, so that two tenants, or a workflow and its deleted predecessor, may have one id and version: the key has
        the tenant, and when this version was written.
        """
        key = (tenant_id, item.id[0], item.modified_at)
        found = self._entries.get(key)
        if found is None or found.version != item.content.get("version"):
            found = read_workflow(item.id[0], item.content)
            self._entries.put(key, found)
        return found
