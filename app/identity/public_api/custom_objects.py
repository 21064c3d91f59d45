"""The operations of custom objects. Each finds the object first, so that a disabled or unknown object is the first error."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Row

from app.contract import errors
from app.contract.custom_objects import custom_object_operations
from app.contract.shared_parameters import Uid
from app.contract.shared_responses import Deleted
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.custom_objects import custom_objects
from app.identity.platform.context import Context
from app.kit.clock import iso


@custom_object_operations.add.implements
def add(context: Context, req: custom_object_operations.CreateOwnRecord) -> custom_object_operations.Record:
    try:
        return _add(context, req)
    except errors.UnknownUid:  # the account was deleted concurrently
        raise errors.NotAuthenticated from None


@custom_object_operations.managed_add.implements
def managed_add(context: Context, req: custom_object_operations.CreateCustomRecord) -> custom_object_operations.Record:
    return _add(context, req)


def _add(
    context: Context, req: custom_object_operations.CreateOwnRecord | custom_object_operations.CreateCustomRecord
) -> custom_object_operations.Record:
    account, kind = _account(context, req), custom_objects.find_object(context, req)
    return _view(custom_objects.add(context, account, kind, _content(context, req)))


def read_all(
    context: Context, req: custom_object_operations.ListOwnRecords | custom_object_operations.ListCustomRecords
) -> custom_object_operations.Records:
    rows = custom_objects.read_all(context, _account(context, req), custom_objects.find_object(context, req))
    return custom_object_operations.Records(data=[_view(row) for row in rows], count=len(rows))


custom_object_operations.read_all.implements(read_all)
custom_object_operations.managed_read_all.implements(read_all)


def read(
    context: Context, req: custom_object_operations.ReadOwnRecord | custom_object_operations.ReadCustomRecord
) -> custom_object_operations.Record:
    return _view(
        custom_objects.read(
            context, _account(context, req), custom_objects.find_object(context, req), req.object_record_id
        )
    )


custom_object_operations.read.implements(read)
custom_object_operations.managed_read.implements(read)


def change(
    context: Context, req: custom_object_operations.UpdateOwnRecord | custom_object_operations.UpdateCustomRecord
) -> custom_object_operations.Record:
    account, kind, content = _account(context, req), custom_objects.find_object(context, req), _content(context, req)
    changed = custom_objects.change(
        context,
        account,
        kind,
        req.object_record_id,
        content,
        how=req.update_type,
    )
    return _view(changed)


custom_object_operations.change.implements(change)
custom_object_operations.managed_change.implements(change)


def remove(
    context: Context, req: custom_object_operations.DeleteOwnRecord | custom_object_operations.DeleteCustomRecord
) -> Deleted:
    account, kind = _account(context, req), custom_objects.find_object(context, req)
    custom_objects.remove(context, account, kind, req.object_record_id)
    return Deleted()


custom_object_operations.remove.implements(remove)
custom_object_operations.managed_remove.implements(remove)


def _account(context: Context, req: custom_object_operations.NamedObject) -> Account:
    """Return the account by id for a server of the tenant, otherwise by access token."""
    return accounts.require(context, req.uid) if isinstance(req, Uid) else accounts.current(context)


def _content(context: Context, req: custom_object_operations.RecordContent) -> dict[str, Any]:
    """Return the record without the access token, if the body contained it."""
    if isinstance(req, Uid) or context.raw.header_token() or context.raw.first("access_token"):
        return req.record
    return {name: value for name, value in req.record.items() if name.lower() != "access_token"}


def _view(row: Row[Any]) -> custom_object_operations.Record:
    return custom_object_operations.Record(
        id=row.record_id,
        uid=row.uid,
        date_created=iso(row.created_at) or "",
        date_modified=iso(row.modified_at) or "",
        custom_object=row.content,
    )
