"""Machine tokens authorize management operations by scope, in place of the API key and secret."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from app.identity.directory.tenants.tables import applications, tenants
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

REFRESH = f"{MANAGE}/access_token/refresh"


@pytest.fixture
def uid(acme: TenantServer) -> str:
    made = acme.create(Email=[{"Type": "Primary", "Value": "ada@example.test"}], FirstName="Ada")
    return str(made["Uid"])


def test_scope_allows_only_its_operations(acme: TenantServer, uid: str) -> None:
    reader = machine(acme, "profile:read")
    for path, query in ((MANAGE, {"email": "ada@example.test"}), (f"{MANAGE}/{uid}", {})):
        assert answered(ask(acme, reader, "GET", path, **query))["Uid"] == uid
    others = [
        ask(acme, reader, "POST", MANAGE, {"Password": "Zebra-kettle-91", "UserName": "eve"}),
        ask(acme, reader, "PUT", f"{MANAGE}/{uid}", {"FirstName": "Eve"}),
        ask(acme, reader, "DELETE", f"{MANAGE}/{uid}"),
        ask(acme, reader, "GET", f"{MANAGE}/access_token", uid=uid),
        ask(acme, reader, "DELETE", f"{MANAGE}/{uid}/access_token/refresh/revoke"),
    ]
    assert {refused(answer) for answer in others} == {(403, 6002)}
    assert acme.read(uid)["FirstName"] == "Ada"


def test_write_scopes_allow_writing_and_no_reading(acme: TenantServer, uid: str) -> None:
    writer = machine(acme, "profile:create", "profile:update", "profile:delete")
    made = answered(ask(acme, writer, "POST", MANAGE, {"Password": "Zebra-kettle-91", "UserName": "grace"}))
    changed = answered(ask(acme, writer, "PUT", f"{MANAGE}/{made['Uid']}", {"FirstName": "Grace"}))
    assert changed["FirstName"] == "Grace"
    assert answered(ask(acme, writer, "DELETE", f"{MANAGE}/{made['Uid']}"))["IsDeleted"] is True
    assert refused(ask(acme, writer, "GET", f"{MANAGE}/{uid}")) == (403, 6002)


def test_scope_all_allows_impersonation(acme: TenantServer, uid: str) -> None:
    assert refused(ask(acme, machine(acme, "profile:update"), "GET", f"{MANAGE}/access_token", uid=uid)) == (403, 6002)
    token = machine(acme, "all")
    issued = answered(ask(acme, token, "GET", f"{MANAGE}/access_token", uid=uid))
    assert answered(ask(acme, token, "GET", REFRESH, refresh_token=issued["refresh_token"]))["access_token"]


def test_api_key_beside_token_must_be_of_same_tenant(acme: TenantServer, globex: TenantServer, uid: str) -> None:
    token = machine(acme, "profile:read")
    assert answered(ask(acme, token, "GET", f"{MANAGE}/{uid}", apikey=acme.api_key))["Uid"] == uid
    assert refused(ask(acme, token, "GET", f"{MANAGE}/{uid}", apikey=globex.api_key)) == (403, 6002)


@pytest.mark.both_databases
def test_account_of_another_tenant_is_not_found(acme: TenantServer, globex: TenantServer, uid: str) -> None:
    assert refused(ask(acme, machine(globex, "all"), "GET", f"{MANAGE}/{uid}")) == (403, 984)


def test_key_and_secret_work_beside_any_authorization_header(acme: TenantServer, uid: str) -> None:
    secret: dict[str, Any] = {"apisecret": acme.api_secret}
    assert answered(acme.send("GET", f"{MANAGE}/{uid}", bearer="of something else", **secret))["Uid"] == uid
    assert refused(acme.send("GET", f"{MANAGE}/{uid}", bearer="nonsense")) == (403, 6002)
    assert refused(ask(acme, "nonsense", "GET", f"{MANAGE}/{uid}")) == (403, 6002)
    access_token = acme.tokens(uid)["access_token"]
    assert refused(ask(acme, access_token, "GET", f"{MANAGE}/{uid}")) == (403, 6002)


def test_machine_outside_allowed_ips_is_refused(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(allowed_ips=["10.0.0.0/8"])
    assert refused(ask(tenant, machine(tenant, "all"), "GET", f"{MANAGE}/absent")) == (403, 1206)


def test_machine_of_expired_trial_is_refused(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(trial_ends_at="2020-01-01T00:00:00+00:00")
    assert refused(ask(tenant, machine(tenant, "all"), "GET", f"{MANAGE}/absent")) == (403, 6003)


@pytest.mark.both_databases
def test_token_of_deactivated_machine_is_refused(acme: TenantServer, uid: str) -> None:
    token = machine(acme, "profile:read")
    answered(ask(acme, token, "GET", f"{MANAGE}/{uid}"))
    of_acme = applications.c.tenant_id == acme.tenant_id
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        stored = work.run(select(applications.c.settings).where(of_acme)).scalar_one()
        work.run(update(applications).where(of_acme).values(settings={**stored, "is_active": False}))
        work.run(update(tenants).where(tenants.c.tenant_id == acme.tenant_id).values(version=tenants.c.version + 1))
    acme.services.directory.clear_cache()
    assert refused(ask(acme, token, "GET", f"{MANAGE}/{uid}")) == (403, 6002)
