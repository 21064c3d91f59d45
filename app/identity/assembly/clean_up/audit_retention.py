"""Deletes old audit entries: rows older than their tenant's `audit_days`, and creates and drops monthly partitions on PostgreSQL.

The runtime role may not create or drop partitions; functions of the table owner do (revision 0018), and decide by
themselves which are due.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, select, text
from sqlalchemy.sql import Executable

from app.contract.tenants.settings import TenantSettings
from app.identity.assembly.table_modules import metadata
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork

TABLE: Final = "audit"
BATCH: Final = 500
audit, tenants = metadata.tables[TABLE].c, metadata.tables["tenants"].c
DEFAULT_DAYS: Final[int] = TenantSettings.model_fields["audit_days"].default
_SHORT_TIMEOUT: Final = text("SET LOCAL statement_timeout = '2s'")
_MAKE: Final = text("SELECT made, waits FROM public.gatehouse_audit_make()")
_DROP: Final = text("SELECT dropped, waits FROM public.gatehouse_audit_drop(:as_of, :default_days)").bindparams(
    bindparam("default_days", DEFAULT_DAYS)
)

log = logging.getLogger("gatehouse.audit")


def is_expired(tenant_id: Any, first_retained: Any) -> Any:
    """Return the condition for expired rows; entry ids begin with the time, so the primary key finds them."""
    return and_(audit.tenant_id == tenant_id, audit.entry_id < first_retained)


def first_retained(work: UnitOfWork, now: datetime) -> str:
    """Return the smallest entry id that the tenant retains."""
    row = work.one(select(tenants.settings).where(tenants.tenant_id == work.tenant_id))
    days = row.settings.get("audit_days", DEFAULT_DAYS) if row is not None else DEFAULT_DAYS
    return f"{int((now - timedelta(days=days)).timestamp() * 1000):012x}"


def delete_expired(database: Database, tenant_id: str, before: str) -> int:
    """Delete the tenant's rows with smaller entry ids, one batch per transaction. Return their number."""
    deleted = 0
    expired = select(audit.entry_id).where(is_expired(tenant_id, before)).order_by(audit.entry_id).limit(BATCH)
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            ids = [row.entry_id for row in work.all(expired)]
            if ids:
                batch = delete(metadata.tables[TABLE]).where(audit.tenant_id == tenant_id, audit.entry_id.in_(ids))
                deleted += work.run(batch).rowcount
                work.commit()
        finally:
            work.rollback()
        if len(ids) < BATCH:
            return deleted


def maintain_partitions(database: Database, now: datetime) -> None:
    """Create and drop the partitions that are due, each in its own transaction; without a lock soon, leave it to the next call.

    A partition is dropped only when the longest `audit_days` of all tenants is over by both our clock and the database's.
    """
    if database.is_sqlite:
        return
    maintained = _execute(database, _MAKE)
    if maintained.made:
        log.info("audit.partitions_made", extra={"partitions": maintained.made})
    if maintained.waits:
        log.warning("audit.partitions_wait", extra={"step": "make"})
    while True:
        result = _execute(database, _DROP.bindparams(as_of=now))
        if result.waits:
            log.warning("audit.partitions_wait", extra={"step": "drop"})
        if result.dropped is None:
            return
        log.info("audit.partition_dropped", extra={"partition": result.dropped})


def _execute(database: Database, statement: Executable) -> Any:
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        work.begin()
        work.run(_SHORT_TIMEOUT)
        row = work.run(statement).one()
        work.commit()
    finally:
        work.rollback()
    return row
