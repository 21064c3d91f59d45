"""Which workflow is in force for a sign-in: the application's, else the tenant's default.

A request may name another one only among those that the application lists, so that no name leads around the one in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.contract import errors
from app.contract.workflows.graph import Graph, MalformedGraph, read_graph
from app.contract.workflows.graph_rules import problems_of
from app.contract.workflows.nodes import StartNode
from app.contract.workflows.workflow_operations import WORKFLOWS
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE, items_of
from app.identity.platform.tenant import Application
from app.kit.resources.resource_values import version_of

_GRAPH: Final = ("graph",)


@dataclass(frozen=True)
class RunnableWorkflow:
    """A workflow that sign-ins can follow, at one version."""

    workflow_id: str
    name: str
    version: int
    graph: Graph

    @property
    def start_id(self) -> str:
        return self.graph.starts[0].id

    @property
    def runs_on_refresh(self) -> bool:
        """Whether refreshing a token runs it as well."""
        data = self.graph.starts[0].data
        return isinstance(data, StartNode) and data.on_refresh

    @property
    def new_run(self) -> WorkflowRun:
        return WorkflowRun(self.workflow_id, self.version)


class UnlistedWorkflow(Exception):
    """The request names a workflow that is not offered to the application."""


def workflow_in_force(
    context: Context, client: Application | None, named: str | None = None
) -> RunnableWorkflow | None:
    """Return the workflow that a sign-in must pass; None where there is none. Reads nothing where none is configured.

    Args:
        client: the application that the sign-in is for.
        named: the workflow that the request names.

    Raises:
        UnlistedWorkflow: no workflow that may be named here has this name.
        WorkflowGone: the configured workflow is missing or can't run; nobody signs in without it.
    """
    listed = client.settings.workflows if client is not None else ()
    default = listed[0] if listed else context.tenant.settings.default_workflow
    name = named or default
    if name is None:
        return None
    if named and default and named not in (listed or (default,)):
        raise UnlistedWorkflow
    found = _by_name(context, name)
    if found is None and default is None:
        raise UnlistedWorkflow
    if found is None:
        context.audit.record("workflow.missing", workflow=name)
        raise errors.WorkflowGone
    return found


def workflow_of_run(context: Context, run: WorkflowRun) -> RunnableWorkflow:
    """Return the workflow at the version with which a sign-in began. Raises WorkflowGone."""
    item = items_of(context, WORKFLOWS).get((run.workflow_id,))
    if item is None:
        raise errors.WorkflowGone
    content = item.content
    if version_of(WORKFLOWS, content) != run.version:
        former = SHARED_TABLE.version(StoreAccess.of(context), WORKFLOWS, item.id, run.version)
        if former is None or former.content is None:
            raise errors.WorkflowGone
        content = former.content
    graph = _graph(context, run.workflow_id, run.version, content)
    if graph is None:
        raise errors.WorkflowGone
    return RunnableWorkflow(run.workflow_id, content["name"], run.version, graph)


def _by_name(context: Context, name: str) -> RunnableWorkflow | None:
    for item in items_of(context, WORKFLOWS).values():
        if item.content["name"] == name:
            version = version_of(WORKFLOWS, item.content)
            graph = _graph(context, item.id[0], version, item.content)
            return RunnableWorkflow(item.id[0], name, version, graph) if graph is not None else None
    return None


def _graph(context: Context, workflow_id: str, version: int, content: Mapping[str, Any]) -> Graph | None:
    """Return the graph of a stored workflow, cached for each version of the tenant; None for one that can't run."""
    key = (context.tenant.tenant_id, context.tenant.version, f"{WORKFLOWS.kind} {workflow_id} {version}")
    cached = context.services.resource_items.get(key)
    if cached is None:
        cached = {_GRAPH: _runnable(content["data"])}
        context.services.resource_items.put(key, cached, context.work)
    graph: Graph | None = cached[_GRAPH]
    return graph


def _runnable(data: Mapping[str, Any]) -> Graph | None:
    try:
        graph = read_graph(data)
    except MalformedGraph:
        return None
    return None if problems_of(graph) else graph
