"""No id of another tenant, of another organization or of another kind of thing opens an organization's data."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.organizations.management import PATH, PERMISSIONS, ROLES, Business, a_business
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

pytestmark = pytest.mark.both_databases("first")

ACCOUNT = "/v2/manage/account"


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.fixture
def other(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


def test_other_tenants_organization_is_not_found(business: Business, other: Business) -> None:
    body: dict[str, Any] = {"Name": "Stolen"}
    for method, path, sent in (
        ("GET", "", None),
        ("PUT", "", body),
        ("DELETE", "", None),
        ("PUT", "/status", {"Active": False}),
        ("GET", "/policy", None),
        ("PUT", "/policy", {"JITPolicy": {"Enabled": False}}),
        ("GET", "/roles", None),
        ("POST", "/roles", body),
        ("GET", "/orgcontext", None),
    ):
        assert refused(business.send(method, f"{PATH}/{other.org}{path}", sent)) == (404, 8118), (method, path)
    assert answered(business.send("GET", PATH)) == {"Data": []}
    assert answered(other.send("GET", f"{PATH}/{other.org}"))["Name"] == "Acme"


def test_other_tenants_role_and_permission_are_unknown(business: Business, other: Business) -> None:
    role, permission = other.role("Admin"), other.permission("read")
    full = {"Name": "x", "Description": "", "Permissions": []}
    for method, path, sent in (("GET", "", None), ("PUT", "", full), ("DELETE", "", None), ("PUT", "/default", None)):
        assert refused(business.send(method, f"{ROLES}/{role}{path}", sent)) == (404, 8125), (method, path)
    assert refused(business.assign(business.uid, business.org, role)) == (400, 8124)
    assert refused(business.send("POST", ROLES, {**full, "Permissions": [permission]})) == (400, 8119)
    policy = {"MemberPolicy": {"DefaultMemberRole": role}}
    assert refused(business.send("PUT", f"{PATH}/{business.org}/policy", policy)) == (400, 8159)
    for method, body in (("GET", None), ("PUT", {"Name": "x", "Description": ""}), ("DELETE", None)):
        assert refused(business.send(method, f"{PERMISSIONS}/{permission}", body)) == (404, 8122), method
    assert answered(business.send("GET", f"{ROLES}/admin/name")) == {"Data": []}
    assert answered(other.send("GET", f"{ROLES}/{role}"))["Name"] == "Admin"


def test_other_tenants_account_is_unknown(business: Business, other: Business) -> None:
    role = business.role()
    assert refused(business.assign(other.uid, business.org, role)) == (404, 8132)
    assert refused(other.assign(other.uid, business.org, other.role())) == (404, 8118)
    assert answered(other.send("GET", f"{ACCOUNT}/{other.uid}/orgcontext")) == {"Data": []}


def test_same_names_and_domains_in_two_tenants_do_not_meet(business: Business, other: Business) -> None:
    for item in (business, other):
        item.create("Same", Domains=[{"DomainName": "same.example", "IsVerified": True}])
        item.role("Same")
        item.permission("same")


def test_role_of_one_organization_is_refused_in_another(business: Business) -> None:
    second = business.create()
    role = business.role(org=second)
    assert refused(business.assign(business.uid, business.org, role)) == (403, 8142)
    policy = {"MemberPolicy": {"DefaultMemberRole": role}}
    assert refused(business.send("PUT", f"{PATH}/{business.org}/policy", policy)) == (400, 8159)
    listed = answered(business.send("GET", f"{PATH}/{business.org}/roles"))["Data"]
    assert role not in [item["Id"] for item in listed]


def test_member_of_one_organization_is_no_member_of_another(business: Business) -> None:
    second = business.create()
    uid = business.member(business.org)
    assert refused(business.send("GET", f"{ACCOUNT}/{uid}/orgcontext/{second}")) == (404, 8135)
    assert refused(business.send("DELETE", f"{ACCOUNT}/{uid}/orgcontext/{second}")) == (404, 8135)
    assert answered(business.send("GET", f"{PATH}/{second}/orgcontext")) == {"Data": []}
    assert [item["Id"] for item in business.tenant.read(uid)["Organizations"]] == [business.org]


def test_leaving_one_organization_keeps_the_other(business: Business) -> None:
    second, role = business.create(), business.role()
    for org in (business.org, second):
        answered(business.assign(business.uid, org, role))
    path = f"{ACCOUNT}/{business.uid}/orgcontext/{business.org}/roles"
    answered(business.send("DELETE", path, {"RoleIds": [role]}))
    assert [
        item["OrgId"] for item in answered(business.send("GET", f"{ACCOUNT}/{business.uid}/orgcontext"))["Data"]
    ] == [second]


def test_id_of_another_kind_is_malformed(business: Business) -> None:
    role, permission = business.role(), business.permission()
    for wrong in (role, permission, business.uid, business.org.upper(), f"{business.org}x", f"{business.org}\u0660"):
        assert refused(business.send("GET", f"{PATH}/{wrong}")) == (400, 8117), wrong
    for wrong in (business.org, permission, role.swapcase()):
        assert refused(business.send("GET", f"{ROLES}/{wrong}")) == (400, 8124), wrong
        assert refused(business.assign(business.uid, business.org, wrong)) == (400, 8124), wrong
    for wrong in (business.org, role):
        assert refused(business.send("GET", f"{PERMISSIONS}/{wrong}")) == (400, 8119), wrong
        assert refused(business.send("POST", ROLES, {"Name": "x", "Permissions": [wrong]})) == (400, 8119), wrong


def test_id_in_the_body_does_not_replace_the_path(business: Business) -> None:
    second = business.create("Second")
    for name in ("orgId", "orgid", "org_id", "OrgId"):
        answer = business.send("PUT", f"{PATH}/{business.org}", {name: second, "Metadata": {"by": name}})
        assert refused(answer) == (400, 7900), name
    assert answered(business.send("GET", f"{PATH}/{second}"))["Metadata"] == {}


def test_empty_segment_reaches_only_operations_that_take_it(business: Business) -> None:
    assert refused(business.send("GET", f"{PATH}//policy")) == (400, 8129)
    for method, path in (
        ("GET", "/identity/v2/manage/account//password"),
        ("GET", f"{PERMISSIONS}//x"),
        ("GET", "//"),
    ):
        assert business.send(method, path).status_code == 404, path
    assert business.send("DELETE", "/v2/manage/webhooks//").status_code == 405
