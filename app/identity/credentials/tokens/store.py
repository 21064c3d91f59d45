"""The queries of tokens, always inside the tenant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.engine import Row
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from app.identity.credentials.tokens.tables import access_tokens, refresh_tokens
from app.identity.platform.context import TokenHolder
from app.identity.platform.store.unit import UnitOfWork

Columns = ReadOnlyColumnCollection[str, Any]
A, R = access_tokens.c, refresh_tokens.c
PROVED_AT = "proved_at"
# Made once: to build a statement costs more than to run it, and every request with a token asks this.
_ACCESS = select(access_tokens).where(A.tenant_id == bindparam("tenant"), A.token_hash == bindparam("hash"))

_ADD_ACCESS, _ADD_REFRESH = insert(access_tokens), insert(refresh_tokens)


def add_access(work: UnitOfWork, row: dict[str, Any]) -> None:
    work.run(_ADD_ACCESS, row)


def add_refresh(work: UnitOfWork, row: dict[str, Any]) -> None:
    work.run(_ADD_REFRESH, row)


def access(work: UnitOfWork, token_hash: str) -> TokenHolder | None:
    """Return what an access token stands for, expired or not."""
    row = work.run(_ACCESS, {"tenant": work.tenant_id, "hash": token_hash}).one_or_none()
    return _holder(row) if row is not None else None


def by_account(work: UnitOfWork, uid: str, now: datetime) -> list[TokenHolder]:
    """Return the live access tokens of an account, the newest first."""
    where = (A.tenant_id == work.tenant_id, A.uid == uid, A.expires_at > now)
    return [
        _holder(row) for row in work.all(select(access_tokens).where(*where).order_by(A.issued_at.desc()).limit(200))
    ]


def count_program_sessions(work: UnitOfWork, uid: str, now: datetime) -> int:
    """Count the families of live access tokens that belong to no browser's session and to no relying party."""
    where = (
        A.tenant_id == work.tenant_id,
        A.uid == uid,
        A.expires_at > now,
        A.session_id.is_(None),
        A.client_id.is_(None),
    )
    row = work.one(select(func.count(A.family_id.distinct())).where(*where))
    return int(row[0]) if row else 0


def _holder(row: Row[Any]) -> TokenHolder:
    return TokenHolder(
        uid=row.uid,
        token="",
        token_hash=row.token_hash,
        session_id=row.session_id,
        client_id=row.client_id,
        scope=row.scope,
        facts=dict(row.facts),
        issued_at=row.issued_at,
        expires_at=row.expires_at,
    )


@dataclass(frozen=True)
class AuthorizedClient:
    """A live token of an account at an application."""

    client_id: str
    scope: str
    since: datetime


def authorized_clients(work: UnitOfWork, uid: str, now: datetime) -> list[AuthorizedClient]:
    """Return which applications hold live tokens of an account, by scope and the time of the oldest."""
    found: list[Row[Any]] = []
    for table in (refresh_tokens, access_tokens):
        c = table.c
        where = [c.tenant_id == work.tenant_id, c.uid == uid, c.client_id.is_not(None), c.expires_at > now]
        where += [c.used_at.is_(None)] if table is refresh_tokens else []
        asked = select(c.client_id, c.scope, func.min(c.issued_at).label("since")).where(*where)
        found += work.all(asked.group_by(c.client_id, c.scope))
    return [AuthorizedClient(row.client_id, row.scope, row.since) for row in found]


def delete_signed(work: UnitOfWork, client_ids: Sequence[str]) -> int:
    """End machine tokens and the access tokens of clients that get JWTs; returns how many."""
    is_signed = or_(A.client_id.in_(client_ids), A.uid.is_(None))
    return work.changed(delete(access_tokens).where(A.tenant_id == work.tenant_id, A.client_id.is_not(None), is_signed))


def set_expiry(work: UnitOfWork, token_hash: str, ends: datetime) -> None:
    work.run(
        update(access_tokens).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash).values(expires_at=ends)
    )


def record_step_up(work: UnitOfWork, token_hash: str, at: int) -> None:
    """Keep the time of a step-up, in seconds since 1970, as the fact `proved_at` of all tokens of the access token's family."""
    shown = select(A.family_id).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash).scalar_subquery()
    for table in (access_tokens, refresh_tokens):
        c = table.c
        for row in work.all(select(c.token_hash, c.facts).where(c.tenant_id == work.tenant_id, c.family_id == shown)):
            where = (c.tenant_id == work.tenant_id, c.token_hash == row.token_hash)
            work.run(update(table).where(*where).values(facts={**row.facts, PROVED_AT: at}))


