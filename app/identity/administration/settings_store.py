"""Resources that are kept in the tenant's settings: a singleton as one part of them, a collection as a map or a list there.

The content of a singleton is the whole settings, so that its fields may be kept anywhere in them. Secrets lie with those of the
tenant's services.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ValidationError

from app.contract.tenants.file import BESIDE_SETTINGS, TenantFile
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.workflows.workflow_choices import ended_by
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.kit.resources.resource import InSettings, Resource
from app.kit.resources.resource_values import put_at, value_at

_GONE = TenantRow(LOOKUP_TENANT, "", "", b"", 0, {}, {}, None, is_active=False)


class SettingsRefused(Exception):
    """The settings as they would stand contradict themselves; `path` leads to the part, within a collection from its item on."""

    def __init__(self, path: tuple[str, ...], sentence: str) -> None:
        super().__init__(sentence)
        self.path = path


@dataclass(frozen=True)
class SettingsStore(Store):
    """Keeps one resource's items in the settings."""

    backing: InSettings
    raises_version: ClassVar[bool] = True

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the items: those of a map with their ids, or the stored singleton."""
        stored = tenant_writes.own(access.work) or _GONE
        if not resource.is_singleton:
            return [*self._read(resource, stored.settings).values()]
        secrets = tenant_secrets.decrypt_all(access.encryption, stored.tenant_id, stored.service_secrets).get(
            self.backing.key, {}
        )
        return [Item((), stored.settings, secrets)]

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Add an item, or set a singleton."""
        self.change(access, resource, item)

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Replace an item."""
        stored = tenant_writes.own(access.work) or _GONE
        if resource.is_singleton:
            secrets: Any = {self.backing.key: item.secrets} if self.backing.key else {}
            sealed = tenant_secrets.encrypt_merged(
                access.encryption, stored.tenant_id, stored.service_secrets, **secrets
            )
            refuse_wrong(access, stored.settings, item.content, 0)
            tenant_writes.change(access.work, settings=item.content, service_secrets=sealed)
            return
        self._write(access, stored, {**self._read(resource, stored.settings), item.id: item})

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:
        """Remove an item."""
        stored = tenant_writes.own(access.work) or _GONE
        left = {element: item for element, item in self._read(resource, stored.settings).items() if element != item_id}
        self._write(access, stored, left)

    @property
    def _path(self) -> tuple[str, ...]:
        return tuple(self.backing.key.split("."))

    def _read(self, resource: Resource, settings: Mapping[str, Any]) -> dict[tuple[str, ...], Item]:
        stored_items = value_at(settings, self._path) or {}
        if self.backing.listed:
            name = resource.keys[-1].path[-1]
            return {
                (str(stored_item[name]),): Item((str(stored_item[name]),), dict(stored_item))
                for stored_item in stored_items
            }
        value = self.backing.value
        return {
            (key,): Item((key,), {value: item} if value else dict(item)) for key, item in sorted(stored_items.items())
        }

    def _write(self, access: StoreAccess, stored: TenantRow, items: Mapping[Any, Item]) -> None:
        settings, value = deepcopy(stored.settings), self.backing.value
        stored_items: Any = [element.content for element in items.values()]
        if not self.backing.listed:
            stored_items = {key[-1]: item.content[value] if value else item.content for key, item in items.items()}
        put_at(settings, self._path, stored_items)
        refuse_wrong(access, stored.settings, settings, len(self._path) + 1)
        tenant_writes.change(access.work, settings=settings)


def refuse_wrong(access: StoreAccess, before: Mapping[str, Any], after: Mapping[str, Any], depth: int) -> None:
    """Raise SettingsRefused for settings that no tenant can have, that a configuration file could not state though it could before, or
    with which nobody could sign in by a workflow in use.
    """
    try:
        settings = TenantSettings.model_validate(after)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        raise SettingsRefused(tuple(map(str, first["loc"][depth:])), str(first["msg"])) from None
    sentence = _file_problem(after)
    if sentence and not _file_problem(before):
        raise SettingsRefused((), sentence)
    if sentence := ended_by(access, TenantSettings.model_validate(before), settings):
        raise SettingsRefused((), sentence.removesuffix("."))


def _file_problem(settings: Mapping[str, Any]) -> str:
    beside = {key: settings[key] for key in BESIDE_SETTINGS if key in settings}
    rest = {key: value for key, value in settings.items() if key not in beside}
    try:
        TenantFile.model_validate({"name": "tenant", **beside, "settings": rest})
    except ValidationError as problem:
        return str(problem.errors(include_url=False)[0]["msg"])
    return ""
