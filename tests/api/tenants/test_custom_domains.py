"""A tenant serves a domain of its own once DNS proves it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import Client, TestResponse

from app.identity.assembly.on_demand_tls import PATH, OnDemandTls
from app.identity.directory.tenants.tables import custom_hosts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.credentials.passkeys import passkey_holder
from tests.support.fakes.dns_server import FakeDns
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

DOMAINS, PASSKEYS = "/v2/manage/custom-domains", "/v2/manage/passkey-config"
SCOPES = [f"security:{item}" for item in ("read", "create", "update", "delete")] + ["all"]
Ask = Callable[..., Any]


def asker(tenant: TenantServer) -> Ask:
    token = machine(tenant, *SCOPES)
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


def problem(response: TestResponse, status: int, code: int) -> str:
    """Return the description of an error."""
    assert refused(response) == (status, code)
    return str(response.get_json()["Description"])


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(passkeys=True)


@pytest.fixture
def send(tenant: TenantServer) -> Ask:
    return asker(tenant)


@pytest.fixture
def domain() -> str:
    return f"login.{secrets.token_hex(5)}.example"


def own_host(tenant: TenantServer) -> str:
    return f"{tenant.name}.localhost"


def status_at(tenant: TenantServer, domain: str) -> int:
    """Return the status of the metadata at a host."""
    port = tenant.services.settings.hub_domain.partition(":")[2]
    tenant.services.directory.clear_cache()
    return (
        PlainClient(tenant.app).get("/.well-known/openid-configuration", base_url=f"http://{domain}:{port}").status_code
    )


def verified(send: Ask, tenant: TenantServer, dns: FakeDns, domain: str) -> dict[str, Any]:
    dns.alias(domain, own_host(tenant))
    assert answered(send("POST", DOMAINS, {"DomainName": domain}))["Status"] == "pending"
    return dict(answered(send("POST", f"{DOMAINS}/{domain}/verify")))


@pytest.mark.both_databases
def test_domain_is_served_once_its_alias_is_seen(
    send: Ask, tenant: TenantServer, fake_dns: FakeDns, domain: str
) -> None:
    added = answered(send("POST", DOMAINS, {"DomainName": domain}))
    assert (added["Status"], added["RecordType"], added["RecordValue"]) == ("pending", "CNAME", own_host(tenant))
    assert problem(send("POST", f"{DOMAINS}/{domain}/verify"), 400, 7900).startswith("DomainName: DNS has neither")
    assert status_at(tenant, domain) == 404
    fake_dns.alias(domain, "edge.example")
    fake_dns.alias("edge.example", own_host(tenant))
    shown = answered(send("POST", f"{DOMAINS}/{domain}/verify"))
    assert shown["Status"] == "verified"
    assert answered(send("GET", DOMAINS))["Data"] == [shown]
    assert status_at(tenant, domain) == 200
    assert status_at(tenant, f"www.{domain}") == 404
    assert answered(send("POST", f"{DOMAINS}/{domain}/verify")) == shown


def test_text_record_proves_a_domain_without_alias(
    send: Ask, tenant: TenantServer, fake_dns: FakeDns, domain: str
) -> None:
    added = answered(send("POST", DOMAINS, {"DomainName": domain}))
    fake_dns.text(added["TxtName"], f"{added['TxtValue']}0")
    assert refused(send("POST", f"{DOMAINS}/{domain}/verify")) == (400, 7900)
    fake_dns.text(added["TxtName"], added["TxtValue"])
    assert answered(send("POST", f"{DOMAINS}/{domain}/verify"))["Status"] == "verified"


def test_silent_dns_server_is_reported_within_its_deadline(send: Ask, fake_dns: FakeDns, domain: str) -> None:
    answered(send("POST", DOMAINS, {"DomainName": domain}))
    fake_dns.is_silent = True
    assert "gave no answer" in problem(send("POST", f"{DOMAINS}/{domain}/verify"), 400, 7900)


def test_endless_alias_is_refused(send: Ask, fake_dns: FakeDns, domain: str) -> None:
    answered(send("POST", DOMAINS, {"DomainName": domain}))
    fake_dns.alias(domain, "one.example")
    fake_dns.alias("one.example", domain)
    assert refused(send("POST", f"{DOMAINS}/{domain}/verify")) == (400, 7900)
    assert fake_dns.questions < 10


def test_removed_domain_is_served_no_longer(send: Ask, tenant: TenantServer, fake_dns: FakeDns, domain: str) -> None:
    verified(send, tenant, fake_dns, domain)
    answered(send("DELETE", f"{DOMAINS}/{domain}"))
    assert status_at(tenant, domain) == 404
    assert answered(send("GET", DOMAINS))["Data"] == []
    assert refused(send("DELETE", f"{DOMAINS}/{domain}")) == (404, 8192)
    assert refused(send("POST", f"{DOMAINS}/{domain}/verify")) == (404, 8192)


@pytest.mark.parametrize(
    "name", ["", "acme", "Login.acme.example", "-a.example", "a.example:8000", "192.0.2.1", "a..example", "*.acme.example", "a.example.",
     "münchen.example"],
)  # fmt: skip
def test_malformed_domain_is_refused(send: Ask, name: str) -> None:
    assert refused(send("POST", DOMAINS, {"DomainName": name})) == (400, 7900)


def test_names_of_the_service_are_refused(send: Ask, new_tenant_server: NewTenantServer) -> None:
    other = new_tenant_server()
    for name in ("api.localhost", own_host(other), f"login.{own_host(other)}"):
        assert refused(send("POST", DOMAINS, {"DomainName": name})) == (400, 7900)


def test_domain_cannot_be_added_twice(send: Ask, domain: str) -> None:
    answered(send("POST", DOMAINS, {"DomainName": domain}))
    assert refused(send("POST", DOMAINS, {"DomainName": domain})) == (409, 8038)


@pytest.mark.both_databases
def test_pending_domain_blocks_no_other_tenant(
    send: Ask, tenant: TenantServer, new_tenant_server: NewTenantServer, fake_dns: FakeDns, domain: str
) -> None:
    answered(send("POST", DOMAINS, {"DomainName": domain}))
    other = new_tenant_server()
    verified(asker(other), other, fake_dns, domain)
    assert refused(send("POST", f"{DOMAINS}/{domain}/verify")) == (400, 7900)
    assert status_at(other, domain) == 200


@pytest.mark.both_databases
def test_domain_moves_to_a_tenant_that_proves_it(
    send: Ask, tenant: TenantServer, new_tenant_server: NewTenantServer, fake_dns: FakeDns, domain: str
) -> None:
    verified(send, tenant, fake_dns, domain)
    other = new_tenant_server()
    theirs = asker(other)
    added = answered(theirs("POST", DOMAINS, {"DomainName": domain}))
    fake_dns.text(added["TxtName"], added["TxtValue"])
    assert refused(theirs("POST", f"{DOMAINS}/{domain}/verify")) == (409, 8038)
    assert answered(send("GET", DOMAINS))["Data"][0]["Status"] == "verified"
    fake_dns.alias(domain, own_host(other))
    assert answered(theirs("POST", f"{DOMAINS}/{domain}/verify"))["Status"] == "verified"
    assert answered(send("GET", DOMAINS))["Data"][0]["Status"] == "pending"
    with UnitOfWork(tenant.services.database, other.tenant_id).separate_transaction() as work:
        row = work.one(select(custom_hosts.c.tenant_id).where(custom_hosts.c.host == domain))
    assert row is not None
    assert row.tenant_id == other.tenant_id


def test_look_ups_of_a_tenant_are_limited(send: Ask, fake_dns: FakeDns, domain: str) -> None:
    answered(send("POST", DOMAINS, {"DomainName": domain}))
    for _ in range(30):
        assert refused(send("POST", f"{DOMAINS}/{domain}/verify")) == (400, 7900)
    requested = fake_dns.questions
    assert send("POST", f"{DOMAINS}/{domain}/verify").status_code == 429
    assert fake_dns.questions == requested


def test_effect_on_passkeys_is_shown_before_verification(
    new_tenant_server: NewTenantServer, fake_dns: FakeDns, domain: str
) -> None:
    holder = passkey_holder(new_tenant_server)
    tenant = holder.tenant
    send = asker(tenant)
    assert "No account has a passkey" in answered(send("POST", DOMAINS, {"DomainName": domain}))["PasskeyEffect"]
    holder.add_passkey()
    effect = answered(send("GET", DOMAINS))["Data"][0]["PasskeyEffect"]
    assert effect.startswith(f"1 account has passkeys, which stay bound to {own_host(tenant)}.")


def test_rp_id_changes_only_without_passkeys(
    send: Ask, tenant: TenantServer, new_tenant_server: NewTenantServer, fake_dns: FakeDns, domain: str
) -> None:
    def config(rp_id: str) -> dict[str, Any]:
        return {"IsEnabled": True, "RPID": rp_id}

    assert refused(send("PUT", PASSKEYS, config(domain))) == (400, 7900)
    verified(send, tenant, fake_dns, domain)
    parent = domain.partition(".")[2]
    for rp_id in (domain, parent, own_host(tenant)):
        shown = answered(send("PUT", PASSKEYS, config(rp_id)))
        assert shown["RPID"] == rp_id
        assert shown["RPOrigins"] == [f"http://{own_host(tenant)}:8000", f"http://{domain}:8000"]
        assert answered(send("PUT", PASSKEYS, shown)) == shown
    for rp_id in ("example", f"www.{domain}", "evil.example"):
        assert refused(send("PUT", PASSKEYS, config(rp_id))) == (400, 7900)
    holder = passkey_holder(new_tenant_server)
    holder.add_passkey()
    theirs = asker(holder.tenant)
    verified(theirs, holder.tenant, fake_dns, f"other.{domain}")
    assert "1 account has passkeys" in problem(theirs("PUT", PASSKEYS, config(f"other.{domain}")), 400, 7900)


def test_proxy_may_ask_for_certificates(send: Ask, tenant: TenantServer, fake_dns: FakeDns, domain: str) -> None:
    def status_of(query: str, method: str = "GET") -> int:
        tls = OnDemandTls(tenant.app, tenant.services.settings, tenant.services.directory)
        return Client(tls).open(f"{PATH}?{query}", method=method, base_url="http://10.0.0.9:8000").status_code

    assert status_of(f"domain={domain}") == 404
    verified(send, tenant, fake_dns, domain)
    assert [status_of(f"domain={name}") for name in (domain, own_host(tenant), "api.localhost", domain.upper())] == [
        200
    ] * 4
    assert [status_of(f"domain={name}") for name in (f"www.{domain}", "absent.localhost", "localhost")] == [404] * 3
    assert [
        status_of(query) for query in ("", f"domain={domain}&domain=x", f"domain={domain}:8000", f"domain={'a' * 500}")
    ] == [400] * 4
    assert status_of(f"domain={domain}", "POST") == 405
