"""What webhooks and workflows cost a sign-in: none costs a statement, except a webhook of the event."""

from __future__ import annotations

import re

import pytest

from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer
from tests.support.tenants.webhooks import Webhooks
from tests.support.workflows.drawings import sequence
from tests.support.workflows.running import runs, stored

ADA = "ada@example.test"


def statements(server: TenantServer) -> int:
    """Return how many statements a sign-in takes, once its process knows the tenant."""
    counts = []
    for _ in range(3):
        response = server.send("POST", "/identity/v2/auth/login", {"email": ADA, "password": PASSWORD})
        assert response.status_code == 200, response.text
        counts.append(int(re.findall(r"sql=(\d+)", response.headers["X-Gatehouse-Cost"])[0]))
    return counts[-1]


@pytest.mark.both_databases
def test_only_a_webhook_of_the_event_costs_a_statement(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server(email_verification="optional")
    server.create(Email=[{"Type": "Primary", "Value": ADA}])
    hooks = Webhooks(server)
    without = statements(server)
    hooks.created("Register")
    with_another = statements(server)
    hooks.created("Login")
    with_one = statements(server)

    assert (with_another, with_one) == (without, without + 1)
    assert without == 5


@pytest.mark.both_databases
def test_workflow_costs_no_statement(new_tenant_server: NewTenantServer) -> None:
    """Its version is cached, and its run is recorded in the statement that records the sign-in."""
    server = new_tenant_server(email_verification="optional")
    server.create(Email=[{"Type": "Primary", "Value": ADA}])
    without = statements(server)
    stored(server, sequence())
    beside = statements(server)
    assert runs(server) == []
    server.change_settings(default_workflow="Flow")
    in_force = statements(server)

    assert (without, beside, in_force) == (5, 5, 5)
    assert len(runs(server)) == 3
