"""Domains that several organizations claim, or whose record is gone: the reason in each claim, and the emails to owners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.identity.directory.accounts.tables import accounts
from app.identity.directory.organizations.domains import domain_verification
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.fakes.dns_server import FakeDns
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

NAME, PREFIX = "globex.example", "gatehouse-domain-verification="
OWNER, OTHER = "owner@example.test", "rival@example.test"


@dataclass
class Claim:
    """An organization that claims the domain, and its owner's address."""

    business: Business
    org: str
    owner: str
    made: dict[str, Any]

    @property
    def record(self) -> str:
        return PREFIX + str(self.made["VerificationToken"])

    def verify(self) -> TestResponse:
        return self.business.send("POST", f"{PATH}/{self.org}/domains/{self.made['Id']}")

    def state(self) -> tuple[str, str | None]:
        shown = answered(self.business.send("GET", f"{PATH}/{self.org}/domains/{self.made['Id']}"))
        return shown["Status"], shown["Reason"]

    def mails(self) -> list[dict[str, Any]]:
        return mails_to(self.business.tenant.services, self.business.tenant.tenant_id, self.owner)

    @property
    def tenant(self) -> str:
        return self.business.tenant.name.title()

    def subjects(self) -> list[str]:
        return [mail["subject"] for mail in self.mails()]


def claim(business: Business, name: str, owner: str) -> Claim:
    org = business.create(name)
    owning = [
        item["Id"]
        for item in answered(business.send("GET", "/v2/manage/permissions"))["Data"]
        if item["Name"] == "org:own"
    ]
    permission = owning[0] if owning else business.permission("org:own")
    uid = business.member(org, business.role(org=org, permissions=(permission,)), email=owner)
    business.tenant.update(uid, {"EmailVerified": True})
    made = answered(business.send("POST", f"{PATH}/{org}/domains", {"DomainName": NAME}))
    return Claim(business, org, owner, made)


def publish(dns: FakeDns, *claims: Claim) -> None:
    """Let the domain have the records of these claims alone."""
    texts = " ".join(f'"{item.record}"' for item in claims)
    dns.several_texts(NAME, texts or '"v=spf1 -all"')


@pytest.fixture
def business(new_tenant_server: NewTenantServer, fake_dns: FakeDns) -> Business:
    fake_dns.mail_server(NAME)
    return a_business(new_tenant_server, organizations={"dns": True})


@pytest.fixture
def first(business: Business) -> Claim:
    return claim(business, "Globex", OWNER)


@pytest.fixture
def second(business: Business) -> Claim:
    return claim(business, "Hazel", OTHER)


def test_missing_record_is_the_reason(first: Claim, fake_dns: FakeDns) -> None:
    assert first.state() == ("pending", None)
    assert refused(first.verify()) == (400, 8168)
    assert first.state() == ("failed", "record_missing")
    publish(fake_dns, first)
    answered(first.verify())
    assert first.state() == ("verified", None)
    assert first.mails() == []


def test_first_record_wins_and_other_claims_get_the_reason(first: Claim, second: Claim, fake_dns: FakeDns) -> None:
    publish(fake_dns, first)
    answered(first.verify())
    assert second.state() == ("failed", "verified_elsewhere")
    assert second.subjects() == [f"Another organization on {second.tenant} verified {NAME}"]
    assert "Globex" not in second.mails()[0]["html"]
    assert f"/organizations/domains?id={second.org}" in second.mails()[0]["html"]
    assert first.mails() == []


@pytest.mark.both_databases
def test_contested_domain_stays_with_its_first_owner(first: Claim, second: Claim, fake_dns: FakeDns) -> None:
    publish(fake_dns, first)
    answered(first.verify())
    publish(fake_dns, first, second)
    answer = second.verify()
    assert refused(answer) == (409, 8157)
    assert "Another organization has verified" in answer.text
    assert "Globex" not in answer.text
    assert second.state() == ("failed", "verified_elsewhere")
    assert first.state() == ("verified", "contested")
    assert first.subjects() == [f"Another organization on {first.tenant} tried to verify {NAME}"]
    assert "Hazel" not in first.mails()[0]["html"]
    assert refused(first.verify()) == (400, 8156)
    assert first.state() == ("verified", None)


