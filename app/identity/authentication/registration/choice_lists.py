"""Lists of choices in a registration form, such as schools by town; a choice may require a code."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, Column, Index, LargeBinary, String, delete, insert, select, update
from sqlalchemy.engine import Row

from app.contract import errors
from app.contract.registration import registration_choice_operations
from app.identity.platform.context import Context
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.identity.platform.store.tables import Id, Instant, tenant_table
from app.kit import randomness
from app.kit.clock import iso

registration_data = tenant_table(
    "registration_data",
    Column("record_id", Id, primary_key=True),
    Column("type", String(100), nullable=False),  # in lower case
    Column("key", String(200), nullable=False),
    Column("value", String(1000), nullable=False),
    Column("parent_id", Id),
    Column("code", LargeBinary),  # encrypted
    Column("is_active", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Index("ix_registration_data_type", "tenant_id", "type", "created_at"),
)

R = registration_data.c
_COLUMNS = tuple(column for column in registration_data.columns if column.name != "tenant_id")
_MAX_LENGTHS = {"type": 100, "key": 200, "value": 1000, "code": 1000}


def list_records(
    context: Context, request: registration_choice_operations.ListRecords, *, is_managed: bool
) -> list[registration_choice_operations.RecordView]:
    """Return choices of a list, the oldest first; to the public only active ones, without their codes.

    Raises WrongRecordType, NoRecords, NoChildRecords.
    """
    kind = _type(request.type)
    where = [R.tenant_id == context.tenant.tenant_id, R.type == kind]
    where += [] if is_managed else [R.is_active]
    where += [R.parent_id == request.parent_id] if request.parent_id else []
    ordered = select(*_COLUMNS).where(*where).order_by(R.created_at, R.record_id)
    rows = context.work.all(ordered.offset(request.skip).limit(request.limit))
    if not rows and not request.skip:
        raise errors.NoChildRecords if request.parent_id else errors.NoRecords
    parents = _types(context, [row.parent_id for row in rows if row.parent_id])
    return [_view(context, row, parents, is_managed=is_managed) for row in rows]


def check_code(context: Context, record_id: str, code: str | None) -> None:
    """Check the code of a choice; raises UnknownRecord, RecordWithoutCode, RecordCodeMissing, WrongRecordCode."""
    row = _require_active(context, record_id)
    if row.code is None:
        raise errors.RecordWithoutCode
    _check_code(context, row, code)


def refuse_link(context: Context, record_id: str, *, source: str, code: str, needs_code: bool) -> None:
    """Check a profile's link to a choice; raises UnknownRecord, MalformedRecord, RecordCodeMissing, WrongRecordCode."""
    row = _require_active(context, record_id)
    if source.strip().lower() != row.type:
        raise errors.MalformedRecord
    if row.code is not None and needs_code:
        _check_code(context, row, code)


def _require_active(context: Context, record_id: str) -> Row[Any]:
    row = _require(context, record_id[:100])
    if not row.is_active:
        raise errors.UnknownRecord
    return row


def _check_code(context: Context, row: Row[Any], code: str | None) -> None:
    """Compare a code; tries are limited by address."""
    if not code:
        raise errors.RecordCodeMissing
    context.count_request("record_code", context.tenant.settings.limits.availability_per_minute_per_address)
    if not hmac.compare_digest(_decrypt_code(context, row), code.encode()):
        raise errors.WrongRecordCode


def add(context: Context, records: Sequence[registration_choice_operations.NewRecord]) -> None:
    """Add choices, all or none. Raises MalformedRecord, WrongRecordType, UnknownParentRecord."""
    rows = [_columns(context, record) for record in records]
    for parent in {row["parent_id"] for row in rows if row["parent_id"]}:
        _refuse_parent(context, parent)
    context.work.run(insert(registration_data), rows)


def change(
    context: Context, req: registration_choice_operations.UpdateRecord
) -> registration_choice_operations.RecordView:
    """Update a choice. Raises UnknownRecord, MalformedRecord, WrongRecordType, UnknownParentRecord."""
    members = {name: value for name in _MAX_LENGTHS if (value := getattr(req, name)) is not None}
    _refuse_malformed(members)
    values: dict[str, Any] = {name: members[name] for name in ("key", "value") if name in members}
    if "type" in members:
        values["type"] = _type(members["type"])
    if req.parent_id:
        _refuse_parent(context, req.parent_id, own_id=req.record_id)
        values["parent_id"] = req.parent_id
    if "code" in members:
        values["code"] = _encrypt_code(context, req.record_id, members["code"])
    if req.is_active is not None:
        values["is_active"] = req.is_active
    where = (R.tenant_id == context.tenant.tenant_id, R.record_id == req.record_id)
    changed = update(registration_data).where(*where).values(modified_at=context.now, **values).returning(*_COLUMNS)
    row = context.work.one(changed)
    if row is None:
        raise errors.UnknownRecord
    return _view(context, row, _types(context, [row.parent_id] if row.parent_id else []), is_managed=True)


