"""Table and queries of custom object records, always within the tenant, the account and the object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Index, String, delete, func, insert, select, update
from sqlalchemy.engine import Row

from app.identity.platform.context import Context
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.kit import randomness

custom_records = tenant_table(
    "custom_records",
    Column("record_id", Id, primary_key=True),
    Column("uid", Id, nullable=False),
    Column("object_name", String(100), nullable=False),  # as in the tenant's settings.custom_objects
    Column("content", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Index("ix_custom_records_uid", "tenant_id", "uid", "object_name", "created_at"),
)


R = custom_records.c
_COLUMNS = tuple(column for column in custom_records.columns if column.name not in ("tenant_id", "object_name"))


def add(context: Context, uid: str, name: str, content: dict[str, Any]) -> Row[Any]:
    """Add a record and return it."""
    key = {"tenant_id": context.tenant.tenant_id, "record_id": randomness.guid(), "uid": uid, "object_name": name}
    row: dict[str, Any] = {**key, "content": content, "created_at": context.now, "modified_at": context.now}
    added: Row[Any] = context.work.run(insert(custom_records).values(row).returning(*_COLUMNS)).one()
    return added


def count(context: Context, uid: str, name: str) -> int:
    """Return how many records of the object the account has."""
    row = context.work.one(select(func.count()).select_from(custom_records).where(*_of(context, uid, name)))
    return int(row[0]) if row else 0


def of_account(context: Context, uid: str, name: str) -> Sequence[Row[Any]]:
    """Return the account's records of the object, oldest first."""
    ordered = select(*_COLUMNS).where(*_of(context, uid, name)).order_by(R.created_at, R.record_id)
    return context.work.all(ordered)


def all_of_account(context: Context, uid: str) -> Sequence[Row[Any]]:
    """Return the account's records of every object, oldest first."""
    where = (R.tenant_id == context.tenant.tenant_id, R.uid == uid)
    return context.work.all(select(R.object_name, *_COLUMNS).where(*where).order_by(R.created_at, R.record_id))


def named(context: Context, uid: str, name: str, record_id: str) -> Row[Any] | None:
    """Return one record."""
    return context.work.one(select(*_COLUMNS).where(*_of(context, uid, name), R.record_id == record_id))


def change(
    context: Context, uid: str, name: str, record_id: str, content: dict[str, Any] | None = None
) -> Row[Any] | None:
    """Update a record and return it; the row stays locked until the commit."""
    values: dict[str, Any] = {"modified_at": context.now, **({} if content is None else {"content": content})}
    where = (*_of(context, uid, name), R.record_id == record_id)
    return context.work.one(update(custom_records).where(*where).values(**values).returning(*_COLUMNS))


def remove(context: Context, uid: str, name: str, record_id: str) -> bool:
    """Delete a record. Return whether it existed."""
    where = (*_of(context, uid, name), R.record_id == record_id)
    return context.work.changed(delete(custom_records).where(*where)) > 0


def _of(context: Context, uid: str, name: str) -> tuple[Any, ...]:
    return R.tenant_id == context.tenant.tenant_id, R.uid == uid, R.object_name == name
