"""A stored password hash follows the tenant's settings."""

from __future__ import annotations

from sqlalchemy import select, update

from app.identity.directory.tenants.tables import tenants
from app.identity.platform.store.unit import UnitOfWork
from tests.api.test_sign_in_password import a_customer
from tests.support.tenant_server import TenantServer, answered


def test_stale_hash_is_renewed_at_next_sign_in(acme: TenantServer) -> None:
    customer = a_customer(acme)
    before = customer.row().password_hash
    answered(customer.logs_in())
    assert customer.row().password_hash == before
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        where = tenants.c.tenant_id == acme.tenant_id
        stored = work.run(select(tenants.c.settings, tenants.c.version).where(where)).one()
        settings = {**stored.settings, "argon2": {"memory_kib": 9216, "iterations": 2, "parallelism": 1}}
        work.run(update(tenants).where(where).values(settings=settings, version=stored.version + 1))
    acme.services.directory.clear_cache()
    customer.fails(1)
    assert customer.row().password_hash == before
    answered(customer.logs_in())
    after = customer.row().password_hash
    assert "m=9216,t=2,p=1" in after
    answered(customer.logs_in())
    assert customer.row().password_hash == after
