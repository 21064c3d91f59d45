"""Notices of changes that a configuration file makes to accounts look like every mail of the tenant."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.directory.tenants.urls import custom_hosts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

ADA = "ada@example.test"
BRAND = 'brand: {display_name: Analytical Engines, color: "#0a7d3b"}'
PHONE = f'accounts: [{{email: {ADA}, phone: "+4930123456"}}]'


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    tenant = new_tenant_server(phone_login=True)
    tenant.create(Email=[{"Type": "Primary", "Value": ADA}], EmailVerified=True)
    return tenant


def apply(tenant: TenantServer, *members: str) -> None:
    text = f"tenants: [{{name: {tenant.name}, {', '.join(members)}}}]"
    apply_configuration.apply(tenant.services, read(text.encode(), "f.yaml", Path()))


@pytest.mark.parametrize("files", [[(BRAND, PHONE)], [(BRAND,), (BRAND, PHONE)]], ids=["new", "stored"])
def test_notice_has_brand_of_tenant(tenant: TenantServer, files: list[tuple[str, ...]]) -> None:
    for members in files:
        apply(tenant, *members)
    notice = mails_to(tenant.services, tenant.tenant_id, ADA)[-1]
    assert "Analytical Engines" in notice["subject"]
    assert notice["sender_name"] == "Analytical Engines"
    assert "#0a7d3b" in notice["html"]


def test_notice_links_to_custom_domain(tenant: TenantServer) -> None:
    domain = f"login-{tenant.name}.example.test"
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        custom_hosts.add(work, domain, tenant.services.clock.now())
    apply(tenant, PHONE)
    assert f"://{domain}" in mails_to(tenant.services, tenant.tenant_id, ADA)[-1]["text"]
