"""Removes audit rows that are older than their tenant keeps them (`audit_days`)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, delete, select

from app.contract.configuration import TenantSettings
from app.identity.entry.tables import metadata
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork

TABLE: Final = "audit"
BATCH: Final = 500
audit, tenants = metadata.tables[TABLE].c, metadata.tables["tenants"].c
USUAL_DAYS: Final[int] = TenantSettings.model_fields["audit_days"].default


def is_over(tenant_id: Any, first_kept: Any) -> Any:
    """The condition under which a row goes: entry ids begin with the time, so the primary key finds them."""
    return and_(audit.tenant_id == tenant_id, audit.entry_id < first_kept)


def first_kept(work: UnitOfWork, now: datetime) -> str:
    """Return the least entry id that the tenant keeps."""
    row = work.one(select(tenants.settings).where(tenants.tenant_id == work.tenant_id))
    days = row.settings.get("audit_days", USUAL_DAYS) if row is not None else USUAL_DAYS
    return f"{int((now - timedelta(days=days)).timestamp() * 1000):012x}"


def remove(database: Database, tenant_id: str, before: str) -> int:
    """Remove what is over, a batch in each transaction; return how many rows went."""
    removed = 0
    found = select(audit.entry_id).where(is_over(tenant_id, before)).order_by(audit.entry_id).limit(BATCH)
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            ids = [row.entry_id for row in work.all(found)]
            if ids:
                gone = delete(metadata.tables[TABLE]).where(audit.tenant_id == tenant_id, audit.entry_id.in_(ids))
                removed += work.run(gone).rowcount
                work.commit()
        finally:
            work.rollback()
        if len(ids) < BATCH:
            return removed
