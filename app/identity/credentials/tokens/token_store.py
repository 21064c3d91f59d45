"""The queries of tokens, always inside the tenant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Delete,
    Index,
    Integer,
    String,
    Table,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Row
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from app.identity.directory.accounts import account_store
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.store.compiled_statements import Compiled, insert_row
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.token_claims import TokenClaims
from app.kit import randomness

access_tokens = tenant_table(
    "access_tokens",
    Column("token_hash", Id, primary_key=True),
    Column("uid", Id),  # None: client_credentials
    Column("client_id", String(128)),  # None: a token of the API's own sign-ins
    Column("session_id", Id),
    Column("family_id", Id),  # the family of its refresh token
    Column("scope", String(1000), nullable=False, default=""),
    Column("facts", Json, nullable=False),  # TokenClaims
    Column("issued_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_access_tokens_uid", "tenant_id", "uid"),
    Index("ix_access_tokens_family", "tenant_id", "family_id"),
    Index("ix_access_tokens_expiry", "tenant_id", "expires_at"),
)

refresh_tokens = tenant_table(
    "refresh_tokens",
    Column("token_hash", Id, primary_key=True),
    Column("family_id", Id, nullable=False),  # kept by rotation; reuse revokes the whole family
    Column("uid", Id),
    Column("client_id", String(128)),
    Column("session_id", Id),
    Column("scope", String(1000), nullable=False, default=""),
    Column("facts", Json, nullable=False),
    Column("issued_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("used_at", Instant),
    Column("reuses", Integer, nullable=False, default=0, server_default="0"),
    Index("ix_refresh_tokens_family", "tenant_id", "family_id"),
    Index("ix_refresh_tokens_uid", "tenant_id", "uid"),
    Index("ix_refresh_tokens_expiry", "tenant_id", "expires_at"),
)


Columns = ReadOnlyColumnCollection[str, Any]
A, R = access_tokens.c, refresh_tokens.c
_BY_HASH = select(access_tokens).where(A.tenant_id == bindparam("tenant"), A.token_hash == bindparam("hash"))
_ACCESS = Compiled(_BY_HASH)
_WITH_ACCOUNT = Compiled(account_store.with_account(_BY_HASH, A.uid))
_SPEND_REFRESH = Compiled(
    update(refresh_tokens)
    .where(R.tenant_id == bindparam("tenant"), R.token_hash == bindparam("hash"), R.used_at.is_(None))
    .where(R.expires_at > bindparam("now"), R.client_id.is_not_distinct_from(bindparam("client")))
    .values(used_at=bindparam("now"))
    .returning(*R)
)
MAX_REUSES = 3
_REUSE_REFRESH = Compiled(
    update(refresh_tokens)
    .where(R.tenant_id == bindparam("tenant"), R.token_hash == bindparam("hash"), R.used_at > bindparam("since"))
    .where(R.expires_at > bindparam("now"), R.client_id.is_not_distinct_from(bindparam("client")))
    .where(R.reuses < MAX_REUSES)
    .values(reuses=R.reuses + 1)
    .returning(*R)
)
_END_REFRESH, _END_ACCESS = (
    Compiled(  # by the account, too: no index has the session
        delete(table)
        .where(table.c.tenant_id == bindparam("tenant"), table.c.uid == bindparam("account"))
        .where(table.c.session_id == bindparam("session"))
    )
    for table in (refresh_tokens, access_tokens)
)
_ADD_ACCESS, _ADD_REFRESH = (insert_row(table, is_deferred=True) for table in (access_tokens, refresh_tokens))


def add_access(work: UnitOfWork, row: dict[str, Any]) -> None:
    work.run(_ADD_ACCESS, row)


def add_refresh(work: UnitOfWork, row: dict[str, Any]) -> None:
    work.run(_ADD_REFRESH, {**row, "used_at": None, "reuses": 0})


def access(work: UnitOfWork, token_hash: str) -> TokenHolder | None:
    """Return the holder of an access token, expired or not."""
    row = work.one(_ACCESS, {"tenant": work.tenant_id, "hash": token_hash})
    return _holder(row) if row is not None else None


def access_with_account(context: Context, token: str) -> TokenHolder | None:
    """Return the holder as `access` does, with its token and its account."""
    row = context.work.one(_WITH_ACCOUNT, {"tenant": context.work.tenant_id, "hash": randomness.digest(token)})
    if row is None:
        return None
    return replace(_holder(row, token), account=account_store.account_in(context, row))


def by_account(work: UnitOfWork, uid: str, now: datetime) -> list[TokenHolder]:
    """Return the valid access tokens of an account, the newest first."""
    where = (A.tenant_id == work.tenant_id, A.uid == uid, A.expires_at > now)
    return [
        _holder(row) for row in work.all(select(access_tokens).where(*where).order_by(A.issued_at.desc()).limit(200))
    ]


def count_program_sessions(work: UnitOfWork, uid: str, now: datetime) -> int:
    """Count the families of valid access tokens without a browser session and without a client."""
    where = (
        A.tenant_id == work.tenant_id,
        A.uid == uid,
        A.expires_at > now,
        A.session_id.is_(None),
        A.client_id.is_(None),
    )
    row = work.one(select(func.count(A.family_id.distinct())).where(*where))
    return int(row[0]) if row else 0


def _holder(row: Row[Any], token: str = "") -> TokenHolder:
    return TokenHolder(
        uid=row.uid,
        token=token,
        token_hash=row.token_hash,
        session_id=row.session_id,
        client_id=row.client_id,
        scope=row.scope,
        claims=TokenClaims.from_stored(row.facts),
        issued_at=row.issued_at,
        expires_at=row.expires_at,
    )


@dataclass(frozen=True)
class AuthorizedClient:
    """An application with a valid token of an account."""

    client_id: str
    scope: str
    since: datetime


def authorized_clients(work: UnitOfWork, uid: str, now: datetime) -> list[AuthorizedClient]:
    """Return the applications with valid tokens of an account: one for each scope, with the time of its oldest token."""
    parameters = {"tenant": work.tenant_id, "account": uid, "now": now}
    rows = [row for statement in _CLIENTS_OF_ACCOUNT for row in work.all(statement, parameters)]
    return [AuthorizedClient(row.client_id, row.scope, row.since) for row in rows]


def _clients(table: Table, *conditions: ColumnElement[bool]) -> Compiled:
    """Return the clients with valid tokens of an account in one table."""
    c = table.c
    where = (c.tenant_id == bindparam("tenant"), c.uid == bindparam("account"), c.expires_at > bindparam("now"))
    query = select(c.client_id, c.scope, func.min(c.issued_at).label("since"))
    return Compiled(query.where(*where, c.client_id.is_not(None), *conditions).group_by(c.client_id, c.scope))


_CLIENTS_OF_ACCOUNT = (_clients(refresh_tokens, refresh_tokens.c.used_at.is_(None)), _clients(access_tokens))


def delete_signed(work: UnitOfWork, client_ids: Sequence[str], *, machines: bool) -> int:
    """Delete the access tokens of these clients, which get JWTs, and if wanted those of machines. Return how many."""
    is_signed = or_(A.client_id.in_(client_ids), A.uid.is_(None)) if machines else A.client_id.in_(client_ids)
    return work.changed(delete(access_tokens).where(A.tenant_id == work.tenant_id, A.client_id.is_not(None), is_signed))


def set_expiry(work: UnitOfWork, token_hash: str, ends: datetime) -> None:
    work.run(
        update(access_tokens).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash).values(expires_at=ends)
    )


def record_reauthentication(work: UnitOfWork, token_hash: str, at: int) -> None:
    """Store the time of a step-up, in seconds since 1970, with all tokens of the access token's family."""
    family_id = select(A.family_id).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash).scalar_subquery()
    for table in (access_tokens, refresh_tokens):
        c = table.c
        for row in work.all(
            select(c.token_hash, c.facts).where(c.tenant_id == work.tenant_id, c.family_id == family_id)
        ):
            where = (c.tenant_id == work.tenant_id, c.token_hash == row.token_hash)
            claims = replace(TokenClaims.from_stored(row.facts), stepped_up_at=at)
            work.run(update(table).where(*where).values(facts=claims.to_stored()))


