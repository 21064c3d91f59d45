"""scim2-tester, the checks of `scim2 test`, calls every feature that the server announces."""

from __future__ import annotations

from scim2_client.engines.wsgi import WSGISCIMClient
from scim2_tester import Status, check_server

from tests.support.organizations.management import a_business
from tests.support.scim.connected import connect
from tests.support.tenants.tenant_server import NewTenantServer


def test_scim2_tester_finds_no_fault(new_tenant_server: NewTenantServer) -> None:
    client = connect(a_business(new_tenant_server))
    tenant = client.business.tenant
    base = f"http://{tenant.name}.{tenant.services.settings.hub_domain}/scim/v2"
    scim = WSGISCIMClient(tenant.app, base, headers={"Authorization": f"Bearer {client.token}"})
    results = check_server(scim, raise_exceptions=False)
    failed = [f"{item.title}: {item.reason}" for item in results if item.status in (Status.ERROR, Status.CRITICAL)]
    print("\n".join(f"{item.status.name} {item.title}" for item in results))
    assert not failed, "\n".join(failed)
    assert sum(item.status is Status.SUCCESS for item in results) >= 20
