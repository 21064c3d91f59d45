"""The bound on a tenant's unanswered interactions: the oldest go first, of the networks that hold most (decisions/0333)."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, delete, func, select

from app.identity.entry.tables import metadata
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork

MOST: Final = 100_000
"""Unanswered interactions of a tenant."""
SURPLUS: Final = "surplus"
_BATCH: Final = 1_000
_INTERACTIONS: Final = metadata.tables["attempts"]
A = _INTERACTIONS.c


def beyond(tenant_id: Any, most: int) -> Select[Any]:
    """Return the query for an unanswered interaction that is one too many."""
    return select(A.attempt_hash).where(A.tenant_id == tenant_id, A.is_done.is_(False)).offset(most).limit(1)


def push_out(database: Database, tenant_id: str, most: int) -> int:
    """Delete the interactions beyond a number, in batches; return how many.

    Each network keeps its newest, as many as all networks can: so a stranger pushes out the stranger's own first.
    """
    place = func.row_number().over(partition_by=A.network, order_by=A.created_at.desc())
    placed = (
        select(A.attempt_hash, A.created_at, place.label("place"))
        .where(A.tenant_id == tenant_id, A.is_done.is_(False))
        .subquery()
    )
    order = (placed.c.place, placed.c.created_at.desc())
    surplus = select(placed.c.attempt_hash).order_by(*order).offset(most).limit(_BATCH)
    deleted = 0
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            batch = delete(_INTERACTIONS).where(A.tenant_id == tenant_id, A.attempt_hash.in_(surplus))
            number = work.run(batch).rowcount
            work.commit()
        finally:
            work.rollback()
        deleted += number
        if number < _BATCH:
            return deleted
