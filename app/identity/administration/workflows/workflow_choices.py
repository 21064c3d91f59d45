"""Where a tenant chooses workflows by name: in its settings, and in applications.

Only workflows that can run may be chosen, and one that is chosen keeps its name and stays. Settings can't end the only methods with
which people begin one that is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.contract.errors import BadField, WorkflowInUse
from app.contract.tenants.settings import TenantSettings
from app.contract.workflows.graph import MalformedGraph, read_graph
from app.contract.workflows.graph_rules import problems_of
from app.contract.workflows.workflow_operations import WORKFLOWS
from app.identity.authentication.workflows.entry_methods import lockout
from app.identity.directory.organizations import sign_in_methods
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE


def problems_now(data: Mapping[str, Any], settings: TenantSettings) -> list[str]:
    """Return why a stored workflow can't run, or lets nobody begin a sign-in with the settings; empty for one that may be chosen."""
    try:
        graph = read_graph(data)
    except MalformedGraph as problem:
        return [f"Expected {problem}."]
    found = problems_of(graph) or filter(None, [lockout(graph, settings)])
    return [f"Expected {problem}." for problem in found]


def refusals(items: Iterable[Item], settings: TenantSettings, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield those of the names that can't be chosen among the workflows, each with what was expected."""
    stored = {str(item.content["name"]): item for item in items}
    for name in names:
        found = stored.get(name)
        problems = problems_now(found.content["data"], settings) if found is not None else ["It doesn't exist."]
        if problems:
            yield name, f"the name of a workflow that can run; found {name!r}. {problems[0]}"


def refuse_unusable(context: Context, member: str, names: Iterable[str]) -> None:
    """Refuse names of workflows that do not exist or cannot run. Raises BadField, which names the member."""
    if not (wanted := sorted(set(names))):
        return
    items = SHARED_TABLE.items(StoreAccess.of(context), WORKFLOWS)
    for _, expected in refusals(items, context.tenant.settings, wanted):
        raise BadField(f"{member}: expected {expected}")


def refuse_used(context: Context, item: Item, problems: Iterable[str] = ()) -> None:
    """Refuse to take away a workflow that is in use. Raises WorkflowInUse, which says where.

    Args:
        problems: why it could not run after the change.
    """
    name, tenant, why = (
        str(item.content["name"]),
        tenant_writes.own(context.work),
        "".join(f" {text}" for text in problems),
    )
    if tenant is not None and tenant.settings.get("default_workflow") == name:
        raise WorkflowInUse(f"{name} is the tenant's default workflow. Choose another one first.{why}")
    if (application := tenant_writes.application_with_workflow(context.work, name)) is not None:
        raise WorkflowInUse(f"The application {application} uses {name}. Choose another workflow there first.{why}")


def ended_by(access: StoreAccess, before: TenantSettings, after: TenantSettings) -> str:
    """Return the sentence about a chosen workflow that nobody could begin any more after a change of the settings; empty for none.

    Reads nothing unless the change ends a method.
    """
    if not sign_in_methods.offered(before) - sign_in_methods.offered(after):
        return ""
    chosen = {name for row in tenant_writes.applications_of(access.work) for name in row.settings.get("workflows", ())}
    for item in SHARED_TABLE.items(access, WORKFLOWS):
        name, data = str(item.content["name"]), item.content["data"]
        if (name not in chosen and name != after.default_workflow) or problems_now(data, before):
            continue
        if problems := problems_now(data, after):
            return f"Nobody could sign in with the workflow {name}, which is in use. Choose another one first. {problems[0]}"
    return ""
