"""Roles of other tenants and of former accounts, concurrent requests, machine scopes, and the cost of long lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, insert, select
from werkzeug.test import TestResponse

from app.identity.directory.accounts.assigned_roles import account_roles
from app.identity.directory.accounts.tables import accounts
from app.identity.directory.roles.tenant_role_store import role_contexts, roles
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.operation_cases.cases import AccountHolder, account_holder, events
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

pytestmark = pytest.mark.both_databases("first")

ROLES = {"roles": [{"name": "editor", "permissions": {"a": True}}, {"name": "viewer"}]}
SHOP = {"context": "shop", "roles": ["viewer"], "additionalpermissions": ["b"]}


def a_holder(make: NewTenantServer, **settings: Any) -> AccountHolder:
    """Return an account with a role and a context."""
    who = account_holder(make, **settings)
    answered(who.managed("A47", ROLES))
    answered(who.managed("A38", {"roles": ["editor"]}))
    answered(who.managed("A41", {"rolecontext": [SHOP]}))
    return who


def count(tenant: TenantServer, table: Any, *where: Any) -> int:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        row = work.one(select(func.count()).select_from(table).where(table.c.tenant_id == tenant.tenant_id, *where))
    return int(row[0]) if row is not None else 0


def cost(answer: TestResponse) -> int:
    """Return the number of statements."""
    answered(answer)
    return int(answer.headers["X-Gatehouse-Cost"].split("sql=")[1].split(";")[0])


def test_other_tenant_neither_reads_nor_changes_roles(new_tenant_server: NewTenantServer) -> None:
    who, outsider = a_holder(new_tenant_server), account_holder(new_tenant_server)
    assert answered(outsider.managed("A46")) == {"data": [], "Count": 0}
    for row, body in (("A37", None), ("A38", {"roles": ["editor"]}), ("A39", {"roles": ["editor"]}), ("A40", None),
                      ("A41", {"rolecontext": [SHOP]}), ("A42", None)):  # fmt: skip
        assert refused(outsider.managed(row, body, at={"uid": who.uid, "context": "shop"})) == (403, 984)
    assert refused(outsider.managed("A38", {"roles": ["editor"]})) == (403, 1047)
    assert refused(outsider.managed("A45", at={"context": "shop"})) == (403, 1133)
    for row, body in (("A48", None), ("A49", {"permissions": ["x"]}), ("A50", {"permissions": ["a"]})):
        assert refused(outsider.managed(row, body, at={"role": "editor"})) == (403, 1047)


def test_same_role_name_in_two_tenants_is_independent(new_tenant_server: NewTenantServer) -> None:
    who, outsider = a_holder(new_tenant_server), a_holder(new_tenant_server)
    answered(outsider.managed("A49", {"permissions": ["x"]}, at={"role": "editor"}))
    answered(outsider.managed("A48", at={"role": "viewer"}))
    assert answered(who.managed("A46"))["data"][0]["Permissions"] == {"a": True}
    assert answered(who.managed("A40"))["Data"][0]["Roles"] == ["viewer"]
    (found,) = answered(who.managed("A45", at={"context": "shop"}))["Data"]
    assert found["Uid"] == who.uid


def test_later_account_with_same_id_inherits_nothing(new_tenant_server: NewTenantServer) -> None:
    who = a_holder(new_tenant_server, custom_uid=True)
    answered(who.tenant.send("DELETE", f"{MANAGE}/{who.uid}"))
    assert count(who.tenant, account_roles) + count(who.tenant, role_contexts) == 0
    who.tenant.create(Uid=who.uid)
    assert answered(who.managed("A37")) == {"Roles": []}
    assert answered(who.managed("A40")) == {"Data": []}


def test_changed_id_keeps_roles_and_contexts(new_tenant_server: NewTenantServer) -> None:
    who = a_holder(new_tenant_server, custom_uid=True)
    answered(who.tenant.send("PUT", f"{MANAGE}/uid", {"NewUid": "countess"}, uid=who.uid))
    assert answered(who.managed("A37", at={"uid": "countess"})) == {"Roles": ["editor"]}
    assert answered(who.managed("A40", at={"uid": "countess"}))["Data"][0]["Roles"] == ["viewer"]
    assert count(who.tenant, account_roles, account_roles.c.uid == who.uid) == 0


def test_machine_scope_allows_only_its_operations(new_tenant_server: NewTenantServer) -> None:
    who = a_holder(new_tenant_server)
    path = f"{MANAGE}/{who.uid}/role"
    allowed: dict[str, Callable[[str], TestResponse]] = {
        "role:read": lambda token: ask(who.tenant, token, "GET", path),
        "role:create": lambda token: ask(
            who.tenant, token, "POST", "/identity/v2/manage/role", {"roles": [{"name": "c"}]}
        ),
        "role:update": lambda token: ask(who.tenant, token, "PUT", path, {"roles": ["viewer"]}),
        "role:delete": lambda token: ask(who.tenant, token, "DELETE", path, {"roles": ["viewer"]}),
    }
    for scope in (*allowed, "profile:update"):
        token = machine(who.tenant, scope)
        for needed, act in allowed.items():
            if needed == scope:
                answered(act(token))
            else:
                assert refused(act(token)) == (403, 6002), (scope, needed)


def test_access_token_cannot_assign_roles(new_tenant_server: NewTenantServer) -> None:
    who = a_holder(new_tenant_server)
    answer = who.tenant.send("PUT", f"{MANAGE}/{who.uid}/role", {"roles": ["viewer"]}, bearer=who.bearer)
    assert answer.status_code in (400, 401, 403), answer.text
    assert answered(who.managed("A37")) == {"Roles": ["editor"]}


def test_concurrent_creations_of_one_name_add_one_role(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    spelled = ["owner", "Owner", "0wner", "owner"] * 3
    answers = at_once([lambda name=name: who.managed("A47", {"roles": [{"name": name}]}) for name in spelled])  # type: ignore[misc]  # a lambda's default has no type
    assert Counter(answer.status_code for answer in answers) == {200: 1, 403: 11}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(403, 1175)}
    assert count(who.tenant, roles) == 1


def test_concurrent_assignments_add_one_row(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(who.managed("A47", ROLES))
    answers = at_once([lambda: who.managed("A38", {"roles": ["editor"]})] * 20)
    assert [answered(answer) for answer in answers] == [{"Roles": ["editor"]}] * 20
    assert count(who.tenant, account_roles) == 1
    assert [name for name, _ in events(who.tenant)].count("AssignRoles") == 1


def test_concurrent_assignments_respect_role_limit(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    names = [f"role {number:02}x" for number in range(60)]
    answered(who.managed("A47", {"roles": [{"name": name} for name in names]}))
    groups = [names[start : start + 10] for start in range(0, 60, 10)]
    answers = at_once([lambda group=group: who.managed("A38", {"roles": group}) for group in groups])  # type: ignore[misc]  # a lambda's default has no type
    assert Counter(answer.status_code for answer in answers) == {200: 5, 400: 1}
    assert len(answered(who.managed("A37"))["Roles"]) == 50


def test_concurrent_permissions_are_all_stored(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(who.managed("A47", ROLES))

    def add(number: int) -> TestResponse:
        return who.managed("A49", {"permissions": [f"p{number}"]}, at={"role": "viewer"})

    at_once([lambda n=number: answered(add(n)) for number in range(10)])  # type: ignore[misc]  # a lambda's default has no type
    stored = answered(who.managed("A46"))["data"][1]["Permissions"]
    assert stored == {f"p{number}": True for number in range(10)}


def test_deletion_during_assignments_leaves_no_rows(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(who.managed("A47", ROLES))
    uids = [who.tenant.create()["Uid"] for _ in range(5)]
    acts: list[Callable[[], TestResponse]] = [
        lambda uid=uid: who.managed("A38", {"roles": ["editor", "viewer"]}, at={"uid": uid})  # type: ignore[misc]  # a lambda's default has no type
        for uid in uids
    ]
    acts += [lambda: who.managed("A48", at={"role": "viewer"})]
    acts += [lambda: who.tenant.send("DELETE", f"{MANAGE}/{uids[0]}")]
    answers = at_once(acts)
    assert {answer.status_code for answer in answers} <= {200, 403}
    assert count(who.tenant, account_roles, account_roles.c.role == "viewer") == 0
    assert count(who.tenant, account_roles, account_roles.c.uid == uids[0]) == 0


def test_role_changes_are_audited_by_name(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(who.managed("A47", ROLES))
    answered(who.managed("A49", {"permissions": ["x"]}, at={"role": "viewer"}))
    answered(who.managed("A48", at={"role": "editor"}))
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        found = select(audit.c.event, audit.c.facts).where(audit.c.event.startswith("roles."))
        rows = work.all(found.where(audit.c.tenant_id == who.tenant.tenant_id).order_by(audit.c.entry_id))
    named = [(row.event, row.facts["name"]) for row in rows]
    assert sorted(named[:2]) == [("roles.added", "editor"), ("roles.added", "viewer")]
    assert named[2:] == [("roles.changed", "viewer"), ("roles.removed", "editor")]


def many_accounts(who: AccountHolder, number: int) -> None:
    """Give copies of the account the context SHOP."""
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        row = work.one(select(accounts).where(accounts.c.tenant_id == who.tenant.tenant_id, accounts.c.uid == who.uid))
        assert row is not None
        stored = {column.name: row._mapping[column] for column in accounts.c}
        uids = [f"{copy:032x}" for copy in range(number)]
        work.run(insert(accounts), [{**stored, "uid": uid, "profile_id": uid} for uid in uids])
        key = {"tenant_id": who.tenant.tenant_id, "context": "shop"}
        work.run(insert(role_contexts), [{**key, "uid": uid, "additional_permissions": ["b"]} for uid in uids])
        work.run(insert(account_roles), [{**key, "uid": uid, "role": "viewer"} for uid in uids])


def test_context_of_many_accounts_is_read_in_pages(new_tenant_server: NewTenantServer) -> None:
    who = a_holder(new_tenant_server)
    few = cost(who.managed("A45", at={"context": "shop"}))
    many_accounts(who, 1_010)
    answer = who.managed("A45", at={"context": "shop"})
    assert cost(answer) == few
    first = answered(answer)
    second = answered(who.managed("A45", at={"context": "shop"}, cursor=first["NextCursor"]))
    assert (len(first["Data"]), len(second["Data"]), [*second]) == (1_000, 11, ["Data"])
    assert len({item["Uid"] for item in (*first["Data"], *second["Data"])}) == 1_011
    assert {tuple(item["RoleContext"]["Roles"]) for item in first["Data"]} == {("viewer",)}
    assert answered(who.managed("A45", at={"context": "shop"}, cursor="zzz")) == {"Data": []}


def test_number_of_roles_does_not_change_the_cost(new_tenant_server: NewTenantServer) -> None:
    who = a_holder(new_tenant_server)
    names = [f"role {number:02}x" for number in range(41)]
    item, forty = names[:1], names[1:]
    assert cost(who.managed("A47", {"roles": [{"name": name} for name in item]})) == cost(
        who.managed("A47", {"roles": [{"name": name} for name in forty]})
    )
    for row in ("A38", "A39"):
        assert cost(who.managed(row, {"roles": item})) == cost(who.managed(row, {"roles": forty})), row
    contexts = [{"context": name, "roles": forty} for name in names]
    assert cost(who.managed("A41", {"rolecontext": contexts[:1]})) == cost(
        who.managed("A41", {"rolecontext": contexts[1:]})
    )
    few = cost(who.managed("A37"))
    answered(who.managed("A38", {"roles": forty}))
    assert cost(who.managed("A37")) == few
    assert cost(who.tenant.send("GET", f"{MANAGE}/{who.uid}")) == few
