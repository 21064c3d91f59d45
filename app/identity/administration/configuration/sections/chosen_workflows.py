"""Checks that the workflows which a tenant's settings and applications name are there after a configuration file is applied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.contract.workflows.workflow_operations import WORKFLOWS
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.administration.workflows.workflow_choices import is_runnable
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.resource_storage.items import Item, StoreAccess, unique_key
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE


@dataclass
class ChosenWorkflowSection(ItemSection):
    """The names of workflows in the settings and the applications of one tenant."""

    def check_choices(self) -> None:
        choices = list(self._choices())
        if not choices:
            return
        usable = self._usable()
        for path, name in choices:
            if name not in usable:
                self.add_problem(path, f"expected the name of a workflow that can run, or none; found {name!r}")

    def _choices(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield the names after this run, and where the file has them, or the tenant where it leaves them as they are."""
        if (default := self.context.tenant.settings.default_workflow) is not None:
            is_declared = (
                self.declared.settings is not None and "default_workflow" in self.declared.settings.model_fields_set
            )
            yield ((*self.path, "settings", "default_workflow") if is_declared else self.path), default
        yield from self.planned.workflow_choices
        if getattr(self.declared, WORKFLOWS.file_key, None) is not None:  # else the stored ones stay right
            is_left = self.declared.applications is None
            for row in tenant_writes.applications_of(self.work):
                if is_left or row.registered_by is not None:
                    yield from ((self.path, name) for name in row.settings.get("workflows", ()))

    def _usable(self) -> set[str]:
        """Return the names of the workflows that can run after this run."""
        stored = {item.id: item for item in SHARED_TABLE.items(StoreAccess.of(self.context), WORKFLOWS)}
        declared: Any = getattr(self.declared, WORKFLOWS.file_key, None)
        if declared is None:
            return {str(item.content["name"]) for item in stored.values() if is_runnable(item)}
        by_name = {unique_key(WORKFLOWS, item): item.id for item in stored.values()}
        after: list[Item] = []
        for workflow in declared:
            item = Item((), {"name": workflow.name, "data": workflow.data})
            stored.pop((workflow.id,) if workflow.id else by_name.get(unique_key(WORKFLOWS, item), ()), None)
            after.append(item)
        left = () if self.run.prune else stored.values()
        return {str(item.content["name"]) for item in (*after, *left) if is_runnable(item)}
