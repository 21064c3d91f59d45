"""Stores initial access tokens (RFC 7591 section 3) as digests, and spends them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, Integer, String, delete, insert, select, update

from app.identity.platform.store.tables import Instant, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness

initial_access_tokens = tenant_table(
    "initial_access_tokens",
    Column("name", String(60), primary_key=True),
    Column("token_hash", String(64), nullable=False),
    Column("max_uses", Integer, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_initial_access_tokens_hash", "tenant_id", "token_hash"),
    Index("ix_initial_access_tokens_expiry", "tenant_id", "expires_at"),
)

T = initial_access_tokens.c


def add(
    work: UnitOfWork, name: str, token_hash: str, *, max_uses: int, created_at: datetime, expires_at: datetime
) -> None:
    """Add a token by its digest. Raises IntegrityError if its name is taken."""
    row = {"tenant_id": work.tenant_id, "name": name, "token_hash": token_hash, "uses": 0}
    times = {"created_at": created_at, "expires_at": expires_at}
    work.run(insert(initial_access_tokens).values(**row, **times, max_uses=max_uses))


def all_tokens(work: UnitOfWork) -> Sequence[Any]:
    """Return the rows of the tenant's tokens, the oldest first."""
    return work.all(select(initial_access_tokens).where(T.tenant_id == work.tenant_id).order_by(T.created_at, T.name))


def named(work: UnitOfWork, name: str) -> Any | None:
    """Return the row of the token with this name."""
    return work.one(select(initial_access_tokens).where(T.tenant_id == work.tenant_id, T.name == name))


def change(work: UnitOfWork, name: str, **values: Any) -> None:
    """Set columns of a token."""
    work.run(update(initial_access_tokens).where(T.tenant_id == work.tenant_id, T.name == name).values(**values))


def remove(work: UnitOfWork, name: str) -> None:
    """Delete a token, which ends it."""
    work.run(delete(initial_access_tokens).where(T.tenant_id == work.tenant_id, T.name == name))


def is_usable(work: UnitOfWork, token: str, now: datetime) -> bool:
    """Return whether the token registers another application."""
    return work.one(select(T.name).where(*_usable(work, token, now))) is not None


def spend(work: UnitOfWork, token: str, now: datetime) -> str | None:
    """Use the token once and return its name; None if it is used up, expired or unknown. Of concurrent uses each counts."""
    name = work.one(select(T.name).where(*_usable(work, token, now)))
    used = update(initial_access_tokens).where(*_usable(work, token, now)).values(uses=T.uses + 1)
    return str(name[0]) if name is not None and work.run(used).rowcount == 1 else None


def _usable(work: UnitOfWork, token: str, now: datetime) -> tuple[Any, ...]:
    is_token = T.token_hash == randomness.digest(token)
    return T.tenant_id == work.tenant_id, is_token, T.uses < T.max_uses, T.expires_at > now
