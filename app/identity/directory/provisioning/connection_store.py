"""Queries of SCIM connections and their tokens, always within the tenant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, insert, or_, select, update
from sqlalchemy.sql import Executable

from app.identity.directory.provisioning.tables import OF_ORGANIZATION, scim_connections, scim_requests, scim_tokens
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness

TENANT: Final = ""
"""The `org_id` of a connection of the whole tenant."""
TOKEN_PREFIX: Final = "scim_"
_USE_IS_WRITTEN_EVERY: Final = timedelta(minutes=1)
C, K = scim_connections.c, scim_tokens.c


@dataclass(frozen=True)
class ScimConnectionRecord:
    """What an identity provider is connected to: an organization, or the whole tenant."""

    connection_id: str
    org_id: str
    name: str
    is_paused: bool
    is_dry_run: bool
    created_at: datetime
    modified_at: datetime


@dataclass(frozen=True)
class ScimTokenRecord:
    """A bearer token of a connection, without its text."""

    token_id: str
    connection_id: str
    scopes: Sequence[str]
    created_at: datetime
    used_at: datetime | None
    expires_at: datetime | None


_CONNECTION = tuple(C[name] for name in ScimConnectionRecord.__dataclass_fields__)
_TOKEN = tuple(K[name] for name in ScimTokenRecord.__dataclass_fields__)


def page(context: Context, org_id: str | None, limit: int | None, offset: int) -> list[ScimConnectionRecord]:
    """Return connections, the oldest first: all, or those of an organization."""
    where = [C.tenant_id == context.tenant.tenant_id, *([C.org_id == org_id] if org_id is not None else [])]
    ordered = select(*_CONNECTION).where(*where).order_by(C.created_at, C.connection_id).limit(limit).offset(offset)
    return [ScimConnectionRecord(**row._mapping) for row in context.work.all(ordered)]


def count(context: Context, org_id: str) -> int:
    """Return how many connections an organization, or the tenant itself, has."""
    where = (C.tenant_id == context.tenant.tenant_id, C.org_id == org_id)
    row = context.work.one(select(func.count()).select_from(scim_connections).where(*where))
    return int(row[0]) if row else 0


def by_id(context: Context, connection_id: str, *, is_locked: bool = False) -> ScimConnectionRecord | None:
    """Return a connection; `is_locked`: against changes until the commit."""
    statement = select(*_CONNECTION).where(*_one(context, connection_id))
    if is_locked:
        context.work.begin()
        statement = statement.with_for_update()
    row = context.work.one(statement)
    return ScimConnectionRecord(**row._mapping) if row is not None else None


def add(context: Context, org_id: str, name: str, *, is_dry_run: bool) -> ScimConnectionRecord:
    """Add a connection."""
    stored = ScimConnectionRecord(randomness.uid(), org_id, name, False, is_dry_run, context.now, context.now)
    context.work.run(insert(scim_connections).values(tenant_id=context.tenant.tenant_id, **vars(stored)))
    return stored


def change(context: Context, connection_id: str, **values: Any) -> ScimConnectionRecord | None:
    """Change a connection; None if it is gone."""
    changed = update(scim_connections).where(*_one(context, connection_id)).values(**values, modified_at=context.now)
    row = context.work.one(changed.returning(*_CONNECTION))
    return ScimConnectionRecord(**row._mapping) if row is not None else None


def remove(context: Context, connection_id: str) -> bool:
    """Delete a connection with its tokens and its log. Return whether it existed."""
    for table in (scim_tokens, scim_requests):
        where = (table.c.tenant_id == context.tenant.tenant_id, table.c.connection_id == connection_id)
        context.work.run(delete(table).where(*where))
    return context.work.changed(delete(scim_connections).where(*_one(context, connection_id))) > 0


def remove_of_organization(context: Context, org_id: str) -> None:
    """Delete everything of an organization that is deleted."""
    for table in OF_ORGANIZATION:
        where = (table.c.tenant_id == context.tenant.tenant_id, table.c.org_id == org_id)
        context.work.run(delete(table).where(*where))


def add_token(
    context: Context, connection: ScimConnectionRecord, scopes: Sequence[str], expires_at: datetime | None
) -> tuple[ScimTokenRecord, str]:
    """Add a token; return it and its text, of which the store has a digest alone."""
    text = TOKEN_PREFIX + randomness.token()
    token = ScimTokenRecord(randomness.uid(), connection.connection_id, list(scopes), context.now, None, expires_at)
    context.work.run(
        insert(scim_tokens).values(
            tenant_id=context.tenant.tenant_id,
            org_id=connection.org_id,
            token_hash=randomness.digest(text),
            **vars(token),
        )
    )
    return token, text


def tokens(context: Context, connection_id: str) -> list[ScimTokenRecord]:
    """Return the tokens of a connection, the oldest first."""
    where = (K.tenant_id == context.tenant.tenant_id, K.connection_id == connection_id)
    ordered = select(*_TOKEN).where(*where).order_by(K.created_at, K.token_id)
    return [ScimTokenRecord(**row._mapping) for row in context.work.all(ordered)]


def remove_token(context: Context, connection_id: str, token_id: str) -> bool:
    """Delete a token of a connection. Return whether it existed."""
    where = (K.tenant_id == context.tenant.tenant_id, K.connection_id == connection_id, K.token_id == token_id)
    return context.work.changed(delete(scim_tokens).where(*where)) > 0


def by_token(context: Context, text: str) -> tuple[ScimConnectionRecord, ScimTokenRecord] | None:
    """Return the connection that a token opens, and the token; None if it expired or there is none."""
    joined = scim_tokens.join(scim_connections, (C.tenant_id == K.tenant_id) & (C.connection_id == K.connection_id))
    named = [column.label(f"token_{column.name}") for column in _TOKEN]
    where = (
        K.tenant_id == context.tenant.tenant_id,
        K.token_hash == randomness.digest(text),
        or_(K.expires_at.is_(None), K.expires_at > context.now),
    )
    row = context.work.one(select(*_CONNECTION, *named).select_from(joined).where(*where))
    if row is None:
        return None
    connection = ScimConnectionRecord(*(row._mapping[column.name] for column in _CONNECTION))
    return connection, ScimTokenRecord(*(row._mapping[column.name] for column in named))


def mark_used(context: Context, token: ScimTokenRecord) -> None:
    """Store when a token was used, at most once a minute, so that requests do not wait for one another's row."""
    if token.used_at is None or context.now - token.used_at >= _USE_IS_WRITTEN_EVERY:
        where = (K.tenant_id == context.tenant.tenant_id, K.token_id == token.token_id)
        marked = update(scim_tokens).where(*where).values(used_at=context.now)
        context.late_writes.append(lambda work: _run(work, marked))


def _run(work: UnitOfWork, statement: Executable) -> None:
    work.run(statement)


def _one(context: Context, connection_id: str) -> tuple[ColumnElement[bool], ...]:
    return C.tenant_id == context.tenant.tenant_id, C.connection_id == connection_id
