"""The context of a tenant outside of a request, for commands and configuration files."""

from __future__ import annotations

from app.contract.tenants.branding import Brand
from app.contract.tenants.settings import TenantSettings
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Tenant


def context_of(services: IdentityServices, work: UnitOfWork, name: str, settings: TenantSettings) -> Context:
    """Return a context outside of a request, for the tenant of the unit of work."""
    tenant = Tenant(work.tenant_id, name, "", b"", 0, settings, Brand())
    return Context.outside_requests(services, tenant, work)
