"""Workflows that compare the organization: they see the one that the tokens name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.organizations.connections import OIDC
from tests.support.organizations.management import PATH
from tests.support.organizations.members import Company, organization_in
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor
from tests.support.workflows.drawings import Drawing, node
from tests.support.workflows.running import DENIAL, denying, runs, stored


@pytest.fixture
def globex(company: Company) -> str:
    """An organization of Ada, her only one until a test adds others."""
    org = company.business.create("Globex Gardens")
    company.join(company.ada, org, "Editor")
    return org


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def application(company: Company, drawn: Drawing, usage: str = "require") -> RelyingParty:
    stored(company.business.tenant, drawn)
    return company.world.application("Crm", workflows=["Flow"], organization_usage=usage)


def by_password(page: VisitedPage, company: Company) -> VisitedPage:
    return page.press("Sign in", identifier=company.ada.email, password=company.ada.password)


def organization_of(app: RelyingParty, page: VisitedPage) -> Any:
    return organization_in(answered(app.redeem(page.query["code"]))["id_token"]).get("org_id")


def denying_all_but(org: str) -> Drawing:
    return denying(f"not organization.id == '{org}'")


@pytest.mark.both_databases
@pytest.mark.parametrize("is_signed_in", [False, True])
def test_only_organization_is_seen(company: Company, globex: str, visitor: Visitor, is_signed_in: bool) -> None:
    app = application(company, denying_all_but(globex))
    if is_signed_in:
        by_password(visitor.open("/login"), company)
        page = visitor.authorize(app)
    else:
        page = by_password(visitor.authorize(app), company)
    assert organization_of(app, page) == globex
    assert [run["outcome"] for run in runs(company.business.tenant)] == ["passed"]


@pytest.mark.parametrize("is_signed_in", [False, True])
def test_only_organization_is_denied(company: Company, globex: str, visitor: Visitor, is_signed_in: bool) -> None:
    app = application(company, denying(f"organization.id == '{globex}'"))
    if is_signed_in:
        by_password(visitor.open("/login"), company)
        assert visitor.authorize(app).query["error"] == "access_denied"
    else:
        assert DENIAL["en"] in by_password(visitor.authorize(app), company).text


@pytest.mark.both_databases
@pytest.mark.parametrize("usage", ["require", "prompt"])
def test_choice_on_the_page_comes_first(company: Company, globex: str, visitor: Visitor, usage: str) -> None:
    company.join(company.ada, company.business.create("Initech"), "Owner")
    app = application(company, denying_all_but(globex), usage)
    page = by_password(visitor.authorize(app), company)
    assert page.heading == "Choose an organization"
    assert runs(company.business.tenant) == []
    assert page.press("Initech").query["error"] == "access_denied"
    page = visitor.authorize(app).press("Globex Gardens")
    assert organization_of(app, page) == globex
    assert [run["outcome"] for run in runs(company.business.tenant)] == ["denied", "passed"]


def test_personal_account_is_no_organization(company: Company, globex: str, visitor: Visitor) -> None:
    app = application(company, denying_all_but(globex), "prompt")
    page = by_password(visitor.authorize(app), company)
    assert page.press("Personal account").query["error"] == "access_denied"


def test_unused_organization_is_not_seen(company: Company, globex: str, visitor: Visitor) -> None:
    app = application(company, denying(f"organization.id == '{globex}'"), "allow")
    assert organization_of(app, by_password(visitor.authorize(app), company)) is None


def test_risk_after_a_choice_signs_in_once_more(company: Company, globex: str, visitor: Visitor) -> None:
    company.join(company.ada, company.business.create("Initech"), "Owner")
    drawn = denying_all_but(globex)
    drawn["nodes"].append(node("risk", "Risk", medium=[], high=["country"]))
    drawn["edges"][1]["target"] = "risk"
    drawn["edges"] += [
        {"id": f"risk {output}", "source": "risk", "sourceHandle": output, "target": "new"}
        for output in ("low", "medium", "high")
    ]
    app = application(company, drawn)
    page = by_password(visitor.authorize(app), company).press("Globex Gardens")
    assert page.heading == "Confirm it’s you"
    assert organization_of(app, page.press("Continue", password=company.ada.password)) == globex


@pytest.mark.both_databases
def test_organization_joined_by_the_sign_in_is_seen(company: Company, visitor: Visitor) -> None:
    business, domain = company.business, company.ada.email.partition("@")[2]
    org = business.create("Globex Gardens", Domains=[{"DomainName": domain, "IsVerified": True}])
    answered(business.send("POST", f"{PATH}/{org}/connections", OIDC))
    policies = {"JITPolicy": {"Enabled": True}, "MemberPolicy": {"DefaultMemberRole": business.role("Editor", org=org)}}
    answered(business.send("PUT", f"{PATH}/{org}/policy", policies))
    app = application(company, denying_all_but(org))
    assert organization_of(app, by_password(visitor.authorize(app), company)) == org
