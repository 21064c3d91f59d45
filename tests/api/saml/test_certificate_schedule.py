"""The worker publishes the next certificate before the current one expires, once, and activates nothing."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.saml.saml_operations import CLIENTS, PROVIDERS
from app.identity.administration import next_saml_certificates
from app.identity.assembly.certificate_schedule import CertificateSchedule
from app.identity.platform import audit
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.organizations.connections import OIDC, certificate
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.races import at_once
from tests.support.services.identity_service import pass_time
from tests.support.tenants.callers import call_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered

LIFETIME = 3_650


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    """Return a tenant with a SAML client, a SAML provider, a SAML connection, and what has no certificate."""
    made = a_business(new_tenant_server)
    token = machine(made.tenant, "client:create", "provider:create", "all")
    answered(ask(made.tenant, token, "POST", "/v2/manage/saml-clients", {"AppName": "wiki"}))
    answered(ask(made.tenant, token, "POST", "/v2/manage/custom-providers/saml", {"Provider": "partner"}))
    answered(made.send("POST", f"{PATH}/{made.org}/connections", OIDC))
    body = {
        "Name": "okta", "ConnectionType": "saml_okta", "IDPEntityId": "https://okta.example", "IDPCertificate": certificate(),
    }  # fmt: skip
    answered(made.send("POST", f"{PATH}/{made.org}/connections", body))
    return made


def work_of(business: Business) -> UnitOfWork:
    with call_of(business.tenant.services, business.tenant.name) as context:
        return UnitOfWork(business.tenant.services.database, context.tenant.tenant_id)


def visit(business: Business) -> int:
    """Let a worker of its own look at this tenant."""
    services = business.tenant.services
    return next_saml_certificates.publish_due(lambda: services, work_of(business), services.clock.now())


def expiring(business: Business) -> list[tuple[str, bool]]:
    work = work_of(business)
    try:
        found = next_saml_certificates.expiring(work, business.tenant.services.clock.now())
    finally:
        work.rollback()
    return sorted((one.holder.split("conn_")[0], one.has_next) for one in found)


def entries(business: Business) -> list[tuple[str, str | None]]:
    """Return the audit entries of certificates, and who acted."""
    with call_of(business.tenant.services, business.tenant.name) as context:
        rows = audit.latest(context.work, 50)
    return sorted((row.event, row.facts.get("act")) for row in rows if "certificate" in row.event)


def items(business: Business) -> list[dict[str, Any]]:
    with call_of(business.tenant.services, business.tenant.name) as context:
        access = StoreAccess.of(context)
        return [item.content for resource in (CLIENTS, PROVIDERS) for item in SHARED_TABLE.items(access, resource)]


HOLDERS = ["SAML client wiki", "SAML provider partner", "connection "]


def test_certificate_far_from_expiry_is_left_alone(business: Business) -> None:
    pass_time(business.tenant.services, days=LIFETIME - 100)
    assert expiring(business) == []
    assert visit(business) == 0
    assert entries(business) == []


@pytest.mark.both_databases
def test_next_certificates_are_published_once(business: Business) -> None:
    before = items(business)
    pass_time(business.tenant.services, days=LIFETIME - 80)
    assert expiring(business) == [(holder, False) for holder in HOLDERS]
    assert sum(at_once([lambda: visit(business)] * 3)) >= 3
    assert expiring(business) == [(holder, True) for holder in HOLDERS]
    assert entries(business) == [
        ("organization.connection_next_certificate_created", "schedule"),
        ("saml_clients.create_next_certificate", "schedule"),
        ("saml_providers.create_next_certificate", "schedule"),
    ]
    assert visit(business) == 0
    after = items(business)
    assert [{**item, "next_certificate": 0} for item in before] == [{**item, "next_certificate": 0} for item in after]
    pass_time(business.tenant.services, days=100)
    assert visit(business) == 0, "nothing is activated, even after the end"
    assert items(business) == after


def test_expired_certificate_gets_a_next_one_too(business: Business) -> None:
    pass_time(business.tenant.services, days=LIFETIME + 1)
    assert visit(business) == 3
    assert expiring(business) == [(holder, True) for holder in HOLDERS]


def test_organization_that_is_turned_off_hinders_no_other(business: Business) -> None:
    answered(business.send("PUT", f"{PATH}/{business.org}/status", {"Active": False}))
    pass_time(business.tenant.services, days=LIFETIME - 1)
    assert visit(business) == 2
    assert expiring(business) == [(HOLDERS[0], True), (HOLDERS[1], True), (HOLDERS[2], False)]


@pytest.mark.database_alone
def test_schedule_visits_every_tenant(business: Business, new_tenant_server: NewTenantServer) -> None:
    services = business.tenant.services
    other = new_tenant_server()
    token = machine(other, "client:create")
    answered(ask(other, token, "POST", "/v2/manage/saml-clients", {"AppName": "other"}))
    pass_time(services, days=LIFETIME - 10)
    schedule, now = CertificateSchedule(services.database, lambda: services), services.clock.now()
    assert sum(schedule.turn(now) for _ in range(40)) >= 4
    assert expiring(business) == [(holder, True) for holder in HOLDERS]
    assert schedule.turn(now + CertificateSchedule.interval / 2) == 0
