"""Queries of shared invitations and of the accounts that used them, always within the tenant. A token is stored as its hash."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, insert, or_, select, update
from sqlalchemy.engine import Row

from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.invitations.invitation import (
    ACTIVE,
    EXPIRED,
    INVITED,
    REVOKED,
    USED_UP,
    SharedInvitation,
)
from app.identity.directory.organizations.tables import organization_invitations as table
from app.identity.directory.organizations.tables import organization_link_users as users
from app.identity.platform.context import Context
from app.kit import randomness

T, U = table.c, users.c
_COLUMNS = tuple(T[name] for name in SharedInvitation.__dataclass_fields__)


def by_id(context: Context, invitation_id: str) -> SharedInvitation | None:
    return _one(context, T.invitation_id == invitation_id)


def page(context: Context, org_id: str, limit: int | None, offset: int) -> list[SharedInvitation]:
    """Return the shared invitations of an organization, the oldest first."""
    ordered = select(*_COLUMNS).where(*_of(context, T.org_id == org_id)).order_by(T.created_at, T.invitation_id)
    return [from_row(context, row) for row in context.work.all(ordered.limit(limit).offset(offset))]


def open_of(context: Context, org_ids: Collection[str]) -> list[SharedInvitation]:
    """Return the shared invitations of these organizations that can still be used, the newest first."""
    where = _of(context, T.org_id.in_(org_ids), *_open(context))
    rows = context.work.all(select(*_COLUMNS).where(*where).order_by(T.created_at.desc(), T.invitation_id))
    return [from_row(context, row) for row in rows]


def count(context: Context, org_id: str) -> int:
    row = context.work.one(select(func.count()).select_from(table).where(*_of(context, T.org_id == org_id)))
    return int(row[0]) if row else 0


def count_open(context: Context, org_id: str) -> int:
    """Return how many shared invitations of an organization can still be used."""
    where = _of(context, T.org_id == org_id, *_open(context))
    row = context.work.one(select(func.count()).select_from(table).where(*where))
    return int(row[0]) if row else 0


def add(
    context: Context,
    *,
    org_id: str,
    role_ids: Collection[str],
    inviter_uid: str,
    facts: dict[str, Any],
    ends_at: datetime,
    max_uses: int | None,
) -> tuple[SharedInvitation, str]:
    """Add a shared invitation; return it and its token."""
    token = randomness.token()
    values = {
        "tenant_id": context.tenant.tenant_id,
        "invitation_id": organization_names.mint(organization_names.INVITATION),
        "org_id": org_id,
        "token_hash": randomness.digest(token),
        "role_ids": list(role_ids),
        "inviter_uid": inviter_uid,
        "status": INVITED,
        "facts": facts,
        "created_at": context.now,
        "modified_at": context.now,
        "ends_at": ends_at,
        "uses": 0,
        "max_uses": max_uses,
    }
    row = context.work.run(insert(table).values(values).returning(*_COLUMNS)).one()
    return from_row(context, row), token


def use(context: Context, invitation: SharedInvitation) -> SharedInvitation | None:
    """Count one use; None if another request took the last one or closed it."""
    where = [T.invitation_id == invitation.invitation_id, *_open(context)]
    values = {"uses": T.uses + 1, "modified_at": context.now}
    row = context.work.one(update(table).where(*_of(context, *where)).values(values).returning(*_COLUMNS))
    return from_row(context, row) if row is not None else None


def revoke(context: Context, invitation: SharedInvitation) -> SharedInvitation | None:
    """Close a shared invitation; None if it is no longer open."""
    where = _of(context, T.invitation_id == invitation.invitation_id, *_open(context))
    return next(iter(_revoke(context, *where)), None)


def revoke_of(context: Context, inviter_uids: Collection[str], org_id: str | None = None) -> list[SharedInvitation]:
    """Close the open shared invitations of these inviters, in one organization or in all. Return the closed ones."""
    where = [T.inviter_uid.in_(inviter_uids), *_open(context), *([T.org_id == org_id] if org_id is not None else [])]
    return _revoke(context, *_of(context, *where))


def may_use(context: Context, invitation: SharedInvitation, uid: str) -> bool:
    """Return whether the account has neither joined by it nor left the organization since it was created."""
    where = (U.tenant_id == context.tenant.tenant_id, U.invitation_id == invitation.invitation_id, U.uid == uid)
    return context.work.one(select(U.uid).where(*where)) is None


def record_use(context: Context, invitation: SharedInvitation, uid: str) -> None:
    """Remember that the account joined. The row of the account must be locked."""
    context.work.run(insert(users).values(_use_of(context, invitation, uid)))


def close_to(context: Context, uids: Collection[str], org_ids: Collection[str]) -> None:
    """Let the accounts, which left these organizations, not return by their open shared invitations.

    The rows of the accounts must be locked, or each organization alone.
    """
    invitations = open_of(context, org_ids) if org_ids else []
    if not invitations:
        return
    where = (U.tenant_id == context.tenant.tenant_id, U.uid.in_(uids))
    ids = [invitation.invitation_id for invitation in invitations]
    rows = context.work.all(select(U.invitation_id, U.uid).where(*where, U.invitation_id.in_(ids)))
    known = {(row.invitation_id, row.uid) for row in rows}
    missing = [
        _use_of(context, invitation, uid)
        for invitation in invitations
        for uid in uids
        if (invitation.invitation_id, uid) not in known
    ]
    if missing:
        context.work.run(insert(users), missing)


def _use_of(context: Context, invitation: SharedInvitation, uid: str) -> dict[str, Any]:
    return {
        "tenant_id": context.tenant.tenant_id,
        "invitation_id": invitation.invitation_id,
        "uid": uid,
        "org_id": invitation.org_id,
        "created_at": context.now,
        "expires_at": invitation.ends_at,
    }


def _revoke(context: Context, *where: ColumnElement[bool]) -> list[SharedInvitation]:
    values = {"status": REVOKED, "modified_at": context.now}
    rows = context.work.all(update(table).where(*where).values(values).returning(*_COLUMNS))
    return [from_row(context, row) for row in rows]


def from_row(context: Context, row: Row[Any]) -> SharedInvitation:
    """Return the shared invitation in a row that has its columns."""
    named = {name: row._mapping[name] for name in SharedInvitation.__dataclass_fields__}
    values = {**named, "role_ids": tuple(row.role_ids), "facts": dict(row.facts), "uses": row.uses or 0}
    return SharedInvitation(**{**values, "status": _status(context, row)})


def _status(context: Context, row: Row[Any]) -> str:
    if row.status != INVITED:
        return str(row.status)
    if row.ends_at <= context.now:
        return EXPIRED
    return USED_UP if row.max_uses is not None and (row.uses or 0) >= row.max_uses else ACTIVE


def _one(context: Context, *where: ColumnElement[bool]) -> SharedInvitation | None:
    row = context.work.one(select(*_COLUMNS).where(*_of(context, *where)))
    return from_row(context, row) if row is not None else None


def _open(context: Context) -> tuple[ColumnElement[bool], ...]:
    return T.status == INVITED, T.ends_at > context.now, or_(T.max_uses.is_(None), T.uses < T.max_uses)


def _of(context: Context, *where: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
    return (T.tenant_id == context.tenant.tenant_id, T.email.is_(None), *where)
