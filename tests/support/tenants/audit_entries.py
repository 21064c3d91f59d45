"""The entries of a tenant's audit log, as an operator reads them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.tenant_server import TenantServer

Entry = tuple[str | None, dict[str, Any]]


def entries_of(tenant: TenantServer, event: str) -> list[Entry]:
    """Return the account and the facts of each entry of the event, the oldest first."""
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        where = (audit.c.tenant_id == tenant.tenant_id, audit.c.event == event)
        rows = work.all(select(audit.c.uid, audit.c.facts).where(*where).order_by(audit.c.entry_id))
        return [(row.uid, dict(row.facts)) for row in rows]