def refresh(work: UnitOfWork, token_hash: str) -> Row[Any] | None:
    return work.one(select(refresh_tokens).where(R.tenant_id == work.tenant_id, R.token_hash == token_hash))


def spend_refresh(work: UnitOfWork, token_hash: str, client_id: str | None, now: datetime) -> Row[Any] | None:
    """Mark a valid refresh token of this client used, and return it. Of concurrent calls one gets it, the others None."""
    parameters = {"tenant": work.tenant_id, "hash": token_hash, "client": client_id, "now": now}
    return work.one(_SPEND_REFRESH, parameters)


def reuse_refresh(
    work: UnitOfWork, token_hash: str, client_id: str | None, now: datetime, interval: timedelta
) -> Row[Any] | None:
    """Count a reuse of a token of this client that was used less than `interval` ago, and return it; None after the last one."""
    parameters = {
        "tenant": work.tenant_id,
        "hash": token_hash,
        "client": client_id,
        "now": now,
        "since": now - interval,
    }
    return work.one(_REUSE_REFRESH, parameters)


def lock_refresh(work: UnitOfWork, token_hash: str, client_id: str, now: datetime) -> Row[Any] | None:
    """Return a valid refresh token of this client and lock it, so that a revocation waits until its tokens are issued."""
    where = (R.tenant_id == work.tenant_id, R.token_hash == token_hash, R.used_at.is_(None), R.expires_at > now)
    locked = update(refresh_tokens).where(*where, R.client_id == client_id).values(expires_at=R.expires_at)
    return work.one(locked.returning(*R))


