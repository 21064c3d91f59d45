"""Every response and refusal of the operations of permissions and organization roles."""

from __future__ import annotations

import re
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.management import (
    NO_ORG,
    NO_PERMISSION,
    NO_ROLE,
    OFF,
    PATH,
    PERMISSIONS,
    ROLES,
    Business,
    RefusedCall,
    a_business,
    ask,
    refusals,
)
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

ROLE = {"Name": "x", "Description": "", "Permissions": []}
OF_ORG = f"{PATH}/{{org}}/roles"


def of_permission(operation: str, method: str, body: Any = None) -> list[RefusedCall]:
    return refusals(
        operation,
        (1267, ask(method, f"{PERMISSIONS}/{NO_PERMISSION}", body), OFF),
        (8119, ask(method, f"{PERMISSIONS}/read", body)),
        (8122, ask(method, f"{PERMISSIONS}/{NO_PERMISSION}", body)),
    )


def of_role(operation: str, method: str, path: str = "", body: Any = None) -> list[RefusedCall]:
    return refusals(
        operation,
        (1267, ask(method, f"{ROLES}/{NO_ROLE}{path}", body), OFF),
        (8124, ask(method, f"{ROLES}/admin{path}", body)),
        (8125, ask(method, f"{ROLES}/{NO_ROLE}{path}", body)),
        (8126, ask(method, f"{ROLES}/%20{path}", body)),
    )


def of_organization(operation: str, method: str, body: Any = None) -> list[RefusedCall]:
    return refusals(
        operation,
        (1267, ask(method, f"{PATH}/{NO_ORG}/roles", body), OFF),
        (8117, ask(method, f"{PATH}/acme/roles", body)),
        (8118, ask(method, f"{PATH}/{NO_ORG}/roles", body)),
        (8129, ask(method, f"{PATH}//roles", body)),
    )


def taken_permission(business: Business, method: str, path: str) -> TestResponse:
    business.permission("read:users")
    return business.send(method, path, {"Name": "READ:users", "Description": ""})


def taken_role(business: Business, method: str, path: str, org: str = "") -> TestResponse:
    business.role("Admin", org=org)
    return business.send(method, path, {**ROLE, "Name": "ADMIN"})


def of_inactive(business: Business, method: str, body: Any = None) -> TestResponse:
    role = business.role(org=business.org)
    business.deactivate(business.org)
    return business.send(method, f"{ROLES}/{role}", body)


def default_of_tenant(business: Business) -> TestResponse:
    role = business.role()
    answered(business.send("PUT", f"{ROLES}/{role}/default"))
    return business.send("DELETE", f"{ROLES}/{role}")