def refresh(work: UnitOfWork, token_hash: str) -> Row[Any] | None:
    return work.one(select(refresh_tokens).where(R.tenant_id == work.tenant_id, R.token_hash == token_hash))


def spend_refresh(work: UnitOfWork, token_hash: str, client_id: str | None, now: datetime) -> Row[Any] | None:
    """Mark a live refresh token of this client used, and return it; None for every racer but one."""
    owner = R.client_id == client_id if client_id is not None else R.client_id.is_(None)
    where = (R.tenant_id == work.tenant_id, R.token_hash == token_hash, R.used_at.is_(None), R.expires_at > now, owner)
    return work.one(update(refresh_tokens).where(*where).values(used_at=now).returning(*R))


def delete_access(work: UnitOfWork, token_hash: str) -> bool:
    return work.changed(delete(access_tokens).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash)) > 0


def delete_access_and_refresh(work: UnitOfWork, token_hash: str) -> bool:
    """Delete an access token, and the refresh tokens of its family."""
    where = (A.tenant_id == work.tenant_id, A.token_hash == token_hash)
    row = work.one(delete(access_tokens).where(*where).returning(A.family_id))
    if row is None:
        return False
    if row.family_id is not None:
        work.run(delete(refresh_tokens).where(R.tenant_id == work.tenant_id, R.family_id == row.family_id))
    return True


def delete_refresh(work: UnitOfWork, token_hash: str) -> bool:
    """Delete the whole rotation chain of a refresh token that is still good."""
    where = (R.tenant_id == work.tenant_id, R.token_hash == token_hash, R.used_at.is_(None))
    row = work.one(select(R.family_id).where(*where))
    if row is None:
        return False
    return work.changed(delete(refresh_tokens).where(R.tenant_id == work.tenant_id, R.family_id == row.family_id)) > 0


def delete_family(work: UnitOfWork, family_id: str) -> None:
    """Delete every token of a family."""
    _delete(work, lambda c: [c.family_id == family_id])


def delete_of_client(work: UnitOfWork, uid: str, client_id: str) -> None:
    """Delete every token that an application holds of an account."""
    _delete(work, lambda c: [c.uid == uid, c.client_id == client_id])


def delete_of_session(work: UnitOfWork, session_id: str) -> None:
    """Delete every token that ends with a session."""
    _delete(work, lambda c: [c.session_id == session_id])


def delete_outliving_session(work: UnitOfWork, uid: str, session_id: str) -> None:
    """Delete every token that came of a session of the account and outlives it."""
    _delete(work, lambda c: [c.uid == uid, c.session_id.is_(None), c.facts["sid"].as_string() == session_id])


def delete_refresh_of_account(work: UnitOfWork, uid: str) -> None:
    while work.changed(delete(refresh_tokens).where(R.tenant_id == work.tenant_id, R.uid == uid)):
        pass


def delete_all_except(work: UnitOfWork, uid: str, session_id: str | None, token_hash: str | None) -> None:
    """Delete the tokens of an account, but for those that end with the session, and those of the token's family."""
    shown = select(A.family_id).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash)
    family = row[0] if token_hash and (row := work.one(shown)) else None

    def others(c: Columns) -> list[ColumnElement[bool]]:
        where = [c.uid == uid]
        where += [c.session_id.is_distinct_from(session_id)] if session_id is not None else []
        return where + ([c.family_id.is_distinct_from(family)] if family is not None else [])

    _delete(work, others)


def _delete(work: UnitOfWork, which: Callable[[Columns], list[ColumnElement[bool]]]) -> None:
    """Delete tokens, also those of a rotation that commits meanwhile.

    On PostgreSQL a statement sees what was committed when it began: it waits for the rotation that holds a row, but sees
    that one's new rows only the next time. So refresh tokens are deleted until none is left, then access tokens.
    """
    while work.changed(delete(refresh_tokens).where(R.tenant_id == work.tenant_id, *which(R))):
        pass
    work.run(delete(access_tokens).where(A.tenant_id == work.tenant_id, *which(A)))
