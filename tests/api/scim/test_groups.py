"""Groups by SCIM, bulk requests, lists, and what administrators see of a connection."""

from __future__ import annotations

import pytest

from tests.support.organizations.management import Business, a_business
from tests.support.scim.connected import GROUP, ScimClient, connect, connect_organization
from tests.support.tenants.tenant_server import NewTenantServer


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.fixture
def globex(business: Business) -> ScimClient:
    return connect_organization(business)


def a_group(client: ScimClient, name: str = "Lawyers", *members: str) -> dict[str, object]:
    body = {"schemas": [GROUP], "displayName": name, "members": [{"value": uid} for uid in members]}
    return client.ok("POST", "/Groups", body)


def test_members_come_and_go_in_every_form(globex: ScimClient) -> None:
    mina, lucy = (str(globex.create(name)["id"]) for name in ("mina", "lucy"))
    path = f"/Groups/{a_group(globex)['id']}"

    def members() -> set[str]:
        return {item["value"] for item in globex.ok("GET", path).get("members", ())}

    globex.patch(path, {"op": "Add", "path": "members", "value": [{"value": mina}, {"value": lucy}, {"value": "gone"}]})
    assert members() == {mina, lucy}
    globex.patch(path, {"op": "Remove", "path": "members", "value": [{"value": mina}]})
    assert members() == {lucy}
    globex.patch(path, {"op": "remove", "path": f'members[value eq "{lucy}"]'})
    assert members() == set()
    globex.patch(path, {"op": "add", "path": "members", "value": [{"value": mina}, {"value": lucy}]})
    shown_elsewhere = {"value": mina, "display": "Mina", "$ref": "https://elsewhere.example/Users/1"}
    globex.patch(path, {"op": "remove", "path": "members", "value": [shown_elsewhere]})
    assert members() == {lucy}
    rename = {"op": "replace", "path": "displayName", "value": "Advocates"}
    back = {"op": "add", "path": "members", "value": [{"value": mina}]}
    globex.patch(path, {"op": "remove", "path": "members"}, rename, back)
    assert members() == {mina}
    globex.patch(
        path, {"op": "replace", "value": {"id": path, "displayName": "Attorneys", "members": [{"value": mina}]}}
    )
    assert members() == {mina}
    assert globex.ok("GET", path)["displayName"] == "Attorneys"
    assert "members" not in globex.ok("GET", path, excludedAttributes="members")
    assert path.rpartition("/")[2] in {item["value"] for item in globex.ok("GET", f"/Users/{mina}")["groups"]}
    assert globex.send("DELETE", path).status_code == 204
    assert globex.send("GET", path).status_code == 404


def test_group_of_another_organization_is_unknown(globex: ScimClient, business: Business) -> None:
    other = connect_organization(business, "Initech", "initech.example")
    group = a_group(other)["id"]
    assert globex.send("GET", f"/Groups/{group}").status_code == 404
    assert globex.patch(f"/Groups/{group}", {"op": "replace", "path": "displayName", "value": "x"}).status_code == 404
    shared = business.role("Shared")  # of the tenant: its people may have it, but no organization renames it
    refused = globex.patch(f"/Groups/{shared}", {"op": "replace", "path": "displayName", "value": "Mine"})
    assert (refused.status_code, refused.get_json()["scimType"]) == (400, "mutability")


def test_deactivated_member_gets_the_role_with_the_activation(globex: ScimClient) -> None:
    mina = str(globex.create("mina")["id"])
    path = f"/Groups/{a_group(globex)['id']}"
    globex.patch(f"/Users/{mina}", {"op": "replace", "path": "active", "value": False})
    globex.patch(path, {"op": "add", "path": "members", "value": [{"value": mina}]})
    assert not globex.ok("GET", path).get("members")
    globex.patch(f"/Users/{mina}", {"op": "replace", "path": "active", "value": True})
    assert [item["value"] for item in globex.ok("GET", path)["members"]] == [mina]


def test_bulk_goes_on_after_a_refusal(globex: ScimClient) -> None:
    user = {"method": "POST", "path": "/Users", "bulkId": "a", "data": {"userName": "mina@globex.example"}}
    bad = {"method": "POST", "path": "/Users", "bulkId": "b", "data": {"userName": "x@evil.example"}}
    group = {
        "method": "POST", "path": "/Groups", "bulkId": "c", "data": {"displayName": "G", "members": [{"value": "bulkId:a"}]},
    }  # fmt: skip
    answer = globex.ok("POST", "/Bulk", {"Operations": [group, bad, user]})
    assert [item["status"] for item in answer["Operations"]] == ["201", "400", "201"]
    assert globex.ok("GET", "/Users")["totalResults"] == 1
    made = globex.ok("GET", "/Groups", filter='displayName eq "G"')["Resources"][0]
    assert len(made["members"]) == 1
    assert globex.send("POST", "/Bulk", {"Operations": [user] * 101}).status_code == 413


