"""Removes accounts that their owners deleted, once the time to keep them is over."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import and_, select, type_coerce, update

from app.identity.entry.tables import metadata
from app.identity.platform.audit import AuditLog
from app.identity.platform.store import removal
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork
from app.kit.clock import FixedClock

TABLE = "accounts"
accounts = metadata.tables[TABLE]
A = accounts.c
_A_TURN = 200


def is_due(tenant_id: Any, now: Any) -> Any:
    """The condition under which an account goes: the values may be bound later."""
    return and_(A.tenant_id == tenant_id, A.leaves_at < type_coerce(now, A.leaves_at.type))


def remove(database: Database, tenant_id: str, now: datetime) -> int:
    """Remove what is due of a tenant, each account in a transaction of its own; return how many went."""
    work = UnitOfWork(database, tenant_id)
    try:
        due = select(A.uid).where(is_due(tenant_id, now)).limit(_A_TURN)
        found = [row.uid for row in work.all(due)]
    finally:
        work.rollback()
    return sum(_remove(database, tenant_id, uid, now) for uid in found)


def _remove(database: Database, tenant_id: str, uid: str, now: datetime) -> bool:
    """Remove one, unless it was kept meanwhile: the guard takes the row before anything else goes."""
    work = UnitOfWork(database, tenant_id)
    try:
        guard = and_(is_due(tenant_id, now), A.uid == uid, A.is_deleted)
        if not work.changed(update(accounts).where(guard).values(is_active=False)):
            return False
        removal.delete_account_rows(work, uid)
        audit = AuditLog(FixedClock(now))
        audit.record("account.deleted", uid=uid)
        audit.write(work)
        work.commit()
    finally:
        work.rollback()
    return True
