"""Every response and refusal of the operations of organization user roles."""

from __future__ import annotations

import re
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.management import (
    NO_ORG,
    NO_ROLE,
    NO_UID,
    OFF,
    PATH,
    Business,
    RefusedCall,
    a_business,
    ask,
    refusals,
)
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

ACCOUNT = "/v2/manage/account"
EVERYWHERE = {"RoleIds": [NO_ROLE]}


def of_account(operation: str, method: str, path: str = "", body: Any = None) -> list[RefusedCall]:
    return refusals(
        operation,
        (1267, ask(method, f"{ACCOUNT}/{NO_UID}/orgcontext{path}", body), OFF),
        (8131, ask(method, f"{ACCOUNT}//orgcontext{path}", body)),
        (8132, ask(method, f"{ACCOUNT}/{NO_UID}/orgcontext{path}", body)),
    )


def of_both(operation: str, method: str, path: str = "", body: Any = None) -> list[RefusedCall]:
    at = f"{ACCOUNT}/{{uid}}/orgcontext"
    return refusals(
        operation,
        (1267, ask(method, f"{at}/{NO_ORG}{path}", body), OFF),
        (8117, ask(method, f"{at}/acme{path}", body)),
        (8118, ask(method, f"{at}/{NO_ORG}{path}", body)),
        (8129, ask(method, f"{at}/%20{path}", body)),
        (8131, ask(method, f"{ACCOUNT}/%20/orgcontext/{{org}}{path}", body)),
        (8132, ask(method, f"{ACCOUNT}/{NO_UID}/orgcontext/{{org}}{path}", body)),
        (8180, ask(method, f"{at}/{{idle}}{path}", body)),
    )


def roles(method: str, role: str) -> Any:
    return ask(method, f"{ACCOUNT}/{{uid}}/orgcontext/{{org}}/roles", {"RoleIds": [role]})


def foreign(business: Business, method: str) -> TestResponse:
    role = business.role(org=business.create())
    path = f"{ACCOUNT}/{business.member(business.org)}/orgcontext/{business.org}/roles"
    return business.send(method, path, {"RoleIds": [role]})


def twice(business: Business) -> TestResponse:
    role = business.role()
    answered(business.assign(business.uid, business.org, role))
    return business.assign(business.uid, business.org, role)


def full(business: Business) -> TestResponse:
    answered(business.send("PUT", f"{PATH}/{business.org}/policy", {"MemberPolicy": {"Seats": 1}}))
    business.member(business.org)
    return business.assign(business.uid, business.org, business.role())


def everywhere(business: Business, role: str, uid: str = "") -> TestResponse:
    return business.send("PUT", f"{ACCOUNT}/{uid or business.uid}/orgcontext/roles", {"RoleIds": [role]})


def everywhere_twice(business: Business) -> TestResponse:
    role = business.role()
    answered(business.assign(business.uid, business.org, role))
    return everywhere(business, role)