def test_pages_by_index_and_cursor(globex: ScimClient) -> None:
    for name in ("mina", "lucy", "jack"):
        globex.create(name)
    first = globex.ok("GET", "/Users", count="2", sortBy="userName")
    assert [item["name"]["givenName"] for item in first["Resources"]] == ["Jack", "Lucy"]
    assert globex.ok("GET", "/Users", count="2", startIndex="3", sortBy="userName")["itemsPerPage"] == 1
    page = globex.ok("GET", "/Users", count="2", cursor="")
    rest = globex.ok("GET", "/Users", count="2", cursor=page["nextCursor"])
    assert (len(rest["Resources"]), "nextCursor" in rest) == (1, False)
    assert globex.send("GET", "/Users", filter="userName pr", cursor=page["nextCursor"]).status_code == 400
    found = globex.ok("POST", "/Users/.search", {"filter": 'emails[type eq "work"].value eq "lucy@globex.example"'})
    assert found["totalResults"] == 1


@pytest.mark.parametrize(
    "text",
    ['userName eq "x" or 1=1', "userName eq", 'nosuch eq "x"', "(" * 9_000, 'not (' * 800 + 'userName pr' + ')' * 800],
)  # fmt: skip
def test_malformed_filter_is_refused(globex: ScimClient, text: str) -> None:
    refused = globex.send("GET", "/Users", filter=text)
    assert refused.status_code == 400
    assert refused.get_json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
    assert refused.mimetype == "application/scim+json"


def test_log_dry_run_and_pause(globex: ScimClient, business: Business) -> None:
    globex.change(DryRun=True)
    globex.create("mina")
    assert globex.ok("GET", "/Users")["totalResults"] == 0
    globex.change(DryRun=False)
    uid = globex.create("mina")["id"]
    globex.patch(f"/Users/{uid}", {"op": "replace", "path": "active", "value": False})
    globex.send("GET", "/Users/unknown")
    globex.change(Paused=True)
    assert globex.send("GET", "/Users").status_code == 503
    paused, missing, deactivated, created, _, tried = globex.requests()
    assert [paused["Status"], missing["Status"], created["Status"]] == [503, 404, 201]
    assert deactivated["Changes"][0]["attributes"]["active"] == {"from": True, "to": False}
    assert (tried["DryRun"], tried["Changes"][0]["action"], created["DryRun"]) == (True, "created", False)


def test_token_opens_only_its_scopes_until_it_is_revoked(business: Business) -> None:
    reader = connect(business, scopes=["users:read"])
    assert reader.send("GET", "/Users").status_code == 200
    assert reader.send("GET", "/Groups").status_code == 403
    assert reader.send("POST", "/Users", {"userName": "ada"}).status_code == 403
    path = f"/v2/manage/scim/connections/{reader.connection}/tokens"
    token = business.send("GET", path).get_json()["Data"][0]
    assert token["LastUsedDate"] is not None
    assert business.send("DELETE", f"{path}/{token['Id']}").status_code == 200
    refused = reader.send("GET", "/Users")
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, 'Bearer realm="scim"')


def test_replaced_group_and_described_service(globex: ScimClient, business: Business) -> None:
    mina, lucy = (str(globex.create(name)["id"]) for name in ("mina", "lucy"))
    path = f"/Groups/{a_group(globex, 'Lawyers', mina)['id']}"
    replaced = globex.ok("PUT", path, {"displayName": "Lawyers", "members": [{"value": lucy}]})
    assert [item["value"] for item in replaced["members"]] == [lucy]
    assert globex.ok("GET", "/ServiceProviderConfig")["patch"] == {"supported": True}
    assert globex.ok("GET", "/ResourceTypes")["totalResults"] == 2
    assert globex.ok("POST", "/.search", {"filter": 'displayName eq "Lawyers"'})["totalResults"] == 1
    listed = business.send("GET", "/v2/manage/scim/connections", orgid=globex.org, page="1", pagesize="50").get_json()[
        "Data"
    ]
    one = f"/v2/manage/scim/connections/{globex.connection}"
    assert listed == [business.send("GET", one).get_json()]
    assert business.send("DELETE", one).status_code == 200
    assert globex.send("GET", "/Users").status_code == 401