def extend_refresh(work: UnitOfWork, token_hash: str, expires_at: datetime) -> None:
    """Let a refresh token expire at another time."""
    where = (R.tenant_id == work.tenant_id, R.token_hash == token_hash)
    work.run(update(refresh_tokens).where(*where).values(expires_at=expires_at))


def delete_access(work: UnitOfWork, token_hash: str) -> bool:
    return work.changed(delete(access_tokens).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash)) > 0


def delete_access_and_refresh(work: UnitOfWork, token_hash: str) -> bool:
    """Delete an access token, and the refresh tokens of its family."""
    where = (A.tenant_id == work.tenant_id, A.token_hash == token_hash)
    row = work.one(delete(access_tokens).where(*where).returning(A.family_id))
    if row is None:
        return False
    if row.family_id is not None:
        _delete_refresh(work, R.family_id == row.family_id)
    return True


def delete_refresh(work: UnitOfWork, token_hash: str) -> bool:
    """Delete the whole rotation chain of a refresh token, also of a replaced one, which may still get tokens."""
    row = refresh(work, token_hash)
    return row is not None and _delete_refresh(work, R.family_id == row.family_id)


def delete_family(work: UnitOfWork, family_id: str) -> None:
    """Delete every token of a family."""
    _delete(work, lambda c: [c.family_id == family_id])


def delete_of_client(work: UnitOfWork, uid: str, client_id: str) -> None:
    """Delete every token that an application has of an account."""
    _delete(work, lambda c: [c.uid == uid, c.client_id == client_id])


def delete_of_session(work: UnitOfWork, uid: str, session_id: str) -> None:
    """Delete every token that ends with a session of the account."""
    _delete_both(work, _END_REFRESH, _END_ACCESS, {"tenant": work.tenant_id, "account": uid, "session": session_id})


def delete_outliving_session(work: UnitOfWork, uid: str, session_id: str) -> None:
    """Delete every token that was issued in a session of the account and outlives it."""
    _delete(work, lambda c: [c.uid == uid, c.session_id.is_(None), c.facts["sid"].as_string() == session_id])


def delete_with_method(work: UnitOfWork, uids: Collection[str], method: str, session_ids: Collection[str]) -> None:
    """Delete the tokens of these accounts that have an `amr`, or end with one of these sessions."""

    def conditions(c: Columns) -> list[ColumnElement[bool]]:
        has_method = c.facts["amr"].as_string().contains(f'"{method}"', autoescape=True)
        return [c.uid.in_(uids), or_(has_method, c.session_id.in_(session_ids))]

    _delete(work, conditions)


def delete_refresh_of_account(work: UnitOfWork, uid: str) -> None:
    _delete_refresh(work, R.uid == uid)


def delete_all_except(work: UnitOfWork, uid: str, session_id: str | None, token_hash: str | None) -> None:
    """Delete the tokens of an account, except those that end with the session and those of the token's family."""
    query = select(A.family_id).where(A.tenant_id == work.tenant_id, A.token_hash == token_hash)
    family = row[0] if token_hash and (row := work.one(query)) else None

    def other_tokens(c: Columns) -> list[ColumnElement[bool]]:
        where = [c.uid == uid]
        where += [c.session_id.is_distinct_from(session_id)] if session_id is not None else []
        return where + ([c.family_id.is_distinct_from(family)] if family is not None else [])

    _delete(work, other_tokens)


def _delete(work: UnitOfWork, conditions: Callable[[Columns], list[ColumnElement[bool]]]) -> None:
    """Delete the refresh and access tokens that meet the conditions."""
    of_refresh = delete(refresh_tokens).where(R.tenant_id == work.tenant_id, *conditions(R))
    _delete_both(work, of_refresh, delete(access_tokens).where(A.tenant_id == work.tenant_id, *conditions(A)))


def _delete_both(
    work: UnitOfWork, of_refresh: Delete | Compiled, of_access: Delete | Compiled, values: dict[str, Any] | None = None
) -> None:
    """Delete refresh tokens, then access tokens, also those of a concurrent rotation."""
    _delete_until_none(work, of_refresh, values)
    work.run(of_access, values)


def _delete_refresh(work: UnitOfWork, condition: ColumnElement[bool]) -> bool:
    """Delete the refresh tokens that meet the condition. Return whether there were any."""
    return _delete_until_none(work, delete(refresh_tokens).where(R.tenant_id == work.tenant_id, condition))


def _delete_until_none(work: UnitOfWork, of_refresh: Delete | Compiled, values: dict[str, Any] | None = None) -> bool:
    """Delete refresh tokens, also those of a concurrent rotation. Return whether there were any.

    On PostgreSQL a statement sees only what was committed when it began: it waits for a rotation that locks a row, but not
    until the next statement are the rotation's new rows visible. So tokens are deleted until none is left.
    """
    found = False
    while work.changed(of_refresh, values):
        found = True
    return found