REFUSALS: list[RefusedCall] = [
    *of_account("organization_members.list_of_account", "GET"),
    *of_account("organization_members.leave_all", "DELETE"),
    *of_both("organization_members.list_in_organization", "GET"),
    *refusals("organization_members.list_in_organization", (8135, ask("GET", f"{ACCOUNT}/{{uid}}/orgcontext/{{org}}"))),
    *of_both("organization_members.leave", "DELETE"),
    *refusals("organization_members.leave", (8135, ask("DELETE", f"{ACCOUNT}/{{uid}}/orgcontext/{{org}}"))),
    *of_both("organization_members.assign", "PUT", "/roles", EVERYWHERE),
    *refusals(
        "organization_members.assign",
        (7900, ask("PUT", f"{ACCOUNT}/{{uid}}/orgcontext/{{org}}/roles", {"RoleIds": []})),
        (8044, ask("PUT", f"{ACCOUNT}/{{uid}}/orgcontext/{{org}}/roles")),
        (8124, roles("PUT", NO_ROLE)),
        (8130, twice),
        (8142, lambda item: foreign(item, "PUT")),
        (8188, full),
    ),
    *of_both("organization_members.unassign", "DELETE", "/roles", EVERYWHERE),
    *refusals(
        "organization_members.unassign",
        (8044, ask("DELETE", f"{ACCOUNT}/{{uid}}/orgcontext/{{org}}/roles")),
        (8124, roles("DELETE", "admin")),
        (8135, lambda item: roles("DELETE", item.role())(item)),
        (8142, lambda item: foreign(item, "DELETE")),
    ),
    *of_account("organization_members.assign_everywhere", "PUT", "/roles", EVERYWHERE),
    *refusals(
        "organization_members.assign_everywhere",
        (8044, ask("PUT", f"{ACCOUNT}/{{uid}}/orgcontext/roles")),
        (8124, lambda item: everywhere(item, NO_ROLE)),
        (8130, everywhere_twice),
        (8143, lambda item: everywhere(item, item.role(org=item.org))),
    ),
    *refusals(
        "organization_members.list_of_organization",
        (1267, ask("GET", f"{PATH}/{NO_ORG}/orgcontext"), OFF),
        (8117, ask("GET", f"{PATH}/acme/orgcontext")),
        (8118, ask("GET", f"{PATH}/{NO_ORG}/orgcontext")),
        (8129, ask("GET", f"{PATH}//orgcontext")),
    ),
]


@every_refusal(REFUSALS)
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


def in_all(business: Business, uid: str) -> list[dict[str, Any]]:
    """Return the account's roles in all organizations."""
    found: list[dict[str, Any]] = answered(business.send("GET", f"{ACCOUNT}/{uid}/orgcontext"))["Data"]
    return found


def test_assigned_roles_are_answered_and_listed(business: Business) -> None:
    uid, first, second = business.account("Ada@acme.example"), business.role("One"), business.role("Two", business.org)
    made = answered(business.assign(uid, business.org, first))["Data"]
    assert re.fullmatch(r"user_role_[A-Za-z0-9]{16}", made[0]["Id"])
    assert made == [
        {
            "Id": made[0]["Id"], "Uid": uid, "RoleId": first, "OrgId": business.org, "Email": "Ada@acme.example",
            "CreatedDate": made[0]["CreatedDate"],
        }
    ]  # fmt: skip
    both = answered(business.assign(uid, business.org, second, second))["Data"]
    assert [item["RoleId"] for item in both] == [first, second]
    assert answered(business.send("GET", f"{PATH}/{business.org}/orgcontext"))["Data"] == both
    assert answered(business.send("GET", f"{ACCOUNT}/{uid}/orgcontext/{business.org}"))["Data"] == both
    assert in_all(business, uid) == both


@pytest.mark.both_databases
def test_refused_assignment_changes_nothing(business: Business) -> None:
    stored, other = business.role(), business.role()
    answered(business.assign(business.uid, business.org, stored))
    assert refused(business.assign(business.uid, business.org, other, stored)) == (409, 8130)
    assert [member["RoleId"] for member in in_all(business, business.uid)] == [stored]


@pytest.mark.both_databases
def test_first_role_makes_a_member_and_the_last_ends_it(business: Business) -> None:
    first, second = business.role(), business.role()
    entry = {"Id": business.org, "Name": "Acme", "LogoURL": None}
    path = f"{ACCOUNT}/{business.uid}/orgcontext/{business.org}/roles"
    assert business.tenant.read(business.uid)["Organizations"] is None
    answered(business.assign(business.uid, business.org, first, second))
    assert business.tenant.read(business.uid)["Organizations"] == [entry]
    assert answered(business.send("DELETE", path, {"RoleIds": [first]})) == {"IsDeleted": True}
    assert business.tenant.read(business.uid)["Organizations"] == [entry]
    assert answered(business.send("DELETE", path, {"RoleIds": [first]})) == {"IsDeleted": False}
    assert answered(business.send("DELETE", path, {"RoleIds": [second]})) == {"IsDeleted": True}
    assert business.tenant.read(business.uid)["Organizations"] is None