REFUSALS: list[RefusedCall] = [
    *refusals("organization_permissions.list", (1267, ask("GET", PERMISSIONS), OFF)),
    *refusals(
        "organization_permissions.create",
        (1267, ask("POST", PERMISSIONS, {"Name": "x"}), OFF),
        (7900, ask("POST", PERMISSIONS, {"Name": "two words"})),
        (7914, ask("POST", PERMISSIONS)),
        (8120, lambda item: taken_permission(item, "POST", PERMISSIONS)),
    ),
    *of_permission("organization_permissions.read", "GET"),
    *of_permission("organization_permissions.update", "PUT", {"Name": "x", "Description": ""}),
    *refusals(
        "organization_permissions.update",
        (7900, ask("PUT", f"{PERMISSIONS}/{NO_PERMISSION}", {"Name": "x"})),
        (7934, ask("PUT", f"{PERMISSIONS}/{NO_PERMISSION}")),
        (8120, lambda item: taken_permission(item, "PUT", f"{PERMISSIONS}/{item.permission()}")),
    ),
    *of_permission("organization_permissions.delete", "DELETE"),
    *refusals("organization_roles.list", (1267, ask("GET", ROLES), OFF)),
    *refusals(
        "organization_roles.create",
        (1267, ask("POST", ROLES, ROLE), OFF),
        (7900, ask("POST", ROLES, {"Description": "nameless"})),
        (8044, ask("POST", ROLES)),
        (8119, ask("POST", ROLES, {**ROLE, "Permissions": [NO_PERMISSION]})),
        (8123, lambda item: taken_role(item, "POST", ROLES)),
    ),
    *of_role("organization_roles.read", "GET"),
    *of_role("organization_roles.update", "PUT", body=ROLE),
    *refusals(
        "organization_roles.update",
        (7900, ask("PUT", f"{ROLES}/{NO_ROLE}", {"Name": "x"})),
        (8044, ask("PUT", f"{ROLES}/{NO_ROLE}")),
        (8119, lambda item: item.send("PUT", f"{ROLES}/{item.role()}", {**ROLE, "Permissions": ["read"]})),
        (8123, lambda item: taken_role(item, "PUT", f"{ROLES}/{item.role()}")),
        (8180, lambda item: of_inactive(item, "PUT", ROLE)),
    ),
    *of_role("organization_roles.delete", "DELETE"),
    *refusals("organization_roles.delete", (8128, default_of_tenant), (8180, lambda item: of_inactive(item, "DELETE"))),
    *refusals(
        "organization_roles.find",
        (1267, ask("GET", f"{ROLES}/x/name"), OFF),
        (8117, ask("GET", f"{ROLES}/x/name", orgid="acme")),
        (8118, ask("GET", f"{ROLES}/x/name", orgid=NO_ORG)),
        (8127, ask("GET", f"{ROLES}//name")),
    ),
    *of_role("organization_roles.set_default", "PUT", "/default"),
    *refusals(
        "organization_roles.set_default",
        (8143, lambda item: item.send("PUT", f"{ROLES}/{item.role(org=item.org)}/default")),
    ),
    *of_organization("organization_roles.list_of_organization", "GET"),
    *of_organization("organization_roles.create_of_organization", "POST", ROLE),
    *refusals(
        "organization_roles.create_of_organization",
        (8044, ask("POST", OF_ORG)),
        (8119, ask("POST", OF_ORG, {**ROLE, "Permissions": [NO_PERMISSION]})),
        (8123, lambda item: taken_role(item, "POST", f"{PATH}/{item.org}/roles", item.org)),
        (8127, ask("POST", OF_ORG, {"Description": "nameless"})),
        (8180, ask("POST", f"{PATH}/{{idle}}/roles", ROLE)),
    ),
]


@every_refusal(REFUSALS)
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.mark.both_databases
def test_permission_is_created_changed_and_deleted(business: Business) -> None:
    made = answered(business.send("POST", PERMISSIONS, {"Name": "read:users", "Description": "Read"}))
    assert re.fullmatch(r"perm_[A-Za-z0-9]{16}", made["Id"])
    assert list(made) == ["Id", "Name", "Description", "CreatedDate", "ModifiedDate"]
    assert (made["Name"], made["Description"]) == ("read:users", "Read")
    path = f"{PERMISSIONS}/{made['Id']}"
    assert answered(business.send("GET", path)) == made
    other = answered(business.send("POST", PERMISSIONS, {"Name": "a"}))
    assert answered(business.send("GET", PERMISSIONS)) == {"Data": [other, made]}
    assert answered(business.send("GET", PERMISSIONS, page=2, pagesize=1)) == {"Data": [made]}
    changed = answered(business.send("PUT", path, {"Name": "read:people", "Description": ""}))
    assert (changed["Name"], changed["CreatedDate"]) == ("read:people", made["CreatedDate"])
    assert answered(business.send("DELETE", path)) == {"IsDeleted": True}
    assert refused(business.send("GET", path)) == (404, 8122)


@pytest.mark.both_databases
def test_role_of_the_tenant_is_answered_whole(business: Business) -> None:
    permission = business.permission("read:users")
    body = {"Name": "Admin", "Description": "Everything", "Permissions": [permission, permission]}
    made = answered(business.send("POST", ROLES, body))
    dates = made["CreatedDate"], made["ModifiedDate"]
    assert re.fullmatch(r"role_[A-Za-z0-9]{16}", made["Id"])
    assert made == {
        "Id": made["Id"], "Name": "Admin", "Description": "Everything", "Level": "tenant", "OrgId": "",
        "Permissions": [{
            "ID": permission, "Name": "read:users", "Description": "", "OriginalName": "read:users", "ResourceId": "",
        }],
        "CreatedDate": dates[0], "ModifiedDate": dates[1], "OriginalName": "Admin",
    }  # fmt: skip
    assert answered(business.send("GET", f"{ROLES}/{made['Id']}")) == made
    assert answered(business.send("GET", ROLES)) == {"Data": [made]}
    changed = answered(business.send("PUT", f"{ROLES}/{made['Id']}", {**ROLE, "Name": "Boss"}))
    assert changed == {
        **made, "Name": "Boss", "Description": "", "Permissions": [], "ModifiedDate": changed["ModifiedDate"],
    }  # fmt: skip
    assert answered(business.send("DELETE", f"{ROLES}/{made['Id']}")) == {"IsDeleted": True}
    assert refused(business.send("GET", f"{ROLES}/{made['Id']}")) == (404, 8125)


