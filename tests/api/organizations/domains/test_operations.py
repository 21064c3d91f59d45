"""Every response and refusal of the operations of organization domains, with a DNS server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.dns_server import FakeDns
from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.management import NO_ORG, OFF, PATH, Business, RefusedCall, a_business, ask, refusals
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

NO_DOMAIN = f"org_domain_{'0' * 16}"
DNS = {"organizations": {"dns": True}}
ONE = f"{PATH}/{{org}}/domains"
NAME = "acme.example"


def of_one(
    operation: str, method: str, path: str = "", body: Any = None, *, is_open: bool = False
) -> list[RefusedCall]:
    lines = [
        (1267, ask(method, f"{PATH}/{NO_ORG}/domains{path}", body), OFF),
        (8117, ask(method, f"{PATH}/acme/domains{path}", body)),
        (8118, ask(method, f"{PATH}/{NO_ORG}/domains{path}", body)),
        (8129, ask(method, f"{PATH}//domains{path}", body)),
    ]
    closed = [] if is_open else [(8180, ask(method, f"{PATH}/{{idle}}/domains{path}", body))]
    unknown = [(8154, ask(method, f"{ONE}{path}", body))] if path else []
    return refusals(operation, *lines, *closed, *unknown)


def added(business: Business, name: str = NAME, org: str = "") -> dict[str, Any]:
    path = f"{PATH}/{org or business.org}/domains"
    return answered(business.send("POST", path, {"DomainName": name}))


def at(business: Business, domain: dict[str, Any], method: str = "GET", org: str = "") -> TestResponse:
    return business.send(method, f"{PATH}/{org or business.org}/domains/{domain['Id']}")


def declared(business: Business, name: str = NAME) -> dict[str, Any]:
    """Add a domain that an administrator states to be verified."""
    domains = [{"DomainName": name, "IsVerified": True}]
    made = answered(business.send("PUT", f"{PATH}/{business.org}", {"Domains": domains}))
    return dict(made["Domains"][0])


def used(business: Business) -> TestResponse:
    domain = declared(business)
    oidc = {
        "Name": "idp", "ConnectionType": "oidc_custom", "Domain": NAME, "Issuer": "https://idp.example", "ClientId": "c",
        "ClientSecret": "s", "AuthorizationUrl": "https://idp.example/a", "TokenUrl": "https://idp.example/t",
    }  # fmt: skip
    answered(business.send("POST", f"{PATH}/{business.org}/connections", oidc))
    return at(business, domain, "DELETE")


def contested(business: Business) -> TestResponse:
    second = business.create()
    domain = added(business, org=second)
    declared(business)
    return business.send("POST", f"{PATH}/{second}/domains", {"DomainName": domain["DomainName"]})


REFUSALS: list[RefusedCall] = [
    *of_one("organization_domains.list", "GET", is_open=True),
    *of_one("organization_domains.create", "POST", body={"DomainName": NAME}),
    *refusals(
        "organization_domains.create",
        (7900, ask("POST", ONE, {"DomainName": "outlook.com"})),
        (7914, ask("POST", ONE)),
        (8157, contested),
    ),
    *of_one("organization_domains.read", "GET", f"/{NO_DOMAIN}", is_open=True),
    *of_one("organization_domains.verify", "POST", f"/{NO_DOMAIN}"),
    *refusals(
        "organization_domains.verify",
        (8156, lambda item: at(item, declared(item), "POST")),
        (8168, lambda item: at(item, added(item), "POST")),
    ),
    *of_one("organization_domains.delete", "DELETE", f"/{NO_DOMAIN}", is_open=True),
    *refusals("organization_domains.delete", (8178, used)),
]


@every_refusal(REFUSALS)
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.fixture
def business(new_tenant_server: NewTenantServer, fake_dns: FakeDns) -> Business:
    fake_dns.mail_server(NAME)
    return a_business(new_tenant_server, **DNS)


def prove(dns: FakeDns, domain: dict[str, Any]) -> None:
    dns.text(domain["DomainName"], f"gatehouse-domain-verification={domain['VerificationToken']}")


def events(business: Business) -> list[tuple[str, str]]:
    """Return the audited events of domains with their organizations."""
    work = UnitOfWork(business.tenant.services.database, business.tenant.tenant_id)
    try:
        where = audit.c.tenant_id == business.tenant.tenant_id
        rows = work.all(select(audit.c.event, audit.c.facts).where(where).order_by(audit.c.entry_id))
        return [
            (row.event.removeprefix("organization."), row.facts["org_id"]) for row in rows if ".domain_" in row.event
        ]
    finally:
        work.rollback()


@pytest.mark.both_databases
def test_domain_is_added_listed_and_removed(business: Business) -> None:
    made = added(business)
    assert re.fullmatch(r"org_domain_[A-Za-z0-9]{16}", made["Id"])
    assert re.fullmatch(r"[A-Za-z0-9]{32}", made["VerificationToken"])
    assert made == {
        "Id": made["Id"], "DomainName": NAME, "IsVerified": False, "VerificationStrategy": "dns_txt",
        "VerificationToken": made["VerificationToken"], "Status": "pending", "Reason": None,
    }  # fmt: skip
    assert answered(at(business, made)) == made
    assert answered(business.send("GET", f"{PATH}/{business.org}/domains")) == {"Data": [made]}
    assert answered(business.send("GET", f"{PATH}/{business.org}/domains", page=2)) == {"Data": []}
    assert refused(business.send("POST", f"{PATH}/{business.org}/domains", {"DomainName": "ACME.example."})) == (
        409,
        8157,
    )
    assert answered(at(business, made, "DELETE")) == {"IsDeleted": True}
    assert refused(at(business, made)) == (400, 8154)


def test_text_record_verifies_a_domain(business: Business, fake_dns: FakeDns) -> None:
    made = added(business)
    answer = at(business, made, "POST")
    assert refused(answer) == (400, 8168)
    assert made["VerificationToken"] in answer.get_json()["Description"]
    assert answered(at(business, made))["Status"] == "failed"
    prove(fake_dns, made)
    verified = answered(at(business, made, "POST"))
    assert verified == {**made, "IsVerified": True, "Status": "verified"}
    assert refused(at(business, made, "POST")) == (400, 8156)
    assert [name for name, _ in events(business)] == ["domain_added", "domain_not_proven", "domain_verified"]


def test_vanished_record_is_noticed(business: Business, fake_dns: FakeDns) -> None:
    made = added(business)
    prove(fake_dns, made)
    answered(at(business, made, "POST"))
    fake_dns.text(NAME, "v=spf1 -all")
    assert refused(at(business, made, "POST")) == (400, 8168)
    assert answered(at(business, made))["IsVerified"] is False
    assert events(business)[-1] == ("domain_lost", business.org)


def test_silent_dns_keeps_a_verified_domain(business: Business, fake_dns: FakeDns) -> None:
    made = added(business)
    prove(fake_dns, made)
    answered(at(business, made, "POST"))
    fake_dns.is_silent = True
    assert refused(at(business, made, "POST")) == (400, 8168)
    assert answered(at(business, made))["IsVerified"] is True


def test_first_verified_owner_keeps_the_domain(business: Business, fake_dns: FakeDns) -> None:
    second = business.create("Second")
    first, other = added(business), added(business, org=second)
    both = " ".join(f'"gatehouse-domain-verification={item["VerificationToken"]}"' for item in (first, other))
    prove(fake_dns, first)
    answered(at(business, first, "POST"))
    fake_dns.several_texts(NAME, both)
    assert refused(at(business, other, "POST", second)) == (409, 8157)
    assert answered(at(business, other, org=second))["IsVerified"] is False
    assert events(business)[-1] == ("domain_contested", business.org)


def test_domain_moves_once_the_former_record_is_gone(business: Business, fake_dns: FakeDns) -> None:
    second = business.create("Second")
    first, other = added(business), added(business, org=second)
    prove(fake_dns, first)
    answered(at(business, first, "POST"))
    prove(fake_dns, other)
    assert answered(at(business, other, "POST", second))["IsVerified"] is True
    assert answered(at(business, first))["Status"] == "failed"
    assert sorted(events(business)[-2:]) == [("domain_lost", business.org), ("domain_verified", second)]


def test_declared_domain_is_not_taken_by_a_record(business: Business, fake_dns: FakeDns) -> None:
    second = business.create("Second")
    other = added(business, org=second)
    declared(business)
    prove(fake_dns, other)
    assert refused(at(business, other, "POST", second)) == (409, 8157)


def test_domain_of_another_organization_is_unknown(business: Business, fake_dns: FakeDns) -> None:
    second, made = business.create("Second"), added(business)
    prove(fake_dns, made)
    for method in ("GET", "POST", "DELETE"):
        assert refused(at(business, made, method, second)) == (400, 8154), method
    assert refused(business.send("GET", f"{PATH}/{business.org}/domains/{business.org}")) == (400, 8154)


def test_domain_without_mail_server_is_refused(business: Business, fake_dns: FakeDns) -> None:
    for name in ("nomail.example", "gone.example"):
        fake_dns.text("nomail.example", "x")
        answer = business.send("POST", f"{PATH}/{business.org}/domains", {"DomainName": name})
        assert refused(answer) == (400, 7900), name
        assert "MX" in answer.get_json()["Description"]
    fake_dns.mail_server("null.example", "")
    assert refused(business.send("POST", PATH, {"Name": "x", "Domains": [{"DomainName": "null.example"}]})) == (
        400,
        7900,
    )
    fake_dns.is_silent = True
    assert refused(business.send("POST", f"{PATH}/{business.org}/domains", {"DomainName": NAME})) == (400, 7900)


@pytest.mark.both_databases
def test_records_at_once_verify_one_organization(business: Business, fake_dns: FakeDns) -> None:
    orgs = [business.create() for _ in range(8)]
    made = [added(business, org=org) for org in orgs]
    texts = " ".join(f'"gatehouse-domain-verification={item["VerificationToken"]}"' for item in made)
    fake_dns.several_texts(NAME, texts)
    acts: list[Callable[[], TestResponse]] = [
        partial(at, business, item, "POST", org) for item, org in zip(made, orgs, strict=True)
    ]
    assert Counter(domain.status_code for domain in at_once(acts)) == {200: 1, 409: 7}
