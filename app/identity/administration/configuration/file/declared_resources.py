"""Validates the resource items of a configuration file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from app.contract.tenants.settings import TenantSettings
from app.identity.administration.configuration.file.yaml_document import KeyPath, YamlDocument
from app.identity.administration.resource_operations.resource_registry import rules_of
from app.identity.platform.resource_storage.items import Item, unique_key
from app.kit.resources.resource import Resource


def problems(
    resources: Sequence[Resource], tenants: Sequence[BaseModel], document: YamlDocument
) -> Iterator[tuple[KeyPath, str]]:
    """Yield the problems of a file's items; rules that need settings which it omits are checked when it is applied."""
    for resource in resources:
        for at, tenant in enumerate(tenants):
            seen: dict[tuple[str, ...], KeyPath] = {}
            values: dict[tuple[str, str], KeyPath] = {}
            alike: dict[str | None, KeyPath] = {}
            for path, item in listed(resource, tenant, ("tenants", at)):
                yield from wrong(resource, item, path, getattr(tenant, "settings", None))
                item_id = id_of(resource, item)
                first = seen.setdefault(item_id, path) if item_id else path
                if first != path:
                    of = f" for {item_id[0]}" if len(item_id) > 1 else ""
                    line = document.line_of(first)
                    yield (*path, _last_key(resource)), f"is listed twice{of}; see line {line}"
                unique = unique_key(resource, Item((), item.model_dump(mode="json")))
                if unique is not None and first == path and (first := alike.setdefault(unique, path)) != path:
                    yield (
                        (*path, resource.named(resource.unique[-1]).path[-1]),
                        f"is listed twice; see line {document.line_of(first)}",
                    )
                for value in distinct_values(resource, item):
                    if (first := values.setdefault(value, path)) != path:
                        yield (*path, value[0]), f"is already used; see line {document.line_of(first)}"


def listed(resource: Resource, tenant: BaseModel, path: KeyPath) -> Iterator[tuple[KeyPath, BaseModel]]:
    """Yield the items that a tenant of the file states, and where they stand."""
    for number, item in enumerate(getattr(tenant, resource.file_key) or ()):
        yield (*path, resource.file_key, number), item


def wrong(
    resource: Resource, item: BaseModel, path: KeyPath, settings: TenantSettings | None
) -> Iterator[tuple[KeyPath, str]]:
    """Yield the problems of one item."""
    for key, sentence in rules_of(resource).problems_of(item, settings):
        yield (*path, *key.split(".")), f"expected {sentence}"


def id_of(resource: Resource, item: BaseModel) -> tuple[str, ...]:
    """Return an item's id; empty where the file leaves it to the service."""
    names = resource.ids or tuple(member.path[-1] for member in resource.keys)
    parts = tuple(getattr(item, name) for name in names)
    return () if None in parts else tuple(str(part) for part in parts)


def distinct_values(resource: Resource, item: BaseModel) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of an item that at most one item of the tenant may have."""
    for member in resource.members:
        value = getattr(item, member.path[-1], None) if member.distinct else None
        if value is not None:
            yield member.path[-1], value


def _last_key(resource: Resource) -> str:
    return resource.keys[-1].path[-1]
