"""Consents: the scopes that an account granted to a client."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from app.identity.platform.context import Context
from app.identity.protocols.oauth.tables import consents

T = consents.c


@dataclass(frozen=True)
class Consent:
    """An account's consent to a client."""

    client_id: str
    scopes: tuple[str, ...]
    given_at: datetime


def covers(context: Context, uid: str, client_id: str, scopes: Iterable[str]) -> bool:
    """Return whether the account consented to the client and to each of these scopes."""
    granted = _scopes(context, uid, client_id)
    return granted is not None and granted.issuperset(scopes)


def _scopes(context: Context, uid: str, client_id: str) -> frozenset[str] | None:
    """Return the granted scopes, which may be none; None where the account never consented."""
    where = (T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.client_id == client_id)
    row = context.work.one(select(T.scopes).where(*where))
    return frozenset(row.scopes) if row is not None else None


def grant(context: Context, uid: str, client_id: str, scopes: Iterable[str]) -> None:
    """Add scopes to the account's consent to the client."""
    granted = sorted((_scopes(context, uid, client_id) or frozenset()) | set(scopes))
    row = {
        "tenant_id": context.tenant.tenant_id,
        "uid": uid,
        "client_id": client_id,
        "scopes": granted,
        "given_at": context.now,
    }
    dialect = sqlite if context.services.database.is_sqlite else postgresql
    insert = dialect.insert(consents).values(row)
    key = [T.tenant_id, T.uid, T.client_id]
    context.work.run(
        insert.on_conflict_do_update(index_elements=key, set_={"scopes": granted, "given_at": context.now})
    )


def of_account(context: Context, uid: str) -> list[Consent]:
    """Return all consents of an account."""
    where = (T.tenant_id == context.tenant.tenant_id, T.uid == uid)
    rows = context.work.all(select(T.client_id, T.scopes, T.given_at).where(*where))
    return [Consent(row.client_id, tuple(row.scopes), row.given_at) for row in rows]


def revoke(context: Context, uid: str, client_id: str) -> None:
    """Delete the consent, so that the next authorization asks again."""
    context.work.run(
        delete(consents).where(T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.client_id == client_id)
    )