def test_owners_get_one_email_a_day(first: Claim, second: Claim, fake_dns: FakeDns) -> None:
    clock: Any = first.business.tenant.services.clock
    publish(fake_dns, first)
    answered(first.verify())
    publish(fake_dns, first, second)
    for _ in range(3):
        assert refused(second.verify()) == (409, 8157)
    assert len(first.mails()) == 1
    clock.advance(hours=23)
    second.verify()
    assert len(first.mails()) == 1
    clock.advance(hours=2)
    second.verify()
    assert len(first.mails()) == 2


def test_taken_over_domain_is_lost_by_its_former_owner(first: Claim, second: Claim, fake_dns: FakeDns) -> None:
    publish(fake_dns, first)
    answered(first.verify())
    publish(fake_dns, second)
    answered(second.verify())
    assert (first.state(), second.state()) == (("failed", "record_lost"), ("verified", None))
    assert first.subjects() == [f"{NAME} is no longer verified on {first.tenant}"]


def test_vanished_record_is_noticed_at_next_verification(first: Claim, fake_dns: FakeDns) -> None:
    publish(fake_dns, first)
    answered(first.verify())
    publish(fake_dns)
    assert first.state() == ("verified", None)
    assert refused(first.verify()) == (400, 8168)
    assert first.state() == ("failed", "record_lost")
    assert refused(first.verify()) == (400, 8168)
    assert first.state() == ("failed", "record_lost")
    assert first.subjects() == [f"{NAME} is no longer verified on {first.tenant}"]
    publish(fake_dns, first)
    answered(first.verify())
    assert first.state() == ("verified", None)


def test_unverified_owner_address_gets_no_email(first: Claim, second: Claim, fake_dns: FakeDns) -> None:
    tenant = first.business.tenant
    found = answered(tenant.send("GET", "/identity/v2/manage/account", email=OTHER))
    tenant.update(found["Uid"], {"EmailVerified": False})
    publish(fake_dns, first)
    answered(first.verify())
    assert second.mails() == []


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("column", [{"is_active": False}, {"login_disabled": True}], ids=["blocked", "disabled"])
def test_owner_who_cannot_sign_in_gets_no_email(
    first: Claim, second: Claim, fake_dns: FakeDns, column: dict[str, bool]
) -> None:
    tenant = first.business.tenant
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(
            update(accounts).where(accounts.c.tenant_id == tenant.tenant_id, accounts.c.email == OTHER).values(column)
        )
    publish(fake_dns, first)
    answered(first.verify())
    assert second.state() == ("failed", "verified_elsewhere")
    assert second.mails() == []


def test_deactivated_organization_gets_no_email(first: Claim, second: Claim, fake_dns: FakeDns) -> None:
    second.business.deactivate(second.org)
    publish(fake_dns, first)
    answered(first.verify())
    assert second.mails() == []


@pytest.mark.both_databases
def test_domain_added_by_another_meanwhile_is_taken(
    first: Claim, second: Claim, fake_dns: FakeDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(fake_dns, first)
    business, lock = first.business, domain_verification._locked_claims
    other = business.create("Initech")
    body = {"Domains": [{"DomainName": NAME, "IsVerified": True}]}

    def locked(*values: Any) -> Any:
        is_sqlite = business.tenant.services.database.is_sqlite  # there the lock stops every other writer
        if is_sqlite:
            answered(business.send("PUT", f"{PATH}/{other}", body))
        found = lock(*values)
        if not is_sqlite:
            answered(business.send("PUT", f"{PATH}/{other}", body))
        return found

    monkeypatch.setattr(domain_verification, "_locked_claims", locked)
    assert refused(first.verify()) == (409, 8157)
    monkeypatch.undo()
    assert first.state()[0] != "verified"
    assert refused(second.verify()) == (400, 8168)
