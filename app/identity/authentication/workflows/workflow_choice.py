"""Which workflow is in force for a sign-in: the application's, else the tenant's default.

A request may name another one only among those that the application lists, so that no name leads around the one in force.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract import errors
from app.contract.workflows.workflow_operations import WORKFLOWS
from app.identity.authentication.workflows.workflow import NotRunnable, RunnableWorkflow, WorkflowCache
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE, items_of
from app.identity.platform.tenant import Application
from app.kit.resources.resource_values import version_of

_CACHE: Final = WorkflowCache()


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


def is_offered(context: Context, client: Application | None, named: str) -> bool:
    """Return whether a request may name this workflow."""
    try:
        return workflow_in_force(context, client, named) is not None
    except (UnlistedWorkflow, errors.WorkflowGone):
        return False


def workflow_of_run(context: Context, run: WorkflowRun) -> RunnableWorkflow:
    """Return the workflow at the version with which a sign-in began. Raises WorkflowGone."""
    item = items_of(context, WORKFLOWS).get((run.workflow_id,))
    if item is not None and version_of(WORKFLOWS, item.content) != run.version:
        former = SHARED_TABLE.version(StoreAccess.of(context), WORKFLOWS, item.id, run.version)
        content = former.content if former is not None else None
        item = replace(item, content=content, modified_at=former.written_at) if former and content is not None else None
    found = _read(context, item) if item is not None else None
    if found is None:
        raise errors.WorkflowGone
    return found


def _by_name(context: Context, name: str) -> RunnableWorkflow | None:
    items = items_of(context, WORKFLOWS).values()
    item = next((item for item in items if item.content["name"] == name), None)
    return _read(context, item) if item is not None else None


def _read(context: Context, item: Item) -> RunnableWorkflow | None:
    """Return a stored workflow; None for one that can't run."""
    try:
        return _CACHE.of_item(context.tenant.tenant_id, item)
    except NotRunnable:
        return None
