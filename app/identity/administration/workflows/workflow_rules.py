"""The rules of workflows as a resource: what a tenant's workflow may contain, and which powers it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.contract.errors import BadField
from app.contract.registration.form import CUSTOM
from app.contract.tenants.settings import TenantSettings
from app.contract.workflows import workflow_operations
from app.contract.workflows.graph import Graph, MalformedGraph, read_graph
from app.contract.workflows.graph_rules import problems_of
from app.contract.workflows.nodes import NodeData, ProfileFormNode, TermsNode, needs_every_scope
from app.identity.administration.workflows.workflow_choices import problems_now, refuse_unusable, refuse_used
from app.identity.directory.tenants import themed_tenant
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules


def faults(content: Any, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    """Yield what keeps a workflow from being stored.

    One with nodes of other products can't run anyway: of its graph, only the parts that Gatehouse knows must be right.
    """
    try:
        graph = read_graph(content.data)
    except MalformedGraph as problem:
        yield "data", str(problem)
        return
    if not graph.foreign_nodes:
        yield from (("data", problem) for problem in problems_of(graph))


def _faults_of_tenant(graph: Graph, settings: TenantSettings) -> Iterator[str]:
    """Yield the values that this tenant's settings do not know."""
    for node in graph.nodes.values():
        if node.data is not None:
            for member, expected in _unknown_values(node.data, settings):
                yield f"valid data of the {node.type} node {node.id}: {member}: {expected}"


def _unknown_values(data: NodeData, settings: TenantSettings) -> Iterator[tuple[str, str]]:
    for member, texts in data.texts.items():
        if settings.default_locale not in texts:
            yield member, f"a text in {settings.default_locale}, the tenant's default language"
    if isinstance(data, ProfileFormNode):
        custom = [name for name in data.fields if name.startswith(CUSTOM)]
        if unknown := [name for name in custom if name.removeprefix(CUSTOM) not in settings.custom_fields]:
            yield "fields", f"custom fields of the tenant; {unknown[0]} is none"
    if isinstance(data, TermsNode) and data.version:
        versions = [item.version for item in settings.privacy_policy.versions]
        if data.version not in versions:
            yield "version", f"a version of the privacy policy; {data.version} is none"


def powers_of(context: Context, item: Item) -> Iterator[Power]:  # noqa: ARG001 - the hook's signature
    """Yield the power of a workflow that sends profiles to a server, sets claims of tokens or refuses people."""
    try:
        graph = read_graph(item.content["data"])
    except MalformedGraph:  # its write is refused anyway, or an older version stored it
        yield Power(ALL, "a workflow that can't be read")
        return
    for node in graph.nodes.values():
        if node.data is not None and needs_every_scope(node.data):
            yield Power(ALL, f"the node type {node.type} of a workflow")
            return


def complete(context: Context, before: Item | None, after: Item) -> None:
    """Refuse values that the tenant does not know, and to rename or disable a workflow that is in use.

    A configuration file may add a theme with its workflow, and change what uses it: `sections/chosen_workflows.py` checks these.

    Raises:
        BadField, WorkflowInUse.
    """
    settings = context.tenant.settings  # not those of a file alone, which omits what operations set
    if problem := next(_faults_of_tenant(read_graph(after.content["data"]), settings), ""):
        raise BadField(f"Data: expected {problem}.")
    if context.operation is None:
        return
    former = before.content.get("theme_name") if before is not None else None
    themed_tenant.refuse_unknown(context, "ThemeName", after.content.get("theme_name"), former)
    if before is None:
        return
    is_renamed = before.content["name"] != after.content["name"]
    problems = problems_now(after.content["data"], settings)
    if is_renamed or problems:
        refuse_used(context, before, problems)


def show_state(context: Context, content: Any, values: dict[str, Any]) -> None:
    """Show whether a workflow can run, and why not."""
    values["problems"] = problems_now(content.data, context.tenant.settings)
    values["is_runnable"] = not values["problems"]


def check_default(context: Context, before: Item | None, after: Item) -> None:
    """Refuse a default that no workflow is, or that cannot run. Raises BadField."""
    name = after.content.get("default_workflow")
    if name is not None and (before is None or before.content.get("default_workflow") != name):
        refuse_unusable(context, "WorkflowName", (name,))


RULES: Final = {
    workflow_operations.DEFAULT_WORKFLOW: Rules(before_write=check_default),
    workflow_operations.WORKFLOWS: Rules(
        on_output=show_state,
        problems=faults,
        powers=powers_of,
        before_write=complete,
        before_delete=refuse_used,
    ),
}