def remove(context: Context, record_id: str) -> None:
    """Remove a choice. Raises UnknownRecord."""
    where = (R.tenant_id == context.tenant.tenant_id, R.record_id == record_id)
    if not context.work.changed(delete(registration_data).where(*where)):
        raise errors.UnknownRecord


def remove_type(context: Context, kind: str) -> None:
    """Remove a list. Raises NoRecords."""
    where = (R.tenant_id == context.tenant.tenant_id, R.type == kind.strip().lower())
    if not context.work.changed(delete(registration_data).where(*where)):
        raise errors.NoRecords


def _columns(context: Context, record: registration_choice_operations.NewRecord) -> dict[str, Any]:
    members = {name: value for name in _MAX_LENGTHS if (value := getattr(record, name)) is not None}
    if not {"type", "key", "value"} <= set(members):
        raise errors.MalformedRecord
    _refuse_malformed(members)
    record_id = randomness.uid()
    return {
        "tenant_id": context.tenant.tenant_id,
        "record_id": record_id,
        "type": _type(members["type"]),
        "key": members["key"],
        "value": members["value"],
        "parent_id": record.parent_id or None,
        "code": _encrypt_code(context, record_id, members.get("code")),
        "is_active": record.is_active,
        "created_at": context.now,
        "modified_at": context.now,
    }


def _refuse_malformed(members: dict[str, str]) -> None:
    too_long = any(len(text) > _MAX_LENGTHS[name] for name, text in members.items())
    if too_long or any(not members[name].strip() for name in ("key", "value") if name in members):
        raise errors.MalformedRecord


def _type(text: str) -> str:
    kind = text.strip().lower()
    if (
        not kind
        or len(kind) > _MAX_LENGTHS["type"]
        or not all(character.isalnum() or character in "_-. " for character in kind)
    ):
        raise errors.WrongRecordType
    return kind


def _refuse_parent(context: Context, parent: str, own_id: str = "") -> None:
    if parent == own_id or parent not in _types(context, [parent]):
        raise errors.UnknownParentRecord


def _types(context: Context, ids: Sequence[str]) -> dict[str, str]:
    """Return the list of each record, by the record's id."""
    if not ids:
        return {}
    where = (R.tenant_id == context.tenant.tenant_id, R.record_id.in_(sorted(set(ids))))
    return {row.record_id: row.type for row in context.work.all(select(R.record_id, R.type).where(*where))}


def _require(context: Context, record_id: str) -> Row[Any]:
    where = (R.tenant_id == context.tenant.tenant_id, R.record_id == record_id)
    row = context.work.one(select(*_COLUMNS).where(*where))
    if row is None:
        raise errors.UnknownRecord
    return row


def _encrypt_code(context: Context, record_id: str, code: str | None) -> bytes | None:
    return (
        context.services.encryption.encrypt(code.encode(), _associated_data(context.tenant.tenant_id, record_id))
        if code
        else None
    )


def _decrypt_code(context: Context, row: Row[Any]) -> bytes:
    return context.services.encryption.decrypt(row.code, _associated_data(context.tenant.tenant_id, row.record_id))


def _associated_data(tenant_id: str, record_id: str) -> str:
    return f"{tenant_id} registration data {record_id}"


def _view(
    context: Context, row: Row[Any], parents: dict[str, str], *, is_managed: bool
) -> registration_choice_operations.RecordView:
    code = _decrypt_code(context, row).decode() if is_managed and row.code else None
    return registration_choice_operations.RecordView(
        id=row.record_id,
        code=code,
        type=row.type,
        key=row.key,
        value=row.value,
        parent_id=row.parent_id,
        parent_type=parents.get(row.parent_id or ""),
        is_active=row.is_active,
        date_created=iso(row.created_at) or "",
        date_modified=iso(row.modified_at) or "",
    )


ENCRYPTED_COLUMNS = encrypted_columns(
    registration_data, "code", associated_data=lambda row: _associated_data(row["tenant_id"], row["record_id"])
)
