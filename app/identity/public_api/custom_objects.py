"""The operations of custom objects. Each finds the object first, so that a disabled or unknown object is the first error."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Row

from app.contract import errors as e
from app.contract.custom_objects import operations as contract
from app.contract.shared_parameters import Uid
from app.contract.shared_responses import Deleted
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.custom_objects import service as custom_objects
from app.identity.platform.context import Context
from app.kit.clock import iso


@contract.add.implements
def add(context: Context, req: contract.CreateOwnRecord) -> contract.Record:
    try:
        return _add(context, req)
    except e.UnknownUid:  # the account was deleted concurrently
        raise e.NotAuthenticated from None


@contract.managed_add.implements
def managed_add(context: Context, req: contract.CreateCustomRecord) -> contract.Record:
    return _add(context, req)


def _add(context: Context, req: contract.CreateOwnRecord | contract.CreateCustomRecord) -> contract.Record:
    account, kind = _account(context, req), custom_objects.find_object(context, req)
    return _view(
        custom_objects.add(context, account, kind, _content(context, req), suppress_webhook=req.suppress_webhook)
    )


def read_all(context: Context, req: contract.ListOwnRecords | contract.ListCustomRecords) -> contract.Records:
    rows = custom_objects.read_all(context, _account(context, req), custom_objects.find_object(context, req))
    return contract.Records(data=[_view(row) for row in rows], count=len(rows))


contract.read_all.implements(read_all)
contract.managed_read_all.implements(read_all)


def read(context: Context, req: contract.ReadOwnRecord | contract.ReadCustomRecord) -> contract.Record:
    return _view(
        custom_objects.read(
            context, _account(context, req), custom_objects.find_object(context, req), req.object_record_id
        )
    )


contract.read.implements(read)
contract.managed_read.implements(read)


def change(context: Context, req: contract.UpdateOwnRecord | contract.UpdateCustomRecord) -> contract.Record:
    account, kind, content = _account(context, req), custom_objects.find_object(context, req), _content(context, req)
    changed = custom_objects.change(
        context,
        account,
        kind,
        req.object_record_id,
        content,
        how=req.update_type,
        suppress_webhook=req.suppress_webhook,
    )
    return _view(changed)


contract.change.implements(change)
contract.managed_change.implements(change)


def remove(context: Context, req: contract.DeleteOwnRecord | contract.DeleteCustomRecord) -> Deleted:
    account, kind = _account(context, req), custom_objects.find_object(context, req)
    custom_objects.remove(context, account, kind, req.object_record_id, suppress_webhook=req.suppress_webhook)
    return Deleted()


contract.remove.implements(remove)
contract.managed_remove.implements(remove)


def _account(context: Context, req: contract.NamedObject) -> Account:
    """Return the account by id for a server of the tenant, otherwise by access token."""
    return accounts.require(context, req.uid) if isinstance(req, Uid) else accounts.current(context)


def _content(context: Context, req: contract.RecordContent) -> dict[str, Any]:
    """Return the record without the access token, if the body contained it."""
    if isinstance(req, Uid) or context.raw.header_token() or context.raw.first("access_token"):
        return req.record
    return {name: value for name, value in req.record.items() if name.lower() != "access_token"}


def _view(row: Row[Any]) -> contract.Record:
    return contract.Record(
        id=row.record_id,
        uid=row.uid,
        date_created=iso(row.created_at) or "",
        date_modified=iso(row.modified_at) or "",
        custom_object=row.content,
    )
