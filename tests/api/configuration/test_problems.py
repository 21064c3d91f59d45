"""`gatehouse apply` lists every problem of a file at once, and looks up what is stored in few statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.identity.administration.configuration import planner
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.sections.section import Run
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.configuration_files import applied, planned, rows

KEY = "9b2f0e6c-0d4f-4f0e-8f63-1d2a5b7c9e01"
STORED = f"""tenants:
  - name: acme
    api_key: {KEY}
    applications:
      - {{name: shop, client_id: shop, redirect_uris: ["https://a.example/cb"]}}
    roles: [{{name: editor}}]
    accounts:
      - {{email: ada@example.com, roles: [editor]}}
"""


def problems(services: IdentityServices, text: str) -> list[str]:
    """Return the keys of the problems, by line."""
    with pytest.raises(ConfigurationError) as refused:
        planned(services, text)
    with pytest.raises(ConfigurationError) as again:
        applied(services, text)
    assert again.value.problems == refused.value.problems
    return [problem.key for problem in refused.value.problems]


def test_three_mistakes_are_listed_in_one_run(own_services: IdentityServices) -> None:
    applied(own_services, STORED)
    wrong = (
        STORED.replace("client_id: shop", "client_id: store")
        .replace("roles: [editor]}", "roles: [editor, author], birth_date: tomorrow}")
    )  # fmt: skip
    assert problems(own_services, wrong) == [
        "tenants[0].applications[0].client_id",
        "tenants[0].accounts[0]",
        "tenants[0].accounts[0].roles[1]",
    ]
    assert planned(own_services, STORED).is_empty


def test_brand_must_fit_values_that_operations_set(own_services: IdentityServices) -> None:
    applied(own_services, STORED)
    tenant = own_services.directory.by_name("acme")
    assert tenant
    with UnitOfWork(own_services.database, tenant.tenant_id).separate_transaction() as work:
        tenant_writes.change(work, brand={"scene": "picture", "picture": "https://a.example/gate.webp"})
    assert problems(own_services, STORED + "    brand: {scene: dusk}\n") == ["tenants[0].brand"]


def test_each_item_of_a_section_has_its_problem(own_services: IdentityServices) -> None:
    applied(own_services, STORED)
    wrong = (
        STORED
        + """      - {email: eve@example.com, roles: [reader]}
      - {email: tim@example.com, gender: purple}
    organization_roles: [{name: owner}]
    organizations:
      - name: Initech
        domains: [{name: nowhere}]
        policies: {default_role: boss}
        members: [{account: ada@example.com, roles: [owner, boss]}, {account: nobody, roles: [owner]}]
      - {name: Globex, members: [{account: eve@example.com, roles: [chief]}]}
      - {name: "Hooli\\u200b Inc", members: [{account: nobody, roles: [owner]}]}
"""
    )
    assert problems(own_services, wrong) == [
        "tenants[0].accounts[1].roles[0]",
        "tenants[0].accounts[2]",
        "tenants[0].organizations[0].domains[0]",
        "tenants[0].organizations[0].policies",
        "tenants[0].organizations[0].members[0]",
        "tenants[0].organizations[0].members[1].account",
        "tenants[0].organizations[1].members[0]",
        "tenants[0].organizations[2].members[0].account",
        "tenants[0].organizations[2].name",
    ]


def test_problems_of_every_tenant_are_listed(own_services: IdentityServices) -> None:
    applied(own_services, STORED.replace("- name: acme", "- name: acme\n    settings: {two_factor: required}"))
    text = f"""tenants:
  - {{name: acme, accounts: [{{email: ada@example.com, roles: [author]}}]}}
  - {{name: globex, api_key: {KEY}, settings: {{captcha: {{provider: hcaptcha, site_key: public}}}}}}
"""
    assert problems(own_services, text) == [
        "tenants[0].accounts[0].roles[0]",
        "tenants[1].api_key",
        "tenants[1].captcha_secret",
    ]
    assert rows(own_services, "tenants", "globex") == []


def statements(services: IdentityServices, text: str) -> int:
    """Return how many statements the plan of a file needs."""
    work = UnitOfWork(services.database, LOOKUP_TENANT)
    try:
        (tenant,) = planner.plan_tenants(Run(services, work, read(text.encode(), "f.yaml", Path()), prune=False))
        assert tenant.problems == []
        return work.cost.statements
    finally:
        work.rollback()


def company(size: int) -> str:
    """Return a file with an organization of so many members."""
    emails = [f"person-{number}@example.com" for number in range(size)]
    accounts = "".join(
        f"      - {{email: {email}, username: {email[:-12]}, email_verified: true}}\n" for email in emails
    )
    members = "".join(f"          - {{account: {email}, roles: [staff]}}\n" for email in emails)
    return (
        "tenants:\n  - name: acme\n    organization_roles: [{name: staff}]\n"
        f"    accounts:\n{accounts}    organizations:\n      - name: Initech\n        members:\n{members}"
    )


@pytest.mark.both_databases
def test_plan_of_500_accounts_needs_few_statements(own_services: IdentityServices) -> None:
    small, large = company(2), company(500)
    assert statements(own_services, large) == statements(own_services, small)
    applied(own_services, large)
    assert statements(own_services, large) == statements(own_services, small) < 40
    assert planned(own_services, large).is_empty
