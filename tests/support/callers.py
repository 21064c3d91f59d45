"""A call outside a request, for tests of services."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.identity.call import Call
from app.identity.house import House
from app.identity.ledger import Ledger
from app.identity.outbox import Outbox
from app.identity.store.unit import UnitOfWork
from app.kit.reading import RawRequest


@contextmanager
def call_of(house: House, tenant_name: str) -> Iterator[Call]:
    """Give a call of that tenant; what it wrote is rolled back."""
    tenant = house.directory.by_name(tenant_name)
    assert tenant is not None
    work = UnitOfWork(house.database, tenant.tenant_id)
    raw = RawRequest("GET", "/", "", {}, b"", "127.0.0.1", f"{tenant_name}.{house.settings.hub_domain}")
    try:
        yield Call(house, tenant, work, Ledger(house.clock), Outbox(work, house.clock, house.vault), raw)
    finally:
        work.rollback()
