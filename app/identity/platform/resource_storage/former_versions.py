"""The versions of resources' items that later ones replaced, for resources that keep some."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Integer, String, delete, insert, select

from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.store.tables import Instant, Json, tenant_table
from app.kit.resources.resource import InTable, Resource
from app.kit.resources.resource_values import version_of

former_versions = tenant_table(
    "resource_versions",
    Column("kind", String(60), primary_key=True),  # as in the table `resources`
    Column("id", String(400), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("content", Json, nullable=False),
    Column("written_at", Instant, nullable=False),
)
T = former_versions.c


@dataclass(frozen=True)
class FormerVersion:
    """A replaced version. `content` is None in lists."""

    version: int
    written_at: datetime
    content: dict[str, Any] | None = None


def keeps_any(resource: Resource) -> bool:
    """Return whether a resource keeps the versions that later ones replace."""
    return isinstance(resource.backing, InTable) and resource.backing.former_versions > 0


def keep(access: StoreAccess, resource: Resource, stored_id: str, former: Item, after: Item) -> None:
    """Keep the version that is being replaced; remove the oldest beyond the number that the resource keeps."""
    replaced, version = version_of(resource, former.content), version_of(resource, after.content)
    if replaced == version:  # a file has stated the same values
        return
    row = {"tenant_id": access.work.tenant_id, "kind": resource.kind, "id": stored_id, "version": replaced}
    written_at = former.modified_at or access.now
    access.work.run(insert(former_versions).values(**row, content=former.content, written_at=written_at))
    kept = resource.backing.former_versions if isinstance(resource.backing, InTable) else 0
    access.work.run(delete(former_versions).where(*_item(access, resource, stored_id), T.version < version - kept))


def remove_all(access: StoreAccess, resource: Resource, stored_id: str) -> None:
    """Remove the versions of an item that is being deleted."""
    access.work.run(delete(former_versions).where(*_item(access, resource, stored_id)))


def list_all(access: StoreAccess, resource: Resource, stored_id: str) -> list[FormerVersion]:
    """Return the kept versions of an item without their content, the newest first."""
    columns = select(T.version, T.written_at).where(*_item(access, resource, stored_id))
    return [FormerVersion(row.version, row.written_at) for row in access.work.all(columns.order_by(T.version.desc()))]


def find(access: StoreAccess, resource: Resource, stored_id: str, version: int) -> FormerVersion | None:
    """Return a kept version of an item, or None."""
    row = access.work.one(select(former_versions).where(*_item(access, resource, stored_id), T.version == version))
    return FormerVersion(row.version, row.written_at, dict(row.content)) if row is not None else None


def _item(access: StoreAccess, resource: Resource, stored_id: str) -> tuple[Any, ...]:
    return T.tenant_id == access.work.tenant_id, T.kind == resource.kind, T.id == stored_id