@pytest.mark.both_databases
def test_organization_sees_its_roles_and_the_tenants(business: Business) -> None:
    path = f"{PATH}/{business.org}/roles"
    own = answered(business.send("POST", path, {**ROLE, "Name": "Buyer"}))
    assert (own["Level"], own["OrgId"]) == ("org", business.org)
    tenant = answered(business.send("GET", f"{ROLES}/{business.role('Admin')}"))
    business.role("Foreign", org=business.create())
    assert answered(business.send("GET", path)) == {"Data": [tenant, own]}
    assert answered(business.send("GET", path, level="org")) == {"Data": [own]}
    assert answered(business.send("GET", path, level="tenant")) == {"Data": [tenant]}
    assert answered(business.send("GET", ROLES)) == {"Data": [tenant]}
    assert answered(business.send("GET", f"{ROLES}/{own['Id']}")) == own
    assert answered(business.send("PUT", f"{ROLES}/{own['Id']}", {**ROLE, "Name": "Seller"}))["OriginalName"] == "Buyer"
    assert answered(business.send("GET", f"{PATH}/{business.deactivate(business.org)}/roles"))["Data"]


@pytest.mark.both_databases
def test_roles_are_found_by_name(business: Business) -> None:
    tenant, own = business.role("Admin"), business.role("admin", org=business.org)

    def found(name: str, **query: str) -> list[str]:
        return [item["Id"] for item in answered(business.send("GET", f"{ROLES}/{name}/name", **query))["Data"]]

    assert found("ADMIN") == [tenant]
    assert found("admin", orgid=business.org) == [own]
    assert found("admin", orgid=business.create()) == [tenant]
    assert found("nothing") == []


def test_one_role_is_the_default_and_stays(business: Business) -> None:
    first, second = business.role(), business.role()
    assert answered(business.send("PUT", f"{ROLES}/{first}/default")) == {"IsDefault": True}
    assert answered(business.send("PUT", f"{ROLES}/{second}/default")) == {"IsDefault": True}
    assert answered(business.send("DELETE", f"{ROLES}/{first}")) == {"IsDeleted": True}
    assert refused(business.send("DELETE", f"{ROLES}/{second}")) == (403, 8128)


@pytest.mark.both_databases
def test_default_role_of_an_organization_stays(business: Business) -> None:
    role = business.role(org=business.org)
    path = f"{PATH}/{business.org}/policy"
    answered(business.send("PUT", path, {"MemberPolicy": {"DefaultMemberRole": role}}))
    assert refused(business.send("DELETE", f"{ROLES}/{role}")) == (403, 8128)
    answered(business.send("PUT", path, {"MemberPolicy": {"DefaultMemberRole": None}}))
    assert answered(business.send("DELETE", f"{ROLES}/{role}")) == {"IsDeleted": True}


@pytest.mark.both_databases
def test_deleted_permission_leaves_every_role(business: Business) -> None:
    permission = business.permission()
    role = business.role(permissions=(permission,))
    answered(business.send("DELETE", f"{PERMISSIONS}/{permission}"))
    assert answered(business.send("GET", f"{ROLES}/{role}"))["Permissions"] == []


@pytest.mark.both_databases
def test_deleted_role_leaves_every_member(business: Business) -> None:
    role = business.role()
    uid = business.member(business.org, role)
    answered(business.send("DELETE", f"{ROLES}/{role}"))
    assert answered(business.send("GET", f"/v2/manage/account/{uid}/orgcontext")) == {"Data": []}


@pytest.mark.parametrize("name", ["", " ", "\u0410dmin", "Ad\u200bmin", "x" * 101])
def test_misleading_role_name_is_refused(business: Business, name: str) -> None:
    assert refused(business.send("POST", ROLES, {"Name": name})) == (400, 7900)
