"""Owners add, verify and remove domains of their organizations: the rules hold after DNS answered, and the audit log names the owner."""

from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import select

from app.contract import errors
from app.identity.pages_api.organizations.domains import MAX_DOMAINS
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.dns_server import FakeDns
from tests.support.organizations.management import PATH
from tests.support.organizations.members import Team, refused
from tests.support.races import at_once
from tests.support.tenants.tenant_server import answered

NAME = "globex.example"


@pytest.fixture
def owned(team: Team, fake_dns: FakeDns) -> Team:
    team.company.world.change_settings(organizations={"dns": True})
    fake_dns.mail_server(NAME)
    return team


def domains(team: Team) -> list[str]:
    return [item["DomainName"] for item in domains_of(team)]


def domains_of(team: Team) -> list[dict[str, str]]:
    found: list[dict[str, str]] = answered(team.company.business.send("GET", f"{PATH}/{team.org}/domains"))["Data"]
    return found


def test_owner_who_stepped_down_during_dns_adds_nothing(
    owned: Team, fake_dns: FakeDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, answer = owned.people["owner"], fake_dns.answer

    def slow(wire: bytes) -> bytes:
        if fake_dns.questions == 0:
            owned.company.leave(owner, owned.org, owned.roles["Owner"])
        return answer(wire)

    answered(owned.company.business.assign(owner.uid, owned.org, owned.roles["Manager"]))
    monkeypatch.setattr(fake_dns, "answer", slow)
    assert owned.send("owner", "/domains/add", Name=NAME) == refused(errors.UnknownOrganization)
    assert domains(owned) == []


@pytest.mark.both_databases
def test_limit_of_domains_holds_for_simultaneous_requests(owned: Team, fake_dns: FakeDns) -> None:
    for number in range(MAX_DOMAINS - 2):
        body = {"DomainName": f"d{number}.example"}
        fake_dns.mail_server(body["DomainName"])
        answered(owned.company.business.send("POST", f"{PATH}/{owned.org}/domains", body))
    names = [f"late{number}.example" for number in range(6)]
    for name in names:
        fake_dns.mail_server(name)
    results = at_once([partial(owned.send, "owner", "/domains/add", Name=item) for item in names])
    assert sorted(results, key=str) == [(200, None)] * 2 + [refused(errors.TooManyDomains)] * 4
    assert len(domains(owned)) == MAX_DOMAINS


@pytest.mark.both_databases
def test_changes_of_domains_are_audited_with_the_owner(
    owned: Team, fake_dns: FakeDns, services: IdentityServices
) -> None:
    assert owned.send("owner", "/domains/add", Name=NAME) == (200, None)
    (domain,) = domains_of(owned)
    assert owned.send("owner", "/domains/verify", Domain=domain["Id"]) == refused(errors.DomainNotProven)
    fake_dns.text(NAME, f"gatehouse-domain-verification={domain['VerificationToken']}")
    assert owned.send("owner", "/domains/verify", Domain=domain["Id"]) == (200, None)
    assert owned.send("owner", "/domains/remove", Domain=domain["Id"]) == (200, None)
    tenant_id = owned.company.world.tenant_id
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        where = (audit.c.tenant_id == tenant_id, audit.c.event.like("organization.domain%"))
        rows = work.all(select(audit.c.event, audit.c.uid).where(*where).order_by(audit.c.entry_id))
    assert [row.event.partition("domain_")[2] for row in rows] == ["added", "not_proven", "verified", "removed"]
    assert {row.uid for row in rows} == {owned.people["owner"].uid}
