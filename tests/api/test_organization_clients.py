"""Servers call the operations of organizations with a client's id and secret in the query."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit import UnitOfWork
from tests.support.machines import SECRET, machine
from tests.support.organizations import PATH
from tests.support.tenant_server import NewTenantServer, TenantServer, answered, refused


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


def client_of(tenant: TenantServer, *scopes: str) -> str:
    """Register a client with these scopes and return its id."""
    before = clients_of(tenant)
    machine(tenant, *scopes)
    return (clients_of(tenant) - before).pop()


def clients_of(tenant: TenantServer) -> set[str]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    where = applications.c.tenant_id == tenant.tenant_id
    try:
        return {row.client_id for row in work.all(select(applications.c.client_id).where(where))}
    finally:
        work.rollback()


def ask(tenant: TenantServer, client_id: str, method: str = "GET", body: Any = None, **query: Any) -> TestResponse:
    credentials = {"apikey": None, "clientID": client_id, "clientSecret": SECRET}
    return tenant.send(method, PATH, body, with_secret=False, **{**credentials, **query})


@pytest.mark.both_databases
def test_pair_with_the_scope_is_admitted(tenant: TenantServer) -> None:
    client = client_of(tenant, "organization:read")
    assert answered(ask(tenant, client)) == {"Data": []}
    assert answered(ask(tenant, client, apikey=tenant.api_key)) == {"Data": []}
    assert refused(ask(tenant, client, "POST", {"Name": "x"})) == (403, 6002)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(
    "query",
    [{"clientSecret": "wrong"}, {"clientSecret": None}, {"clientID": "unknown"}, {"clientID": None}],
    ids=str,
)
def test_wrong_pair_is_refused(tenant: TenantServer, query: dict[str, Any]) -> None:
    client = client_of(tenant, "all")
    for key in (None, tenant.api_key):
        assert refused(ask(tenant, client, **{"apikey": key, **query})) == (403, 6002)


def test_pair_opens_its_own_tenant_alone(tenant: TenantServer, new_tenant_server: NewTenantServer) -> None:
    client, other = client_of(tenant, "all"), new_tenant_server()
    assert answered(ask(tenant, client, "POST", {"Name": "Acme"}))["Name"] == "Acme"
    assert refused(ask(other, client, apikey=other.api_key)) == (403, 6002)
    assert answered(other.send("GET", PATH)) == {"Data": []}


def test_pair_is_no_credential_of_other_operations(tenant: TenantServer) -> None:
    client = client_of(tenant, "all")
    answer = tenant.send(
        "GET",
        "/identity/v2/manage/account",
        with_secret=False,
        email="a@b.example",
        clientID=client,
        clientSecret=SECRET,
    )
    assert refused(answer) == (400, 923)


def test_pair_may_not_state_that_a_domain_is_verified(tenant: TenantServer) -> None:
    client = client_of(tenant, "all")
    body = {"Name": "Acme", "Domains": [{"DomainName": "acme.example", "IsVerified": True}]}
    assert refused(ask(tenant, client, "POST", body)) == (400, 7900)
    assert answered(ask(tenant, client, "POST", {**body, "Domains": [{"DomainName": "acme.example"}]}))["Domains"]


def test_guessed_pairs_of_one_network_are_limited(tenant: TenantServer) -> None:
    client = client_of(tenant, "all")
    answers = [ask(tenant, client, clientSecret=f"guess {number}", apikey=None) for number in range(201)]
    assert {refused(one) for one in answers[:200]} == {(403, 6002)}
    assert refused(answers[200]) == (429, 429)


def test_secret_beside_the_pair_decides(tenant: TenantServer) -> None:
    answer = tenant.send("GET", PATH, clientID="unknown", clientSecret="wrong")
    assert answered(answer) == {"Data": []}
    assert refused(tenant.send("GET", PATH, clientID="x", apisecret="wrong")) == (401, 902)
