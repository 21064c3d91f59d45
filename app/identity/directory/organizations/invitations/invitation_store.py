"""Queries of invitations by email, always within the tenant. The secret token of a link is stored as its hash.

Shared invitations are in the same table, without an email address: `shared_invitation_store`. Both are found here by token.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, func, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.invitations import shared_invitation_store
from app.identity.directory.organizations.invitations.invitation import (
    EXPIRED,
    INVITED,
    LIFETIME,
    REVOKED,
    AnyInvitation,
    EmailInvitation,
)
from app.identity.directory.organizations.tables import organization_invitations as table
from app.identity.platform.context import Context
from app.kit import randomness

T = table.c
_COLUMNS = tuple(T[name] for name in EmailInvitation.__dataclass_fields__)


def by_id(context: Context, invitation_id: str) -> EmailInvitation | None:
    return _one(context, T.invitation_id == invitation_id)


def by_token_hash(context: Context, token_hash: str) -> AnyInvitation | None:
    """Return the invitation of either kind with this token, whatever its status."""
    return _any(context, context.work.one(_whole(context, T.token_hash == token_hash)))


def locked(context: Context, invitation_id: str, token_hash: str | None = None) -> AnyInvitation | None:
    """Return the invitation of either kind as committed last, locked.

    None if it is gone, or if `token_hash` is no longer that of its token.
    """
    where = [T.invitation_id == invitation_id]
    where += [T.token_hash == token_hash] if token_hash is not None else []
    return _any(context, context.work.one(_whole(context, *where).with_for_update()))


def page(context: Context, org_id: str, limit: int | None, offset: int) -> list[EmailInvitation]:
    """Return invitations to an organization, the oldest first."""
    ordered = select(*_COLUMNS).where(*_of(context, T.org_id == org_id)).order_by(T.created_at, T.invitation_id)
    return [_invitation(context, row) for row in context.work.all(ordered.limit(limit).offset(offset))]


def count(context: Context, org_id: str) -> int:
    row = context.work.one(select(func.count()).select_from(table).where(*_of(context, T.org_id == org_id)))
    return int(row[0]) if row else 0


def count_open(context: Context, org_id: str) -> int:
    """Return how many invitations to an organization can still be accepted."""
    where = _of(context, T.org_id == org_id, *_open(context))
    row = context.work.one(select(func.count()).select_from(table).where(*where))
    return int(row[0]) if row else 0


def invited_among(context: Context, org_id: str, email_keys: Collection[str]) -> set[str]:
    """Return those of the normalized addresses whose invitation to an organization can still be accepted."""
    where = _of(context, T.org_id == org_id, T.open_email.in_(email_keys), *_open(context))
    return {row.open_email for row in context.work.all(select(T.open_email).where(*where))} if email_keys else set()


def end_expired(context: Context, org_id: str, email_keys: Collection[str]) -> None:
    """Let new invitations follow expired ones to the same normalized addresses."""
    where = _of(context, T.org_id == org_id, T.open_email.in_(email_keys), T.ends_at <= context.now)
    context.work.run(update(table).where(*where).values(status=EXPIRED, open_email=None))


def open_page(context: Context, org_id: str, search: str, limit: int, offset: int) -> list[EmailInvitation]:
    """Return the invitations to an organization that can still be accepted, the newest first; `search` is a part of the address."""
    where = [T.org_id == org_id, *_open(context), *([T.email.icontains(search, autoescape=True)] if search else [])]
    ordered = select(*_COLUMNS).where(*_of(context, *where))
    ordered = ordered.order_by(T.created_at.desc(), T.invitation_id)
    return [_invitation(context, row) for row in context.work.all(ordered.limit(limit).offset(offset))]


def open_to(context: Context, email_keys: Collection[str], limit: int) -> list[EmailInvitation]:
    """Return the invitations to these normalized addresses that can still be accepted, the newest first."""
    ordered = select(*_COLUMNS).where(*_of(context, T.email_key.in_(email_keys), *_open(context)))
    ordered = ordered.order_by(T.created_at.desc(), T.invitation_id)
    return [_invitation(context, row) for row in context.work.all(ordered.limit(limit))]


def add(
    context: Context,
    *,
    org_id: str,
    email: str,
    email_key: str,
    role_ids: Collection[str],
    inviter_uid: str,
    facts: dict[str, Any],
) -> tuple[EmailInvitation, str]:
    """Add an invitation; return it and the token of its link. Raises InvitationExists while another one holds the address."""
    token = randomness.token()
    values = {
        "tenant_id": context.tenant.tenant_id,
        "invitation_id": organization_names.mint(organization_names.INVITATION),
        "org_id": org_id,
        "token_hash": randomness.digest(token),
        "email": email,
        "email_key": email_key,
        "open_email": email_key,
        "role_ids": list(role_ids),
        "inviter_uid": inviter_uid,
        "status": INVITED,
        "facts": facts,
        "created_at": context.now,
        "modified_at": context.now,
        "ends_at": context.now + LIFETIME,
        "resent_at": context.now,
    }
    try:
        row = context.work.run(insert(table).values(values).returning(*_COLUMNS)).one()
    except IntegrityError:
        raise errors.InvitationExists from None
    return _invitation(context, row), token


def change(context: Context, invitation: EmailInvitation, **values: Any) -> EmailInvitation | None:
    """Update columns of an open invitation; None if it is no longer open."""
    statement = update(table).where(*_of(context, T.invitation_id == invitation.invitation_id, *_open(context)))
    row = context.work.one(statement.values(modified_at=context.now, **values).returning(*_COLUMNS))
    return _invitation(context, row) if row is not None else None


def renew_token(context: Context, invitation: EmailInvitation, **values: Any) -> tuple[EmailInvitation, str] | None:
    """Replace the token, which ends the earlier link, and begin a new lifetime; None if the invitation is no longer open."""
    token = randomness.token()
    values = {
        **values,
        "token_hash": randomness.digest(token),
        "ends_at": context.now + LIFETIME,
        "resent_at": context.now,
    }
    renewed = change(context, invitation, **values)
    return (renewed, token) if renewed is not None else None


def close(context: Context, invitation: EmailInvitation, status: str, **facts: Any) -> EmailInvitation | None:
    """Accept or revoke an open invitation; None if another request closed it first."""
    return change(context, invitation, status=status, open_email=None, facts={**invitation.facts, **facts})


def revoke_of_member(
    context: Context, email_keys: Collection[str], inviter_uids: Collection[str], org_id: str | None = None
) -> list[EmailInvitation]:
    """Revoke the open invitations to these normalized addresses or from these inviters, in one organization or in all.

    Return the revoked ones.
    """
    where = [
        T.email_key.in_(email_keys) | T.inviter_uid.in_(inviter_uids),
        *_open(context),
        *([T.org_id == org_id] if org_id is not None else []),
    ]
    values = {"status": REVOKED, "open_email": None, "modified_at": context.now}
    rows = context.work.all(update(table).where(*_of(context, *where)).values(values).returning(*_COLUMNS))
    return [_invitation(context, row) for row in rows]


def _invitation(context: Context, row: Row[Any]) -> EmailInvitation:
    values = {name: row._mapping[name] for name in EmailInvitation.__dataclass_fields__}
    if values["status"] == INVITED and values["ends_at"] <= context.now:
        values["status"] = EXPIRED
    return EmailInvitation(**{**values, "role_ids": tuple(values["role_ids"]), "facts": dict(values["facts"])})


def _any(context: Context, row: Row[Any] | None) -> AnyInvitation | None:
    if row is None:
        return None
    return _invitation(context, row) if row.email is not None else shared_invitation_store.from_row(context, row)


def _whole(context: Context, *where: ColumnElement[bool]) -> Select[Any]:
    """Select every column: the two kinds have different ones."""
    return select(table).where(T.tenant_id == context.tenant.tenant_id, *where)


def _one(context: Context, *where: ColumnElement[bool]) -> EmailInvitation | None:
    row = context.work.one(select(*_COLUMNS).where(*_of(context, *where)))
    return _invitation(context, row) if row is not None else None


def _open(context: Context) -> tuple[ColumnElement[bool], ...]:
    return T.status == INVITED, T.ends_at > context.now


def _of(context: Context, *where: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
    return (T.tenant_id == context.tenant.tenant_id, T.email.is_not(None), *where)
