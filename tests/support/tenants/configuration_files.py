"""Plans and applies configuration files in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.assembly.table_modules import metadata
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork


def applied(services: IdentityServices, text: str, *, prune: bool = False) -> ChangePlan:
    return apply_configuration.apply(services, read(text.encode(), "f.yaml", Path()), prune=prune)


def planned(services: IdentityServices, text: str, *, prune: bool = False) -> ChangePlan:
    return apply_configuration.plan(services, read(text.encode(), "f.yaml", Path()), prune=prune)


def lines(plan: ChangePlan) -> list[tuple[str, str, str]]:
    return [(change.kind, change.name, str(change.action)) for change in plan.changes]


def rows(services: IdentityServices, table: str, tenant: str = "acme") -> list[Any]:
    """Return the rows of a table that belong to a tenant."""
    work = UnitOfWork(services.database, "lookup")
    try:
        stored = tenant_writes.by_name(work, tenant)
        if stored is None:
            return []
        work.switch_tenant(stored.tenant_id)
        found = metadata.tables[table]
        return list(work.all(select(found).where(found.c.tenant_id == stored.tenant_id)))
    finally:
        work.rollback()
