"""Where a tenant chooses workflows by name: in its settings, and in applications.

Only workflows that can run may be chosen, and one that is chosen keeps its name and stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.contract.errors import BadField, WorkflowInUse
from app.contract.workflows.graph import MalformedGraph, read_graph
from app.contract.workflows.graph_rules import problems_of
from app.contract.workflows.workflow_operations import WORKFLOWS
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE


def is_runnable(item: Item) -> bool:
    """Return whether sign-ins can follow a stored workflow."""
    try:
        return not problems_of(read_graph(item.content["data"]))
    except MalformedGraph:
        return False


def refuse_unusable(context: Context, member: str, names: Iterable[str]) -> None:
    """Refuse names of workflows that do not exist or cannot run. Raises BadField, which names the member."""
    wanted = set(names)
    if not wanted:
        return
    items = SHARED_TABLE.items(StoreAccess.of(context), WORKFLOWS)
    unusable = wanted - {str(item.content["name"]) for item in items if is_runnable(item)}
    if unusable:
        raise BadField(f"{member}: expected the name of a workflow that can run; found {min(unusable)!r}.")


def refuse_used(context: Context, item: Item) -> None:
    """Refuse to take away a workflow that is in use. Raises WorkflowInUse, which says where."""
    name, tenant = str(item.content["name"]), tenant_writes.own(context.work)
    if tenant is not None and tenant.settings.get("default_workflow") == name:
        raise WorkflowInUse(f"{name} is the tenant's default workflow. Choose another one first.")
    if (application := tenant_writes.application_with_workflow(context.work, name)) is not None:
        raise WorkflowInUse(f"The application {application} uses {name}. Choose another workflow there first.")
