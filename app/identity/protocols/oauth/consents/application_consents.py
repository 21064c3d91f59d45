"""Consents: the scopes that an account granted to a client, and the optional scopes that it declined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlalchemy.engine import Row

from app.identity.platform.context import Context
from app.identity.platform.store import upserts
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.tables import consents

T = consents.c
_OF_ACCOUNT = Compiled(
    select(T.client_id, T.scopes, T.given_at, T.refused).where(
        T.tenant_id == bindparam("tenant"), T.uid == bindparam("account")
    )
)


@dataclass(frozen=True)
class Consent:
    """An account's consent to a client: the granted scopes, and the declined optional ones."""

    client_id: str
    scopes: tuple[str, ...]
    given_at: datetime
    refused: tuple[str, ...] = ()


def find(context: Context, uid: str, client_id: str) -> Consent | None:
    """Return the consent, whose scopes may be none; None where the account never consented."""
    where = (T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.client_id == client_id)
    row = context.work.one(select(T.client_id, T.scopes, T.given_at, T.refused).where(*where))
    return _consent(row) if row is not None else None


def grant(context: Context, uid: str, client_id: str, scopes: Iterable[str], refused: Iterable[str] = ()) -> None:
    """Add scopes to the account's consent to the client, and remember those that it left out, which also ends their grant."""
    stored, left_out = find(context, uid, client_id), frozenset(refused)
    added = frozenset(scopes) - left_out
    granted = sorted((frozenset(stored.scopes if stored else ()) | added) - left_out)
    refused = sorted((frozenset(stored.refused if stored else ()) | left_out) - added)
    changed = {"scopes": granted, "refused": refused, "given_at": context.now}
    row = {"tenant_id": context.tenant.tenant_id, "uid": uid, "client_id": client_id, **changed}
    key = [T.tenant_id, T.uid, T.client_id]
    context.work.run(
        upserts.insert(consents, is_sqlite=context.services.database.is_sqlite)
        .values(row)
        .on_conflict_do_update(index_elements=key, set_=changed)
    )


def of_account(context: Context, uid: str) -> list[Consent]:
    """Return all consents of an account."""
    rows = context.work.all(_OF_ACCOUNT, {"tenant": context.tenant.tenant_id, "account": uid})
    return [_consent(row) for row in rows]


def revoke(context: Context, uid: str, client_id: str) -> None:
    """Delete the consent, so that the next authorization asks again."""
    context.work.run(
        delete(consents).where(T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.client_id == client_id)
    )


def revoke_all(work: UnitOfWork, client_id: str) -> None:
    """Delete the consents of all accounts to a client."""
    work.run(delete(consents).where(T.tenant_id == work.tenant_id, T.client_id == client_id))


def _consent(row: Row[Any]) -> Consent:
    return Consent(row.client_id, tuple(row.scopes), row.given_at, tuple(row.refused or ()))
