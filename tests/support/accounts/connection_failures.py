"""The traces of refused answers of a tenant's providers."""

from __future__ import annotations

from app.identity.authentication.federation import connection_traces
from app.identity.authentication.federation.connection_traces import ConnectionTrace
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.tenant_server import TenantServer


def traces_of(tenant: TenantServer, connection: str = "") -> list[ConnectionTrace]:
    """Return the traces of a tenant, or of one of its connections, the newest first."""
    return traces_in(tenant.services, tenant.tenant_id, connection)


def traces_in(services: IdentityServices, tenant_id: str, connection: str = "") -> list[ConnectionTrace]:
    """Return the traces of the tenant with this id."""
    work = UnitOfWork(services.database, tenant_id)
    try:
        return connection_traces.latest(
            work, services.clock.now(), connection_traces.MAX_OF_TENANT, connection=connection
        )
    finally:
        work.rollback()
