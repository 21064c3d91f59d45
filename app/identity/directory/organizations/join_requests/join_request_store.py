"""Queries of requests to join an organization, always within the tenant."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, insert, select, update
from sqlalchemy.engine import Row

from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import name_in
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.join_requests.join_request import (
    OPEN,
    JoinRequestRecord,
    ListedRequest,
)
from app.identity.directory.organizations.tables import organization_join_requests as table
from app.identity.directory.organizations.tables import organization_user_roles
from app.identity.platform.context import Context

T, M = table.c, organization_user_roles.c
_COLUMNS = tuple(T[name] for name in JoinRequestRecord.__dataclass_fields__)


def by_id(context: Context, org_id: str, request_id: str) -> JoinRequestRecord | None:
    """Return the request of this organization."""
    return _one(context, T.org_id == org_id, T.join_request_id == request_id)


def of_account(context: Context, uid: str, org_ids: Collection[str]) -> dict[str, JoinRequestRecord]:
    """Return the account's requests by organization."""
    rows = context.work.all(select(*_COLUMNS).where(*_of(context, T.uid == uid, T.org_id.in_(org_ids))))
    return {row.org_id: _request(row) for row in rows}


def page(
    context: Context, org_id: str, window: tuple[int | None, int], status: str | None = None
) -> list[ListedRequest]:
    """Return requests, the oldest first. Open ones of accounts that have become members meanwhile are left out."""
    is_member = exists().where(M.tenant_id == context.tenant.tenant_id, M.org_id == T.org_id, M.uid == T.uid)
    where = [T.org_id == org_id, (T.status != OPEN) | ~is_member, *([T.status == status] if status else [])]
    chosen = account_store.with_identifiers(select(*_COLUMNS), context.tenant.tenant_id, T.uid, "").where(
        *_of(context, *where)
    )
    limit, offset = window
    rows = context.work.all(
        account_store.with_names(chosen).order_by(T.created_at, T.join_request_id).limit(limit).offset(offset)
    )
    return [
        ListedRequest(_request(row), name_in({**row._mapping}) or "", row.email or row.username or row.phone or row.uid)
        for row in rows
    ]


def open_(context: Context, uid: str, org_id: str, domain: str) -> JoinRequestRecord:
    """Open the account's request, or reopen a decided one. The caller has locked the account."""
    values = {"domain": domain, "status": OPEN, "created_at": context.now, "decided_at": None, "decided_by": None}
    where = _of(context, T.uid == uid, T.org_id == org_id)
    row = context.work.one(update(table).where(*where).values(values).returning(*_COLUMNS))
    if row is None:
        key = {
            "tenant_id": context.tenant.tenant_id,
            "join_request_id": organization_names.mint(organization_names.JOIN_REQUEST),
        }
        added = insert(table).values({**key, "uid": uid, "org_id": org_id, **values})
        row = context.work.run(added.returning(*_COLUMNS)).one()
    return _request(row)


def close(context: Context, request: JoinRequestRecord, status: str, by: str | None) -> JoinRequestRecord | None:
    """Decide an open request and return it; None if it is no longer open."""
    where = _of(context, T.join_request_id == request.join_request_id, T.status == OPEN)
    values = {"status": status, "decided_at": context.now, "decided_by": by}
    row = context.work.one(update(table).where(*where).values(values).returning(*_COLUMNS))
    return _request(row) if row is not None else None


def delete_open(context: Context, uids: Collection[str], org_ids: Collection[str]) -> None:
    """Delete the accounts' open requests to these organizations."""
    context.work.run(delete(table).where(*_of(context, T.uid.in_(uids), T.org_id.in_(org_ids), T.status == OPEN)))


def _one(context: Context, *where: ColumnElement[bool]) -> JoinRequestRecord | None:
    row = context.work.one(select(*_COLUMNS).where(*_of(context, *where)))
    return _request(row) if row is not None else None


def _request(row: Row[Any]) -> JoinRequestRecord:
    return JoinRequestRecord(*row[: len(_COLUMNS)])


def _of(context: Context, *where: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
    return (T.tenant_id == context.tenant.tenant_id, *where)
