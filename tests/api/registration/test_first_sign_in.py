"""The sign-in that a registration completes."""

from __future__ import annotations

from sqlalchemy import select

from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.accounts.registering import register
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered


def stored_methods(tenant: TenantServer, token: str) -> list[str]:
    """Return the `amr` of a token."""
    where = (access_tokens.c.tenant_id == tenant.tenant_id, access_tokens.c.token_hash == randomness.digest(token))
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        return list(work.run(select(access_tokens.c.facts).where(*where)).scalar_one()["amr"])


def test_token_of_registration_names_its_method(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(email_verification="disabled")
    token = answered(register(tenant, "new@example.test"))["Data"]["access_token"]
    assert stored_methods(tenant, token) == ["pwd"]
