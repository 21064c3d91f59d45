"""The sample bodies of RFC 7643 section 8 and RFC 7644 section 3, with an address of the organization's domain."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.organizations.management import a_business
from tests.support.scim.connected import DOMAIN, ENTERPRISE, GROUP, USER, ScimClient, connect_organization
from tests.support.tenants.tenant_server import NewTenantServer

pytestmark = pytest.mark.both_databases
BJENSEN: dict[str, Any] = {
    "schemas": [USER, ENTERPRISE], "id": "2819c223-7f76-453a-919d-413861904646", "externalId": "701984",
    "userName": f"bjensen@{DOMAIN}",
    "name": {"formatted": "Ms. Barbara J Jensen, III", "familyName": "Jensen", "givenName": "Barbara", "middleName": "Jane",
             "honorificPrefix": "Ms.", "honorificSuffix": "III"},
    "displayName": "Babs Jensen", "nickName": "Babs", "profileUrl": "https://login.example.com/bjensen",
    "emails": [{"value": f"bjensen@{DOMAIN}", "type": "work", "primary": True}, {"value": "babs@jensen.org", "type": "home"}],
    "addresses": [{"type": "work", "streetAddress": "100 Universal City Plaza", "locality": "Hollywood", "region": "CA",
                   "postalCode": "91608", "country": "US", "formatted": "100 Universal City Plaza\nHollywood, CA 91608 USA",
                   "primary": True}],
    "phoneNumbers": [{"value": "555-555-5555", "type": "work"}], "ims": [{"value": "someaimhandle", "type": "aim"}],
    "photos": [{"value": "https://photos.example.com/profilephoto/72930000000Ccne/F", "type": "photo"}],
    "userType": "Employee", "title": "Tour Guide", "preferredLanguage": "en-US", "locale": "en-US",
    "timezone": "America/Los_Angeles", "active": True, "password": "t1meMa$heen",
    ENTERPRISE: {"employeeNumber": "701984", "costCenter": "4130", "organization": "Universal Studios", "division": "Theme Park",
                 "department": "Tour Operations"},
}  # fmt: skip
KEPT = ("externalId", "userName", "name", "displayName", "emails", "addresses", "phoneNumbers", "userType", ENTERPRISE)


@pytest.fixture
def globex(new_tenant_server: NewTenantServer) -> ScimClient:
    return connect_organization(a_business(new_tenant_server))


def test_full_user_comes_back_as_sent(globex: ScimClient) -> None:
    made = globex.ok("POST", "/Users", BJENSEN)
    assert {name: made[name] for name in KEPT} == {name: BJENSEN[name] for name in KEPT}
    assert made["id"] != BJENSEN["id"]
    assert "password" not in made
    assert globex.ok("PUT", f"/Users/{made['id']}", BJENSEN)["name"] == BJENSEN["name"]


def test_samples_of_patch_are_carried_out(globex: ScimClient) -> None:
    uid = str(globex.ok("POST", "/Users", BJENSEN)["id"])
    group = f"/Groups/{globex.ok('POST', '/Groups', {'schemas': [GROUP], 'displayName': 'Tour Guides'})['id']}"
    entry = {"display": "Babs Jensen", "$ref": f"https://example.com/v2/Users/{uid}", "value": uid}
    assert globex.patch(group, {"op": "add", "path": "members", "value": [entry]}).status_code == 200
    assert [item["value"] for item in globex.ok("GET", group)["members"]] == [uid]
    moved = {"op": "replace", "path": 'addresses[type eq "work"].streetAddress', "value": "1010 Broadway Ave"}
    home = {"op": "remove", "path": 'emails[type eq "home" and value ew "jensen.org"]'}
    after = globex.patch(f"/Users/{uid}", moved, home).get_json()
    assert after["addresses"][0]["streetAddress"] == "1010 Broadway Ave"
    assert [item["type"] for item in after["emails"]] == ["work"]
    assert globex.patch(group, {"op": "remove", "path": "members"}).status_code == 200
    assert not globex.ok("GET", group).get("members")
