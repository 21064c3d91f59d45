"""Organizations in configuration files: created, changed, exported and applied again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangeAction, ChangePlan
from tests.support.organizations.management import PATH, ROLES, Business
from tests.support.tenants.tenant_server import NewTenantServer, answered

ROLE = {"name": "Member", "description": "May see orders", "permissions": ["orders:read"], "default": True}
ADA = {"email": "ada@acme.example", "email_verified": True}
ACME: dict[str, Any] = {
    "name": "acme-ltd", "display_name": "Acme Ltd", "logo": "https://acme.example/logo.svg", "color": "#0a7d55",
    "metadata": {"plan": "gold"},
    "roles": [{"name": "Buyer", "permissions": ["orders:create", "orders:read"]}],
    "domains": [{"name": "acme.example", "verified": True}, {"name": "acme.test"}],
    "policies": {
        "join_needs_approval": True,
        "default_role": "Buyer", "seats": 25, "second_factor": "force", "password": {"min_length": 12}, "access_token_seconds": 600,
        "allowed_methods": ["password"],
    },
    "members": [{"account": "ada@acme.example", "roles": ["Buyer", "Member"]}],
}  # fmt: skip
FILE: dict[str, Any] = {"accounts": [ADA], "organization_roles": [ROLE], "organizations": [ACME]}


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return Business(new_tenant_server(two_factor="optional"))


def configured(business: Business, **tenant: Any) -> Any:
    text = yaml.safe_dump({"tenants": [{"name": business.tenant.name, **tenant}]})
    return read(text.encode(), "f.yaml", Path())


def applied(business: Business, **tenant: Any) -> ChangePlan:
    return apply_configuration.apply(business.tenant.services, configured(business, **tenant))


def planned(business: Business, **tenant: Any) -> ChangePlan:
    return apply_configuration.plan(business.tenant.services, configured(business, **tenant))


def exported(business: Business) -> dict[str, Any]:
    (tenant,) = yaml.safe_load(export(business.tenant.services, business.tenant.name))["tenants"]
    return {key: tenant[key] for key in FILE if key in tenant}


def listed(business: Business) -> dict[str, dict[str, Any]]:
    return {item["Name"]: item for item in answered(business.send("GET", PATH))["Data"]}


def test_file_creates_organizations_with_their_parts(business: Business) -> None:
    assert [change.action for change in planned(business, **FILE).changes][-2:] == [ChangeAction.CREATE] * 2
    assert listed(business) == {}
    applied(business, **FILE)
    made = listed(business)["acme-ltd"]
    look = {"Name": "Acme Ltd", "LogoURL": "https://acme.example/logo.svg", "Color": "#0a7d55", "ThemeName": None}
    assert made["Display"] == look
    assert made["Metadata"] == {"plan": "gold"}
    assert [(item["DomainName"], item["IsVerified"]) for item in made["Domains"]] == [
        ("acme.example", True),
        ("acme.test", False),
    ]
    roles = {item["Name"]: item for item in answered(business.send("GET", f"{PATH}/{made['Id']}/roles"))["Data"]}
    assert {name: role["Level"] for name, role in roles.items()} == {"Buyer": "org", "Member": "tenant"}
    assert [role["Name"] for role in roles["Buyer"]["Permissions"]] == ["orders:create", "orders:read"]
    policies = made["Policies"]
    assert policies["MemberPolicy"] == {"DefaultMemberRole": roles["Buyer"]["Id"], "Seats": 25}
    assert policies["MFAPolicy"] == {"EnforcementMode": "force"}
    assert policies["JITPolicy"]["RequireApproval"] is True
    assert policies["PasswordPolicy"]["MinLength"] == 12
    assert policies["SessionPolicy"]["AccessTokenTTL"] == 600
    assert policies["MethodPolicy"] == {"AllowedMethods": ["password"], "LdapProvider": None}
    members = answered(business.send("GET", f"{PATH}/{made['Id']}/orgcontext"))["Data"]
    assert {member["RoleId"] for member in members} == {role["Id"] for role in roles.values()}
    assert {member["Email"] for member in members} == {"ada@acme.example"}
    assert business.send("DELETE", f"{ROLES}/{roles['Member']['Id']}").status_code == 403


def test_second_run_changes_nothing(business: Business) -> None:
    applied(business, **FILE)
    before = listed(business)
    assert planned(business, **FILE).is_empty
    assert applied(business, **FILE).is_empty
    assert listed(business) == before


@pytest.mark.both_databases
def test_export_applies_to_another_tenant(business: Business, new_tenant_server: NewTenantServer) -> None:
    applied(business, **FILE)
    file = exported(business)
    assert file == {
        "accounts": [ADA],
        "organization_roles": [ROLE],
        "organizations": [{**ACME, "members": [{"account": "ada@acme.example", "roles": ["Buyer", "Member"]}]}],
    }
    other = Business(new_tenant_server(two_factor="optional"))
    applied(other, **file)
    assert exported(other) == file
    assert planned(other, **file).is_empty


def test_members_without_file_are_exported_on_request(business: Business) -> None:
    applied(business, **FILE)
    (org,) = (item["Id"] for item in answered(business.send("GET", PATH))["Data"])
    business.member(org, business.role("Guest"), email="grace@acme.example")

    def members(**options: Any) -> list[str]:
        (tenant,) = yaml.safe_load(export(business.tenant.services, business.tenant.name, **options))["tenants"]
        return [item["account"] for item in tenant["organizations"][0]["members"]]

    assert members() == ["ada@acme.example"]
    assert members(has_all_members=True) == ["ada@acme.example", "grace@acme.example"]


@pytest.mark.both_databases
def test_absent_keys_and_other_organizations_stay(business: Business) -> None:
    applied(business, **FILE)
    business.create("Other")
    org = listed(business)["acme-ltd"]["Id"]
    business.deactivate(org)
    plan = applied(business, organizations=[{"name": "ACME-ltd", "metadata": {"plan": "silver"}}])
    (change,) = [item for item in plan.changes if item.kind == "organization"]
    assert any("silver" in detail for detail in change.details)
    stored = listed(business)
    assert set(stored) == {"ACME-ltd", "Other"}
    assert stored["ACME-ltd"]["Metadata"] == {"plan": "silver"}
    assert stored["ACME-ltd"]["Display"]["Name"] == "Acme Ltd"
    assert stored["ACME-ltd"]["IsActive"] is False
    assert len(stored["ACME-ltd"]["Domains"]) == 2
    applied(business, organizations=[{"name": "acme-ltd", "is_active": True}])
    assert listed(business)["acme-ltd"]["IsActive"] is True


def test_prune_removes_no_organization(business: Business) -> None:
    applied(business, **FILE)
    apply_configuration.apply(business.tenant.services, configured(business, organizations=[]), prune=True)
    assert set(listed(business)) == {"acme-ltd"}


@pytest.mark.parametrize(
    ("organization", "expected"),
    [
        ({"name": "\u0410cme"}, "several scripts"),
        ({"display_name": "A\u200bcme"}, "invisible"),
        ({"metadata": {"a": "x" * 20_000}}, "larger"),
        ({"domains": [{"name": "gmail.com"}]}, "mailboxes"),
        ({"policies": {"second_factor": "none"}}, "MFA policy conflicts"),
        ({"policies": {"join_by_domain": True}}, "JIT needs an active connection"),
        ({"policies": {"password": {"min_length": 20, "max_length": 10}}}, "MinLength"),
        ({"policies": {"allowed_methods": ["passkey"]}}, "does not offer passkey"),
        ({"policies": {"default_role": "Nothing"}}, "expected a role"),
        ({"members": [{"account": "absent@acme.example", "roles": ["Member"]}]}, "of an account"),
        ({"members": [{"account": "ada@acme.example", "roles": ["Nothing"]}]}, "expected roles"),
        ({"connections": []}, "connections"),
    ],
    ids=str,
)
def test_wrong_organization_is_refused_whole(business: Business, organization: dict[str, Any], expected: str) -> None:
    file = {**FILE, "organizations": [{"name": "first"}, {"name": "wrong", **organization}]}
    with pytest.raises(ConfigurationError) as refused:
        applied(business, **file)
    assert expected in str(refused.value)
    assert "organizations[1]" in str(refused.value)
    assert listed(business) == {}


def test_more_members_than_seats_are_refused_whole(business: Business) -> None:
    accounts = [{"email": f"{name}@acme.example", "email_verified": True} for name in ("ada", "bob")]
    members = [{"account": account["email"], "roles": ["Member"]} for account in accounts]
    organization = {"name": "full", "policies": {"seats": 1}, "members": members}
    file = {**FILE, "accounts": accounts, "organizations": [organization]}
    with pytest.raises(ConfigurationError) as refused:
        applied(business, **file)
    assert "organizations[0].members[1]" in str(refused.value)
    assert "no seats left" in str(refused.value)
    assert listed(business) == {}


@pytest.mark.parametrize(
    ("kind", "text", "squatter"),
    [
        ("email", "eve@acme.example", {"Email": [{"Type": "Primary", "Value": "eve@acme.example"}]}),
        ("phone", "+14155550123", {"PhoneId": "+14155550123"}),
    ],
    ids=["email", "phone"],
)
def test_apply_gives_no_role_to_an_unverified_address(
    business: Business, kind: str, text: str, squatter: dict[str, Any]
) -> None:
    business.tenant.create(**squatter)
    organization = {"name": "acme", "members": [{"account": text, "roles": ["Member"]}]}
    file = {"organization_roles": [ROLE], "organizations": [organization]}
    for run in (planned, applied):
        with pytest.raises(ConfigurationError, match=r"members\[0\].account: expected a verified") as refused:
            run(business, **file)
        assert text in str(refused.value)
    assert listed(business) == {}
    verified = [{kind: text, f"{kind}_verified": True}]
    assert not planned(business, **file, accounts=verified).is_empty
    applied(business, **file, accounts=verified)
    assert applied(business, **file).is_empty


def test_apply_gives_roles_to_a_username(business: Business) -> None:
    business.tenant.create(UserName="grace")
    organization = {"name": "acme", "members": [{"account": "grace", "roles": ["Member"]}]}
    applied(business, organization_roles=[ROLE], organizations=[organization])
    org = listed(business)["acme"]["Id"]
    assert len(answered(business.send("GET", f"{PATH}/{org}/orgcontext"))["Data"]) == 1


def test_organization_listed_twice_is_refused(business: Business) -> None:
    with pytest.raises(ConfigurationError, match="listed twice"):
        applied(business, organizations=[{"name": "Acme"}, {"name": "ACME"}])


def test_domain_of_another_organization_is_refused(business: Business) -> None:
    business.create("Owner", Domains=[{"DomainName": "acme.example", "IsVerified": True}])
    with pytest.raises(ConfigurationError, match="Domain already exists"):
        applied(business, **FILE)


def test_dry_run_shows_parts_that_need_other_changes(business: Business) -> None:
    applied(business, **FILE)
    bob = {"email": "bob@acme.example"}
    member = {"account": "bob@acme.example", "roles": ["Auditor"]}
    changed = {
        **ACME,
        "roles": [*ACME["roles"], {"name": "Auditor"}],
        "policies": {**ACME["policies"], "default_role": "Auditor"},
        "members": [*ACME["members"], member],
    }
    file = {**FILE, "accounts": [ADA, bob], "organizations": [changed]}
    shown = planned(business, **file)
    assert applied(business, **file).changes == shown.changes
    (details,) = [change.details for change in shown.changes if change.kind == "organization"]
    assert details[0] == "roles: Auditor added"
    assert details[1].startswith("policies.MemberPolicy.DefaultMemberRole: ")
    assert details[1].endswith(" -> Auditor")
    assert details[2:] == ("members: bob@acme.example gets Auditor",)
    assert planned(business, **file).is_empty
