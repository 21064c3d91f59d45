"""Verified custom domains, by which a request finds its tenant."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, insert, select

from app.identity.directory.tenants.tables import custom_hosts, tenants
from app.identity.platform.store.unit_of_work import UnitOfWork

H = custom_hosts.c


def owner(work: UnitOfWork, host: str) -> tuple[str, str] | None:
    """Return id and name of the tenant that verified the host; needs a unit of work of LOOKUP_TENANT."""
    joined = select(tenants.c.tenant_id, tenants.c.name).join(custom_hosts, H.tenant_id == tenants.c.tenant_id)
    row = work.one(joined.where(H.host == host))
    return (str(row.tenant_id), str(row.name)) if row else None


def is_served(work: UnitOfWork, host: str) -> bool:
    """Return whether the unit of work's tenant verified the host."""
    return work.one(select(H.host).where(H.host == host, H.tenant_id == work.tenant_id)) is not None


def of_tenant(work: UnitOfWork) -> tuple[str, ...]:
    """Return the hosts of the unit of work's tenant, the first verified first."""
    rows = work.all(select(H.host).where(H.tenant_id == work.tenant_id).order_by(H.verified_at, H.host))
    return tuple(row.host for row in rows)


def add(work: UnitOfWork, host: str, now: datetime) -> None:
    """Serve the host for the unit of work's tenant. Raises IntegrityError if it is served already."""
    work.run(insert(custom_hosts).values(host=host, tenant_id=work.tenant_id, verified_at=now))


def remove(work: UnitOfWork, host: str) -> bool:
    """Serve the host no longer for the unit of work's tenant. Return whether it was served."""
    return work.changed(delete(custom_hosts).where(H.host == host, H.tenant_id == work.tenant_id)) > 0
