"""Every refusal and response of roles, permissions and role contexts, operations A37 to A50."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.operation_cases.cases import (
    AccountHolder,
    Act,
    Answer,
    Ask,
    Refusal,
    account_holder,
    events,
    refusals,
)
from tests.support.operation_cases.shapes import DELETED, ListOf
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

EDITOR = {"name": "editor", "permissions": {"pages:read": True, "pages:write": True, "pages:delete": False}}
VIEWER = {"name": "viewer", "permissions": {"pages:read": True}}
SHOP = {
    "Context": "shop", "Roles": ["viewer"], "AdditionalPermissions": ["orders/refund"], "Expiration": "12/31/2027 11:59:59 PM",
}  # fmt: skip
SHOP_SHOWN = {**SHOP, "Expiration": "2027-12-31T23:59:59.000Z"}
EDITOR_SHOWN = {"Name": "editor", "Permissions": {"pages:read": True, "pages:write": True}}
VIEWER_SHOWN = {"Name": "viewer", "Permissions": {"pages:read": True}}
UNKNOWN_UID = "0" * 32


def with_roles(who: AccountHolder) -> AccountHolder:
    """Create two roles."""
    answered(who.managed("A47", {"roles": [EDITOR, VIEWER]}))
    return who


def with_context(who: AccountHolder, *contexts: Mapping[str, Any]) -> AccountHolder:
    """Create two roles, and give the account role contexts, by default SHOP."""
    answered(with_roles(who).managed("A41", {"rolecontext": list(contexts) or [SHOP]}))
    return who


def ask(row: str, body: Any = None, **at: str) -> Act:
    """Send a request in a tenant with two roles."""
    return lambda who: with_roles(who).managed(row, body, at=at)


def in_shop(row: str, body: Any = None, context: str = "shop") -> Act:
    """Send a request about a context of an account that has the context SHOP."""
    return lambda who: with_context(who).managed(row, body, at={"context": context})


def put_context(**changes: Any) -> Act:
    return ask("A41", {"rolecontext": [{**SHOP, **changes}]})


NO_ROLE: dict[str, Any] = {"roles": ["viewer", "Viewer"]}
REFUSALS: list[Refusal] = [
    *refusals("A37", (984, ask("A37", uid=UNKNOWN_UID))),
    *refusals("A38", (984, ask("A38", {"roles": ["viewer"]}, uid=UNKNOWN_UID)), (1047, ask("A38", NO_ROLE))),
    *refusals("A39", (984, ask("A39", {"roles": ["viewer"]}, uid=UNKNOWN_UID)), (1047, ask("A39", NO_ROLE))),
    *refusals("A40", (984, ask("A40", uid=UNKNOWN_UID))),
    *refusals(
        "A41",
        (1047, put_context(Roles=["owner"])),
        (1133, put_context(Context="a/b")),
        (1172, put_context(Expiration="31/12/2027 11:59:59 PM")),
    ),
    *refusals("A42", (1133, in_shop("A42", context="Shop"))),
    *refusals(
        "A43",
        (1047, in_shop("A43", {"roles": ["owner"]})),
        (1133, in_shop("A43", {"roles": ["viewer"]}, context="mall")),
    ),
    *refusals(
        "A44",
        (1133, in_shop("A44", {"additionalpermissions": ["orders/refund"]}, context="mall")),
        (1142, in_shop("A44", {"additionalpermissions": ["orders/refund", "pages:read"]})),
    ),
    *refusals("A45", (1133, in_shop("A45", context="SHOP"))),
    *refusals("A47", (1175, ask("A47", {"roles": [{"name": "Editor"}]}))),
    *refusals("A48", (1047, ask("A48", role="owner"))),
    *refusals("A49", (1047, ask("A49", {"permissions": ["a"]}, role="Editor"))),
    *refusals(
        "A50",
        (1047, ask("A50", {"permissions": ["pages:read"]}, role="owner")),
        (1142, ask("A50", {"permissions": ["pages:delete"]}, role="editor")),
    ),
]
NOT_HERE = {("A40", 1133): "an account without role contexts gets an empty list"}


def prepared(body: Any = None, **at: str) -> Any:
    """Return a request in a tenant with two roles, for an account that has one of them and a context."""

    def done(who: AccountHolder) -> Ask:
        answered(with_context(who).managed("A38", {"roles": ["viewer"]}))
        return Ask(body, at=at)

    return done


IN_CONTEXT = {
    "RoleContext": {name: value for name, value in SHOP_SHOWN.items() if name != "Context"}, "Uid": str, "LastLoginDate": None,
    "FullName": None, "Email": ListOf({"Type": str, "Value": str}), "ImageUrl": None,
}  # fmt: skip
ANSWERS: list[Answer] = [
    Answer("A37", prepared(), {"Roles": ["viewer"]}),
    Answer("A38", prepared({"roles": ["editor", "viewer"]}), {"Roles": ["editor", "viewer"]}, events=("AssignRoles",)),
    Answer("A39", prepared({"roles": ["editor", "viewer"]}), DELETED, events=("UnassignRoles",)),
    Answer("A40", prepared(), {"Data": [SHOP_SHOWN]}),
    Answer("A41", prepared({"rolecontext": [{**SHOP, "Context": "mall", "Expiration": None}]}),
           {"Data": [{**SHOP, "Context": "mall", "Expiration": None}, SHOP_SHOWN]}, events=("AssignRoles",)),
    Answer("A42", prepared(context="shop"), DELETED, events=("RemoveRoleContext",)),
    Answer("A43", prepared({"roles": ["viewer"]}, context="shop"), DELETED, events=("UnassignRoles",)),
    Answer("A44", prepared({"additionalpermissions": ["orders/refund"]}, context="shop"), DELETED, events=("UnassignRoles",)),
    Answer("A45", prepared(context="shop"), {"Data": ListOf(IN_CONTEXT)}),
    Answer("A46", prepared(), {"data": [EDITOR_SHOWN, VIEWER_SHOWN], "Count": 2}),
    Answer("A47", prepared({"roles": [{"name": "owner"}, {"name": "clerk", "permissions": {"a": True}}]}),
           {"data": [{"Name": "clerk", "Permissions": {"a": True}}, {"Name": "owner", "Permissions": {}}], "Count": 2}),
    Answer("A48", prepared(role="viewer"), DELETED),
    Answer("A49", prepared({"permissions": ["a", "pages:read"]}, role="viewer"),
           {"Name": "viewer", "Permissions": {"a": True, "pages:read": True}}),
    Answer("A50", prepared({"permissions": ["pages:write"]}, role="editor"),
           {"Name": "editor", "Permissions": {"pages:read": True}}),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS, stored={"A39", "A42", "A44"})
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


BODIES: list[tuple[str, Any]] = [
    ("A38", {"roles": []}),
    ("A38", {"roles": ["viewer"] * 51}),
    ("A38", {"roles": "viewer"}),
    ("A38", {}),
    ("A41", {"rolecontext": [SHOP, SHOP]}),
    ("A41", {"rolecontext": [{"Roles": ["viewer"]}]}),
    ("A41", {"rolecontext": [{**SHOP, "AdditionalPermissions": ["a,b"]}]}),
    ("A41", {"rolecontext": [{**SHOP, "Context": f"c{number}"} for number in range(51)]}),
    ("A47", {"roles": [{"name": "owner", "permissions": {"a b ": True}}]}),
    ("A47", {"roles": [{"name": "owner", "permissions": {"x" * 65: True}}]}),
    ("A47", {"roles": [{"name": "owner", "permissions": ["a"]}]}),
    ("A47", {"roles": [{"name": "owner", "permissions": {f"p{number}": True for number in range(101)}}]}),
    ("A47", {"roles": [{"name": f"role {number:03}x"} for number in range(199)]}),
]


def test_malformed_or_excessive_body_is_refused(new_tenant_server: NewTenantServer, subtests: pytest.Subtests) -> None:
    for row, body in BODIES:
        with subtests.test(str((row, body))[:60]):
            who = with_roles(account_holder(new_tenant_server))
            assert refused(who.managed(row, body)) == (400, 908)
            assert answered(who.managed("A37")) == {"Roles": []}
            assert answered(who.managed("A40")) == {"Data": []}
            assert answered(who.managed("A46"))["Count"] == 2


NAMES = ("viewer", "Viewer", "VIEWER", "view er", "v\u0456ewer", "v1ewer", "vlewer", "vievver", "vie\u200bwer", "", " viewer", "a/b",
         "a,b", ".", "..", "x" * 65, "a\u0301", "a\nb", "\uff56iewer")  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_taken_or_lookalike_role_name_is_refused(new_tenant_server: NewTenantServer, name: str) -> None:
    who = with_roles(account_holder(new_tenant_server))
    assert refused(who.managed("A47", {"roles": [{"name": "clerk"}, {"name": name}]})) == (403, 1175)
    assert answered(who.managed("A46"))["Count"] == 2


def test_role_is_found_by_exact_name_only(new_tenant_server: NewTenantServer) -> None:
    who = with_roles(account_holder(new_tenant_server))
    for name in ("Viewer", "viewer ", "v\u0456ewer", "x" * 200, "vie\u0000wer"):
        assert refused(who.managed("A38", {"roles": [name]}))[0] in (400, 403), ascii(name)
    assert answered(who.managed("A37")) == {"Roles": []}


def test_name_with_blank_and_umlaut_is_usable(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(who.managed("A47", {"roles": [{"name": "Größe 2+"}, {"name": "管理者"}]}))
    assert answered(who.managed("A38", {"roles": ["管理者", "Größe 2+"]})) == {"Roles": ["Größe 2+", "管理者"]}
    assert answered(who.managed("A48", at={"role": "Gr%C3%B6%C3%9Fe%202+"})) == DELETED
    assert answered(who.managed("A37")) == {"Roles": ["管理者"]}


def test_deleted_role_leaves_accounts_and_contexts(new_tenant_server: NewTenantServer) -> None:
    who = with_context(account_holder(new_tenant_server))
    answered(who.managed("A38", {"roles": ["viewer", "editor"]}))
    answered(who.managed("A48", at={"role": "viewer"}))
    assert answered(who.managed("A37")) == {"Roles": ["editor"]}
    assert answered(who.managed("A40")) == {"Data": [{**SHOP_SHOWN, "Roles": []}]}
    answered(who.managed("A47", {"roles": [VIEWER]}))
    assert answered(who.managed("A37")) == {"Roles": ["editor"]}


@pytest.mark.both_databases
def test_repeated_assignment_changes_nothing(new_tenant_server: NewTenantServer) -> None:
    who = with_roles(account_holder(new_tenant_server))
    for _ in range(2):
        assert answered(who.managed("A38", {"roles": ["viewer", "viewer"]})) == {"Roles": ["viewer"]}
    for _ in range(2):
        assert answered(who.managed("A39", {"roles": ["viewer"]})) == DELETED
    assert [name for name, _ in events(who.tenant)][-2:] == ["AssignRoles", "UnassignRoles"]


def test_profile_has_roles_but_no_role_contexts(new_tenant_server: NewTenantServer) -> None:
    who = with_context(account_holder(new_tenant_server))
    before = who.tenant.read(who.uid)
    assert before["Roles"] is None
    who.advance_clock(minutes=1)
    answered(who.managed("A38", {"roles": ["viewer", "editor"]}))
    profile = who.tenant.read(who.uid)
    assert (profile["Roles"], "RoleContext" in profile) == (["editor", "viewer"], False)
    assert profile["ModifiedDate"] > before["ModifiedDate"]
    assert answered(who.own("U15"))["Roles"] == ["editor", "viewer"]
    assert answered(who.logs_in())["Profile"]["Roles"] == ["editor", "viewer"]
    assert who.tenant.update(who.uid, {"FirstName": "Ada"})["Roles"] == ["editor", "viewer"]


def test_profile_updates_cannot_set_roles(new_tenant_server: NewTenantServer) -> None:
    who = with_roles(account_holder(new_tenant_server))
    assert who.tenant.update(who.uid, {"Roles": ["editor"]})["Roles"] is None
    assert who.tenant.create(Roles=["editor"])["Roles"] is None
    answered(who.own("U16", {"Roles": ["editor"], "RoleContext": [SHOP]}))
    assert answered(who.managed("A37")) == {"Roles": []}
    assert answered(who.managed("A40")) == {"Data": []}


def test_absent_members_of_context_keep_their_value(new_tenant_server: NewTenantServer) -> None:
    who = with_context(account_holder(new_tenant_server))

    def put(**members: Any) -> TestResponse:
        return who.managed("A41", {"rolecontext": [{"context": "shop", **members}]})

    assert answered(put()) == {"Data": [SHOP_SHOWN]}
    assert answered(put(roles=["editor"])) == {"Data": [{**SHOP_SHOWN, "Roles": ["editor"]}]}
    assert answered(put(roles=None, additionalpermissions=[]))["Data"] == [
        {**SHOP_SHOWN, "Roles": [], "AdditionalPermissions": []}
    ]
    assert answered(put(expiration=None))["Data"][0]["Expiration"] is None


DATES = {
    "1/2/2027 3:04:05 am": "2027-01-02T03:04:05.000Z", "2027-01-02": "2027-01-02T00:00:00.000Z",
    "2027-01-02T03:04:05+02:00": "2027-01-02T01:04:05.000Z", "2027-01-02T03:04:05.678Z": "2027-01-02T03:04:05.000Z",
}  # fmt: skip
NO_DATES = ("", "soon", "2/30/2027 1:00:00 AM", "1/2/2027", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")


def test_expiration_is_read_in_both_formats(new_tenant_server: NewTenantServer) -> None:
    who = with_roles(account_holder(new_tenant_server))
    for text, shown in DATES.items():
        put = who.managed("A41", {"rolecontext": [{"context": "shop", "expiration": text}]})
        assert answered(put)["Data"][0]["Expiration"] == shown
    for text in NO_DATES:
        put = who.managed("A41", {"rolecontext": [{"context": "mall", "expiration": text}]})
        assert refused(put) == (400, 1172), text
    assert [item["Context"] for item in answered(who.managed("A40"))["Data"]] == ["shop"]
