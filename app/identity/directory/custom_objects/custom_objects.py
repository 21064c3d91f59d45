"""Rules of custom objects, both for account holders with a token and for the tenant's servers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Row

from app.contract import errors
from app.contract.custom_objects.custom_object_operations import NamedObject, Update
from app.contract.custom_objects.settings import CustomObject
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.custom_objects import custom_object_store
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit.text.json_schema import problem_of

_RECORD_ID = re.compile(r"[0-9a-f-]{24,36}\Z")
"""A GUID; older clients use 24 characters."""


def find_object(context: Context, named: NamedObject) -> CustomObject:
    """Return the object that a request names.

    Raises:
        CustomObjectsOff: the tenant has no custom objects.
        ObjectNameMissing: neither name nor id is given.
        UnknownObjectName, WrongObjectId: unknown name or id, or they belong to different objects.
    """
    objects = context.tenant.settings.custom_objects
    if not objects:
        raise errors.CustomObjectsOff
    name, object_id = named.object_name, named.custom_object_id
    if not (name or object_id):
        raise errors.ObjectNameMissing
    if name and not any(item.name == name for item in objects):
        raise errors.UnknownObjectName
    found = next((item for item in objects if name in (None, item.name) and object_id in (None, item.id)), None)
    if found is None:
        raise errors.WrongObjectId
    return found


def add(context: Context, account: Account, kind: CustomObject, content: dict[str, Any]) -> Row[Any]:
    """Add a record to the account. Raises MalformedObject, ObjectFull, UnknownUid."""
    _refuse_content(kind, content)
    if not account_store.lock_unread(context, account.uid):  # the lock enforces the limit under concurrency
        raise errors.UnknownUid
    if custom_object_store.count(context, account.uid, kind.name) >= kind.max_records_per_account:
        raise errors.ObjectFull
    row = custom_object_store.add(context, account.uid, kind.name, content)
    events.emit(context, "CreateCustomObject", account)
    return row


def read_all(context: Context, account: Account, kind: CustomObject) -> Sequence[Row[Any]]:
    """Return the account's records, oldest first. Raises NoSuchObject if there is none."""
    rows = custom_object_store.of_account(context, account.uid, kind.name)
    if not rows:
        raise errors.NoSuchObject
    return rows


def read(context: Context, account: Account, kind: CustomObject, record_id: str) -> Row[Any]:
    """Return one record. Raises MalformedRecordId, NoSuchObject."""
    return _found(
        custom_object_store.named(context, account.uid, kind.name, _record_id(record_id, errors.MalformedRecordId))
    )


def change(
    context: Context,
    account: Account,
    kind: CustomObject,
    record_id: str,
    content: dict[str, Any],
    *,
    how: Update,
) -> Row[Any]:
    """Change a record; concurrent partial updates of different members are all kept.

    Raises WrongObjectId, NoSuchObject, MalformedObject.
    """
    valid_id = _record_id(record_id)
    if how == "partialreplace":
        current = _found(custom_object_store.change(context, account.uid, kind.name, valid_id))
        content = {**current.content, **content}
    _refuse_content(kind, content)
    row = _found(custom_object_store.change(context, account.uid, kind.name, valid_id, content))
    events.emit(context, "UpdateCustomObject", account)
    return row


def remove(context: Context, account: Account, kind: CustomObject, record_id: str) -> None:
    """Delete a record. Raises WrongObjectId, NoSuchObject."""
    if not custom_object_store.remove(context, account.uid, kind.name, _record_id(record_id)):
        raise errors.NoSuchObject
    events.emit(context, "DeleteCustomObject", account)


def _found(row: Row[Any] | None) -> Row[Any]:
    if row is None:
        raise errors.NoSuchObject
    return row


def _record_id(text: str, refusal: type[errors.WrongObjectId | errors.MalformedRecordId] = errors.WrongObjectId) -> str:
    record_id = text.lower()
    if not _RECORD_ID.match(record_id):
        raise refusal
    return record_id


def _refuse_content(kind: CustomObject, content: dict[str, Any]) -> None:
    """Raise MalformedObject for a record that is too large, contains a non-finite number or does not fit the schema."""
    if not _is_finite(content):
        raise errors.MalformedObject("A number is too large.")
    if len(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()) > kind.max_record_bytes:
        raise errors.MalformedObject(f"The record is larger than {kind.max_record_bytes} bytes.")
    if kind.record_schema is not None and (problem := problem_of(kind.record_schema, content)):
        raise errors.MalformedObject(f"The record doesn't fit the schema: {problem}.")


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list) or all(map(_is_finite, value))
