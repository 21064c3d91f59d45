"""The table that resources without a store of their own share, and the cache of their items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import quote, unquote

from pydantic_core import from_json, to_json
from sqlalchemy import Column, LargeBinary, Select, String, UniqueConstraint, delete, func, insert, select, update

from app.identity.platform.context import Context
from app.identity.platform.resource_storage import former_versions
from app.identity.platform.resource_storage.former_versions import FormerVersion
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess, unique_key
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.identity.platform.store.tables import Instant, Json, tenant_table
from app.kit.resources.resource import ENCRYPTED, InTable, Resource

resources = tenant_table(
    "resources",
    Column("kind", String(60), primary_key=True),  # app/contract: `kind` of the declaration
    Column("id", String(400), primary_key=True),  # parts of a composite id are percent-encoded, with / between
    Column("unique_key", String(64)),  # digest of the values that are unique within a kind
    Column("content", Json, nullable=False),
    Column("sealed", LargeBinary),  # the secrets and what the declaration marks ENCRYPTED, as encrypted JSON
    Column("origin", Json, nullable=False),  # `by` api or file, and digests of the values in the file
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "kind", "unique_key"),
)


T = resources.c
_BESIDE_SECRETS: Final = ""
"""The key in the encrypted JSON of what is no secret: no field has this name."""


class SharedTable(Store):
    """Stores items of any kind."""

    keeps_origin: ClassVar[bool] = True

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:
        """Return the items, the oldest first."""
        return _items(access, _ordered(access, resource, id_prefix))

    def page(self, access: StoreAccess, resource: Resource, offset: int, limit: int) -> list[Item]:
        """Return a page of the items, the oldest first."""
        return _items(access, _ordered(access, resource).offset(offset).limit(limit))

    def count(self, access: StoreAccess, resource: Resource) -> int:
        """Return the number of items."""
        where = _kind(access, resource)
        return int(access.work.run(select(func.count()).select_from(resources).where(*where)).scalar_one())

    def find_by_unique_key(self, access: StoreAccess, resource: Resource, item: Item) -> Item | None:
        """Return the stored item that has the same unique values."""
        same = T.unique_key == unique_key(resource, item)
        row = access.work.one(select(resources).where(*_kind(access, resource), same))
        return _item(access, row) if row is not None else None

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return an item, or None."""
        row = access.work.one(select(resources).where(*_kind(access, resource), T.id == _joined(item_id)))
        return _item(access, row) if row is not None else None

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Add an item. Raises IntegrityError if its id or its unique key is taken."""
        row = {
            "tenant_id": access.work.tenant_id,
            "kind": resource.kind,
            "id": _joined(item.id),
            "created_at": item.created_at or access.now,
        }
        access.work.run(insert(resources).values(**row, **_values(access, resource, item)))

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Replace an existing item. Raises IntegrityError if its unique key is taken."""
        if former_versions.keeps_any(resource) and (former := self.item(access, resource, item.id)) is not None:
            former_versions.keep(access, resource, _joined(item.id), former, item)
        where = (*_kind(access, resource), T.id == _joined(item.id))
        access.work.run(update(resources).where(*where).values(_values(access, resource, item)))

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:
        """Remove an item, and its former versions."""
        if former_versions.keeps_any(resource):
            former_versions.remove_all(access, resource, _joined(item_id))
        access.work.run(delete(resources).where(*_kind(access, resource), T.id == _joined(item_id)))

    def versions(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> list[FormerVersion]:
        """Return the versions of an item that later ones replaced, without their content, the newest first."""
        return former_versions.list_all(access, resource, _joined(item_id))

    def version(
        self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...], version: int
    ) -> FormerVersion | None:
        """Return a version of an item that a later one replaced, or None."""
        return former_versions.find(access, resource, _joined(item_id), version)


SHARED_TABLE = SharedTable()


def _items(access: StoreAccess, statement: Select[Any]) -> list[Item]:
    return [_item(access, row) for row in access.work.all(statement)]


def _ordered(access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> Select[Any]:
    prefix = f"{_joined(id_prefix)}/" if id_prefix else ""
    within = [func.substr(T.id, 1, len(prefix)) == prefix] if prefix else []
    return select(resources).where(*_kind(access, resource), *within).order_by(T.created_at, T.id)


def _kind(access: StoreAccess, resource: Resource) -> tuple[Any, ...]:
    return T.tenant_id == access.work.tenant_id, T.kind == resource.kind


def _values(access: StoreAccess, resource: Resource, item: Item) -> dict[str, Any]:
    associated_data = _associated_data(access.work.tenant_id, resource.kind, _joined(item.id))
    content, encrypted_content = _split(resource, item.content)
    named, encrypted_named = _split(resource, item.origin.get("named", {}))
    secrets: dict[str, Any] = dict(item.secrets)
    if encrypted_content or encrypted_named:
        secrets[_BESIDE_SECRETS] = {"content": encrypted_content, "named": encrypted_named}
    sealed = access.encryption.encrypt(to_json(secrets), associated_data) if secrets else None
    origin = {**item.origin, "named": named} if encrypted_named else dict(item.origin)
    values = {"content": content, "sealed": sealed, "origin": origin}
    return {**values, "unique_key": unique_key(resource, item), "modified_at": item.modified_at or access.now}


def _split(resource: Resource, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values to store in clear and those of members marked ENCRYPTED, by key."""
    keys = {member.path[0] for member in resource.members if ENCRYPTED in member.roles}
    return {key: value for key, value in values.items() if key not in keys}, {
        key: values[key] for key in keys & values.keys()
    }


def _item(access: StoreAccess, row: Any) -> Item:
    associated_data = _associated_data(access.work.tenant_id, row.kind, row.id)
    secrets = from_json(access.encryption.decrypt(row.sealed, associated_data)) if row.sealed is not None else {}
    item_id, beside = tuple(unquote(part) for part in row.id.split("/")), secrets.pop(_BESIDE_SECRETS, {})
    content, origin = {**row.content, **beside.get("content", {})}, dict(row.origin)
    if beside.get("named"):
        origin["named"] = {**origin["named"], **beside["named"]}
    return Item(item_id, content, secrets, origin, row.created_at, row.modified_at)


def _joined(item_id: Iterable[str]) -> str:
    return "/".join(quote(part, safe="") for part in item_id)


def _associated_data(tenant_id: str, kind: str, item_id: str) -> str:
    """Return the associated data of an item's encrypted secrets."""
    return f"{tenant_id} resources {kind} {item_id}"


def items_of(context: Context, resource: Resource) -> Mapping[tuple[str, ...], Item]:
    """Return a resource's items by id, with their secrets, cached for each version of the tenant.

    A change is visible at once in this process and within 5 seconds in others, as for the tenant itself. Raises TypeError for a
    resource that the shared table does not have.
    """
    if not isinstance(resource.backing, InTable):
        raise TypeError(f"{resource.kind} is stored elsewhere")
    key = (context.tenant.tenant_id, context.tenant.version, resource.kind)
    cached: Mapping[tuple[str, ...], Item] | None = context.services.resource_items.get(key)
    if cached is not None:
        return cached
    access = StoreAccess(context.work, context.services.encryption, context.now)
    items = {item.id: item for item in SHARED_TABLE.items(access, resource)}
    context.services.resource_items.put(key, items, context.work, resources)
    return items


ENCRYPTED_COLUMNS = encrypted_columns(
    resources, "sealed", associated_data=lambda row: _associated_data(row["tenant_id"], row["kind"], row["id"])
)
