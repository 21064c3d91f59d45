"""The domains of an organization on its owners' pages."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest

from tests.support.fakes.dns_server import FakeDns
from tests.support.journeys.account_security import signed_in
from tests.support.oauth.world import World
from tests.support.organizations.management import PATH
from tests.support.organizations.members import Company
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

NAME = "globex.example"


@dataclass
class Owned:
    """An organization that Ada owns, and her browser."""

    company: Company
    org: str
    visitor: Visitor
    dns: FakeDns

    def open(self, path: str = "", **query: str) -> VisitedPage:
        values = {"id": self.org, **query}
        return self.visitor.open(f"/organizations/domains{path}?{urlencode(values)}")

    def add(self, name: str = NAME) -> VisitedPage:
        return self.open("/add").press("Add domain", name=name)

    def publish(self, page: VisitedPage) -> None:
        """Add the record that the page shows to the domain."""
        (record,) = re.findall(r"gatehouse-domain-verification=\w+", html.unescape(page.html))
        self.dns.text(NAME, record)

    def other(self) -> str:
        """Let another organization verify the domain; return its id."""
        business = self.company.business
        org = business.create("Hazel")
        made = answered(business.send("POST", f"{PATH}/{org}/domains", {"DomainName": NAME}))
        self.dns.text(NAME, f"gatehouse-domain-verification={made['VerificationToken']}")
        answered(business.send("POST", f"{PATH}/{org}/domains/{made['Id']}"))
        return org


@pytest.fixture
def owned(company: Company, world: World, visitor: Visitor, fake_dns: FakeDns) -> Owned:
    world.change_settings(organizations={"dns": True})
    org = company.business.create("Globex Gardens")
    company.join(company.ada, org, "Owner", "org:own")
    fake_dns.mail_server(NAME)
    signed_in(visitor, company.ada, "/profile")
    return Owned(company, org, visitor, fake_dns)


@pytest.mark.both_databases
def test_owner_adds_verifies_and_removes_a_domain(owned: Owned) -> None:
    page = owned.visitor.open(f"/organizations/members?id={owned.org}").follow("Domains")
    assert page.topic == "Domains for Globex Gardens"
    assert "No domains yet." in page.text
    page = page.follow("Add domain").press("Add domain", name=" Globex.Example ")
    assert "Domain added" in page.text
    assert f"{NAME} Pending" in page.text
    assert "TXT" in page.text
    missing = page.press("Verify")
    assert "We couldn’t find the TXT record" in missing.text
    assert "Record not found" in missing.text
    owned.publish(missing)
    verified = missing.press("Verify")
    assert "Domain verified" in verified.text
    assert "gatehouse-domain-verification" not in verified.html
    assert "Domain still verified" in verified.press("Verify again").text
    removed = verified.follow("Remove").press("Remove domain")
    assert "Domain removed" in removed.text
    assert NAME not in removed.text


def test_newest_record_is_first_and_alone_open(owned: Owned) -> None:
    for name in ("a.example", "b.example"):
        owned.dns.mail_server(name)
        page = owned.add(name)
    assert re.findall(r"<details class=\"dns\"( open)?>", page.html) == [" open", ""]
    assert re.findall(r'id="name-[^"]+">([a-z.]+)<', page.html) == ["b.example", "a.example"]


def test_domain_to_verify_comes_before_verified_ones(owned: Owned) -> None:
    owned.publish(owned.add())
    owned.open().press("Verify")
    owned.dns.mail_server("new.example")
    page = owned.add("new.example")
    assert re.findall(r'class="tagged"><bdi>([a-z.]+)<', page.html) == ["new.example", NAME]
    assert re.search(r'class="dns" open>.+new\.example', page.html)


def test_domain_with_a_problem_needs_attention_first(owned: Owned) -> None:
    owned.add()
    assert "Needs attention" not in owned.open().text
    owned.open().press("Verify")
    owned.dns.mail_server("new.example")
    page = owned.add("new.example")
    assert re.findall(r'id="group-\d">([A-Za-z ]+)<', page.html) == ["Needs attention", "To verify"]
    assert re.findall(r'class="tagged"><bdi>([a-z.]+)<', page.html) == [NAME, "new.example"]
    assert re.search(r'class="dns" open>.+new\.example', page.html)


def test_vanished_record_is_shown_and_mended(owned: Owned) -> None:
    page = owned.add()
    owned.publish(page)
    verified = page.press("Verify")
    assert "Keep the TXT record in place" in verified.text
    owned.dns.text(NAME, "v=spf1 -all")
    assert "No longer verified" not in owned.open().text
    lost = verified.press("Verify again")
    assert "No longer verified" in lost.text
    assert "now need an invitation to join" in lost.text
    owned.publish(lost)
    assert "Domain verified" in lost.press("Verify").text


@pytest.mark.both_databases
def test_claim_that_another_organization_won_names_the_reason(owned: Owned) -> None:
    page = owned.add()
    owned.other()
    shown = owned.open()
    assert "Already in use" in shown.text
    assert "Hazel" not in shown.text
    assert "gatehouse-domain-verification" not in shown.html
    (mine,) = re.findall(r"gatehouse-domain-verification=\w+", page.html)
    theirs = owned.dns.records[NAME, "TXT"].strip('"')
    owned.dns.several_texts(NAME, f'"{theirs}" "{mine}"')
    refused = page.press("Verify")
    assert "Another organization verified this domain" in refused.text
    assert "Hazel" not in refused.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gmail.com", "your organization owns"),
        ("no domain", "your organization owns"),
        ("nomail.example", "your organization owns"),
        ("ada@globex.example", "your organization owns"),
        ("", "Enter a domain."),
        ("x" * 300, "characters"),
    ],
)
def test_refused_domain_is_named_at_its_field(owned: Owned, name: str, text: str) -> None:
    page = owned.add(name)
    assert text in page.text
    assert 'aria-invalid="true"' in page.html
    assert f'value="{name}"' in page.html or not name
    assert "No domains yet." in owned.open().text


def test_domain_of_another_organization_cannot_be_added(owned: Owned) -> None:
    owned.other()
    page = owned.add()
    assert "This domain is already in use." in page.text


@pytest.mark.both_databases
def test_domain_of_a_connection_cannot_be_removed(owned: Owned) -> None:
    page = owned.add()
    owned.publish(page)
    page.press("Verify")
    connection = {
        "Name": "idp", "Domain": NAME, "ConnectionType": "oidc_custom", "Issuer": "https://idp.example", "ClientId": "c",
        "ClientSecret": "s", "AuthorizationUrl": "https://idp.example/a", "TokenUrl": "https://idp.example/t",
    }  # fmt: skip
    business = owned.company.business
    answered(business.send("POST", f"{PATH}/{owned.org}/connections", connection))
    shown = owned.open()
    assert "Used by a sign-in connection." in shown.text
    assert "/domains/remove" not in shown.html
    (stored,) = answered(business.send("GET", f"{PATH}/{owned.org}/domains"))["Data"]
    refused = owned.visitor.open(f"/organizations/domains/remove?id={owned.org}-{stored['Id']}")
    assert "Ask your administrator to remove the connection first." in refused.text


def test_limit_of_domains_is_explained(owned: Owned) -> None:
    for number in range(20):
        owned.dns.mail_server(f"d{number}.example")
        assert "Domain added" in owned.add(f"d{number}.example").text
    assert "You’ve reached the domain limit" in owned.add().text


def test_adding_and_removing_ask_for_the_password_later(owned: Owned) -> None:
    owned.add()
    pass_time(owned.company.world.services, minutes=6)
    page = owned.open("/add")
    owned.dns.mail_server("gardens.example")
    wrong = page.press("Add domain", name="gardens.example", password="wrong")
    assert "Wrong password." in wrong.text
    assert "Domain added" in wrong.press("Add domain", password=owned.company.ada.password).text
    assert "We couldn’t find the TXT record" in owned.open().press("Verify").text


def test_others_do_not_see_the_domains(owned: Owned, world: World, new_visitor: NewVisitor) -> None:
    bob, manager = world.person("bob@example.test"), new_visitor()
    owned.company.join(bob, owned.org, "Manager", "org:manage")
    signed_in(manager, bob, "/profile")
    assert "Domains" not in manager.open(f"/organizations/members?id={owned.org}").text
    for path in ("", "/add"):
        page = manager.open(f"/organizations/domains{path}?id={owned.org}")
        assert page.heading == "Organizations"
    outsider = new_visitor().open(f"/organizations/domains?id={owned.org}")
    assert outsider.is_sign_in
    added = owned.add()
    foreign = owned.company.business.create("Hazel")
    owned.company.join(bob, foreign, "Owner", "org:own")
    form = added.form("Verify")
    key = form.fields["domain"].replace(owned.org, foreign)
    token = manager.open(f"/organizations/domains/add?id={foreign}").form("Add domain").fields["token"]
    sent = manager.send("POST", f"{manager.home}/organizations/domains/verify", {"domain": key, "token": token})
    assert "Domain verified" not in sent.text


def test_tab_needs_dns(owned: Owned, world: World) -> None:
    world.change_settings(organizations={"dns": False})
    pass_time(owned.company.world.services, seconds=5)
    assert owned.open().heading == "Organizations"
