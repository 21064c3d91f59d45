"""Deletes accounts that their owners deleted, once the retention period is over."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import and_, select, type_coerce, update

from app.identity.assembly.table_modules import metadata
from app.identity.platform.audit import AuditLog
from app.identity.platform.store import removal
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock

TABLE = "accounts"
accounts = metadata.tables[TABLE]
A = accounts.c
_BATCH_SIZE = 200


def is_due(tenant_id: Any, now: Any) -> Any:
    """Return the condition for accounts to delete; the values may be bind parameters."""
    return and_(A.tenant_id == tenant_id, A.leaves_at < type_coerce(now, A.leaves_at.type))


def delete_due(database: Database, tenant_id: str, now: datetime) -> int:
    """Delete the due accounts of a tenant, each in its own transaction. Return their number."""
    work = UnitOfWork(database, tenant_id)
    try:
        due = select(A.uid).where(is_due(tenant_id, now)).limit(_BATCH_SIZE)
        uids = [row.uid for row in work.all(due)]
    finally:
        work.rollback()
    return sum(_delete(database, tenant_id, uid, now) for uid in uids)


def _delete(database: Database, tenant_id: str, uid: str, now: datetime) -> bool:
    """Delete an account, unless it was restored in the meantime: the guarded update locks the row first."""
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
