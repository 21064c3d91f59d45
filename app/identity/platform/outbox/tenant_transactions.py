"""Transactions of one tenant, as a worker needs them: on Citus, rows of one tenant lie on one node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork


@contextmanager
def of_tenant(database: Database, tenant_id: str) -> Iterator[UnitOfWork]:
    """Yield a transaction of the tenant, which is committed unless the block raises."""
    work = UnitOfWork(database, tenant_id)
    try:
        yield work
        work.commit()
    finally:
        work.rollback()
