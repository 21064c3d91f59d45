"""The operations on the versions of workflows."""

from __future__ import annotations

from app.contract import errors
from app.contract.workflows import workflow_operations
from app.contract.workflows.workflow_operations import (
    WORKFLOWS,
    WorkflowOf,
    WorkflowVersion,
    WorkflowVersionEntry,
    WorkflowVersionOf,
    WorkflowVersions,
)
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.kit.clock import iso
from app.kit.resources.resource_values import version_of


@workflow_operations.list_versions.implements
def list_versions(context: Context, req: WorkflowOf) -> WorkflowVersions:
    access, item = StoreAccess.of(context), _workflow(context, req)
    versions = [(version_of(WORKFLOWS, item.content), item.modified_at)]
    versions += [(former.version, former.written_at) for former in SHARED_TABLE.versions(access, WORKFLOWS, item.id)]
    return WorkflowVersions(
        data=[WorkflowVersionEntry(version=version, written_date=iso(at) or "") for version, at in versions]
    )


@workflow_operations.read_version.implements
def read_version(context: Context, req: WorkflowVersionOf) -> WorkflowVersion:
    item = _workflow(context, req)
    content, written_at = item.content, item.modified_at
    if version_of(WORKFLOWS, content) != req.version:
        former = SHARED_TABLE.version(StoreAccess.of(context), WORKFLOWS, item.id, req.version)
        if former is None or former.content is None:
            raise errors.UnknownWorkflow
        content, written_at = former.content, former.written_at
    return WorkflowVersion(
        id=item.id[0], name=content["name"], theme_name=content.get("theme_name", ""), data=content["data"],
        version=req.version, written_date=iso(written_at) or "",
    )  # fmt: skip


def _workflow(context: Context, req: WorkflowOf) -> Item:
    item = SHARED_TABLE.item(StoreAccess.of(context), WORKFLOWS, (req.workflow_id,))
    if item is None:
        raise errors.UnknownWorkflow
    return item
