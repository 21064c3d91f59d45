"""People by SCIM: created, found, changed, deactivated and deleted, in an organization and in a tenant."""

from __future__ import annotations

import pytest

from tests.support.organizations.management import Business, a_business
from tests.support.scim.connected import DOMAIN, ScimClient, connect, connect_organization
from tests.support.tenants.tenant_server import NewTenantServer


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.fixture
def globex(business: Business) -> ScimClient:
    return connect_organization(business)


def test_created_person_is_a_member_with_an_account(globex: ScimClient, business: Business) -> None:
    made = globex.create("mina", externalId="00u1")
    profile = business.tenant.read(made["id"])
    assert (profile["FirstName"], profile["Email"][0]["Value"], profile["EmailVerified"]) == (
        "Mina",
        f"mina@{DOMAIN}",
        True,
    )
    assert made["groups"][0]["value"] == globex.role
    assert globex.ok("GET", f"/Users/{made['id']}") == made
    found = globex.ok("GET", "/Users", filter=f'userName eq "MINA@{DOMAIN}"')
    assert [item["id"] for item in found["Resources"]] == [made["id"]]
    assert globex.ok("GET", "/Users", filter='externalId eq "00u1"')["totalResults"] == 1
    assert globex.ok("GET", "/Users", filter='externalId eq "00U1"')["totalResults"] == 0


def test_tenant_creates_deactivates_and_deletes_accounts(business: Business) -> None:
    tenant = connect(business)
    made = tenant.create("ada")
    assert (
        tenant.patch(f"/Users/{made['id']}", {"op": "Replace", "path": "active", "value": "False"}).get_json()["active"]
        is False
    )
    assert business.tenant.read(made["id"])["IsActive"] is False
    assert tenant.send("DELETE", f"/Users/{made['id']}").status_code == 204
    assert tenant.send("GET", f"/Users/{made['id']}").status_code == 404


def test_deactivation_ends_membership_sessions_and_tokens(globex: ScimClient, business: Business) -> None:
    made = globex.create("mina")
    tokens = business.tenant.tokens(made["id"])
    own = ("GET", "/identity/v2/auth/account")
    assert business.tenant.send(*own, bearer=tokens["access_token"]).status_code == 200
    answer = globex.patch(f"/Users/{made['id']}", {"op": "replace", "value": {"active": False}})
    assert answer.status_code == 200, answer.text
    assert business.tenant.send(*own, bearer=tokens["access_token"]).status_code in (401, 403)
    assert globex.ok("GET", f"/Users/{made['id']}")["active"] is False
    assert business.tenant.read(made["id"])["IsActive"] is False
    again = globex.patch(f"/Users/{made['id']}", {"op": "Replace", "path": "active", "value": "True"}).get_json()
    assert again["active"] is True
    assert [item["value"] for item in again["groups"]] == [globex.role]
    assert business.tenant.read(made["id"])["IsActive"] is True


def test_deactivation_keeps_account_of_another_organization(globex: ScimClient, business: Business) -> None:
    other = business.create("Initech")
    made = globex.create("mina")
    business.assign(made["id"], other, business.role(org=other))
    globex.patch(f"/Users/{made['id']}", {"op": "replace", "path": "active", "value": False})
    assert business.tenant.read(made["id"])["IsActive"] is True
    assert globex.send("DELETE", f"/Users/{made['id']}").status_code == 204
    assert globex.send("GET", f"/Users/{made['id']}").status_code == 404
    assert business.tenant.read(made["id"])["IsActive"] is True


def test_organization_sees_only_its_people(globex: ScimClient, business: Business) -> None:
    stranger = business.account("ada@elsewhere.example")
    for method, body in (("GET", None), ("PUT", {"userName": f"x@{DOMAIN}"}), ("DELETE", None)):
        assert globex.send(method, f"/Users/{stranger}", body).status_code == 404
    assert globex.patch(f"/Users/{stranger}", {"op": "replace", "path": "active", "value": False}).status_code == 404
    assert globex.ok("GET", "/Users", filter='userName eq "ada@elsewhere.example"')["totalResults"] == 0
    assert globex.ok("GET", "/Users")["totalResults"] == 0
    refused = globex.send("POST", "/Users", {"userName": "ada@elsewhere.example"})
    unknown = globex.send("POST", "/Users", {"userName": "nobody@elsewhere.example"})
    assert (refused.status_code, refused.get_json()) == (400, unknown.get_json())
    assert refused.get_json()["scimType"] == "invalidValue"


def test_existing_account_of_verified_domain_joins(globex: ScimClient, business: Business) -> None:
    uid = str(business.tenant.create(Email=[{"Type": "Primary", "Value": f"mina@{DOMAIN}"}], EmailVerified=True)["Uid"])
    assert globex.create("mina")["id"] == uid
    assert globex.send("POST", "/Users", {"userName": f"mina@{DOMAIN}"}).get_json()["scimType"] == "uniqueness"
    globex.patch(f"/Users/{uid}", {"op": "replace", "path": "active", "value": False})
    assert business.tenant.read(uid)["IsActive"] is True  # the account was there before


def test_unverified_account_yields_to_the_person(globex: ScimClient, business: Business) -> None:
    """An attacker who registered the address first must not be in the account."""
    uid = str(business.tenant.create(Email=[{"Type": "Primary", "Value": f"mina@{DOMAIN}"}])["Uid"])
    assert globex.create("mina")["id"] != uid


def test_changed_address_and_name_reach_the_account(globex: ScimClient, business: Business) -> None:
    made = globex.create("mina")
    answer = globex.patch(
        f"/Users/{made['id']}",
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": f"m.harker@{DOMAIN}"},
        {"op": "replace", "value": {"name.familyName": "Murray", "userName": f"m.harker@{DOMAIN}"}},
        {"op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "Law"},
    )  # fmt: skip
    assert answer.status_code == 200, answer.text
    profile = business.tenant.read(made["id"])
    assert (profile["LastName"], profile["Email"][0]["Value"]) == ("Murray", f"m.harker@{DOMAIN}")
    outside = {"op": "replace", "path": 'emails[type eq "work"].value', "value": "x@evil.example"}
    assert globex.patch(f"/Users/{made['id']}", outside).status_code == 200
    assert business.tenant.read(made["id"])["Email"] == profile["Email"]  # no address of the organization's domains
    named = {"op": "replace", "path": "userName", "value": "x@evil.example"}
    assert globex.patch(f"/Users/{made['id']}", named).status_code == 400


def test_stale_version_is_refused(globex: ScimClient) -> None:
    made = globex.create("mina")
    operation = {"op": "replace", "path": "displayName", "value": "Mina"}
    version = made["meta"]["version"]
    assert globex.patch(f"/Users/{made['id']}", operation, **{"If-Match": version}).status_code == 200
    assert globex.patch(f"/Users/{made['id']}", operation, **{"If-Match": version}).status_code == 412
    fresh = globex.send("GET", f"/Users/{made['id']}").headers["ETag"]
    assert globex.send("GET", f"/Users/{made['id']}", headers={"If-None-Match": fresh}).status_code == 304