def test_profile_shows_the_look_of_the_organization(business: Business) -> None:
    display = {"Name": "Acme Shoes", "LogoURL": "https://acme.example/logo.svg"}
    org = business.create("acme-ltd", Display=display)
    uid = business.member(org)
    expected = [{"Id": org, **display}]
    assert business.tenant.read(uid)["Organizations"] == expected
    assert business.tenant.read(uid, fields="Organizations/Name") == {"Organizations": [{"Name": "Acme Shoes"}]}
    token = str(business.tenant.tokens(uid)["access_token"])
    own = answered(business.tenant.send("GET", "/identity/v2/auth/account", bearer=token))
    assert own["Organizations"] == expected
    business.tenant.change_settings(**OFF)
    assert business.tenant.read(uid)["Organizations"] is None


def test_roles_of_the_tenant_are_given_everywhere(business: Business) -> None:
    role, other = business.role(), business.create()
    uid = business.member(business.org)
    answered(business.assign(uid, other, role))
    idle = business.create()
    answered(business.assign(uid, idle, business.role(org=idle)))
    business.deactivate(idle)
    values = answered(everywhere(business, role, uid))["Data"]
    assert sorted(item["OrgId"] for item in values if item["RoleId"] == role) == sorted([business.org, other])
    assert answered(everywhere(business, role)) == {"Data": []}


def test_account_leaves_one_organization_or_all(business: Business) -> None:
    role, other = business.role(), business.create()
    for org in (business.org, other):
        answered(business.assign(business.uid, org, role))
    path = f"{ACCOUNT}/{business.uid}/orgcontext"
    assert answered(business.send("DELETE", f"{path}/{business.org}")) == {"IsDeleted": True}
    assert [member["OrgId"] for member in in_all(business, business.uid)] == [other]
    assert answered(business.send("DELETE", path)) == {"IsDeleted": True}
    assert in_all(business, business.uid) == []
    assert answered(business.send("DELETE", path)) == {"IsDeleted": False}


@pytest.mark.both_databases
def test_members_are_paged_and_searched(business: Business) -> None:
    admin = business.role("Admin")
    uids = [business.member(business.org, admin if number == 1 else business.role(), email=f"m{number}@acme.example")
            for number in range(3)]  # fmt: skip
    path = f"{PATH}/{business.org}/orgcontext"

    def listed(**query: Any) -> list[str]:
        return [item["Uid"] for item in answered(business.send("GET", path, **query))["Data"]]

    assert listed() == uids
    assert listed(page=2, pagesize=2) == uids[2:]
    assert listed(email="M1@") == [uids[1]]
    assert listed(email="_1") == []
    assert listed(roleid=admin) == [uids[1]]
    assert listed(page=1) == uids


def test_members_of_inactive_organization_are_listed(business: Business) -> None:
    uid = business.member(business.org)
    path = f"{PATH}/{business.deactivate(business.org)}/orgcontext"
    assert [item["Uid"] for item in answered(business.send("GET", path))["Data"]] == [uid]


def test_deleted_account_is_no_member(business: Business) -> None:
    uid = business.member(business.org)
    answered(business.send("DELETE", f"/identity/v2/manage/account/{uid}"))
    assert answered(business.send("GET", f"{PATH}/{business.org}/orgcontext")) == {"Data": []}


@pytest.mark.both_databases
def test_changed_uid_keeps_the_memberships(new_tenant_server: NewTenantServer) -> None:
    business = a_business(new_tenant_server, custom_uid=True)
    uid = business.member(business.org)
    answered(business.send("PUT", "/identity/v2/manage/account/uid", {"NewUid": "ada"}, uid=uid))
    assert [member["Uid"] for member in in_all(business, "ada")] == ["ada"]
