"""A call outside a request, for tests of services."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.request_parsing import RawRequest


@contextmanager
def call_of(services: IdentityServices, tenant_name: str) -> Iterator[Context]:
    """Give a call of that tenant, whose writes are rolled back."""
    tenant = services.directory.by_name(tenant_name)
    assert tenant is not None
    work = UnitOfWork(services.database, tenant.tenant_id)
    raw = RawRequest("GET", "/", "", {}, b"", "127.0.0.1", f"{tenant_name}.{services.settings.hub_domain}")
    try:
        context = Context(services, tenant, raw)
        context.work = work
        yield context
    finally:
        work.rollback()
