"""Checks that the workflows and themes that are named are there after a configuration file is applied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.contract.tenants.settings import TenantSettings
from app.contract.themes.theme_operations import THEMES
from app.contract.workflows.workflow_operations import WORKFLOWS
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.administration.workflows.workflow_choices import refusals
from app.identity.directory.organizations import sign_in_methods
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.resource_storage.items import Item, StoreAccess, unique_key
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.kit.resources.resource import Resource


@dataclass
class ChosenWorkflowSection(ItemSection):
    """The names of workflows in the settings and the applications of one tenant, and those of themes."""

    def check_choices(self) -> None:
        self._check_themes()
        choices = list(self._choices())
        if not choices:
            return
        refused = dict(refusals(self._after(WORKFLOWS), self.context.tenant.settings, {name for _, name in choices}))
        for path, name in choices:
            if name in refused:
                self.add_problem(path, f"expected {refused[name]}")

    def _check_themes(self) -> None:
        named = [
            ((*self.path, key, number, "theme_name"), item.theme_name)
            for key in (WORKFLOWS.file_key, "applications", "organizations")
            for number, item in enumerate(getattr(self.declared, key, None) or ())
            if item.theme_name
        ]
        if not named:
            return
        themes = {str(item.content["name"]) for item in self._after(THEMES)}
        for path, name in named:
            if name not in themes:
                self.add_problem(path, f"expected the name of a theme, or an empty one; found {name!r}")

    def _choices(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield the names after this run, and where the file has them, or the tenant where it leaves them as they are."""
        if (default := self.context.tenant.settings.default_workflow) is not None:
            is_declared = (
                self.declared.settings is not None and "default_workflow" in self.declared.settings.model_fields_set
            )
            yield ((*self.path, "settings", "default_workflow") if is_declared else self.path), default
        yield from self.planned.workflow_choices
        if getattr(self.declared, WORKFLOWS.file_key, None) is not None or self._ends_methods():  # else they stay right
            is_left = self.declared.applications is None
            for row in tenant_writes.applications_of(self.work):
                if is_left or row.registered_by is not None:
                    yield from ((self.path, name) for name in row.settings.get("workflows", ()))

    def _ends_methods(self) -> bool:
        before = TenantSettings.model_validate(self.stored.settings if self.stored is not None else {})
        return bool(sign_in_methods.offered(before) - sign_in_methods.offered(self.context.tenant.settings))

    def _after(self, resource: Resource) -> list[Item]:
        """Return the items of a resource after this run; those of the file have no id."""
        stored = {item.id: item for item in SHARED_TABLE.items(StoreAccess.of(self.context), resource)}
        declared: Any = getattr(self.declared, resource.file_key, None)
        if declared is None:
            return list(stored.values())
        by_name = {unique_key(resource, item): item.id for item in stored.values()}
        after: list[Item] = []
        for stated in declared:
            item = Item((), stated.model_dump(mode="json", exclude={"id"}))
            stored.pop((stated.id,) if stated.id else by_name.get(unique_key(resource, item), ()), None)
            after.append(item)
        return after if self.run.prune else [*after, *stored.values()]
