"""The number of statements does not grow with the number of organizations, members, roles and permissions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert

from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.tables import accounts as accounts_table
from app.identity.directory.organizations import (
    active_policies,
    organization_names,
    organization_store,
    sign_in_methods,
)
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.tables import (
    organization_domains,
    organization_user_roles,
    organizations,
)
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, answered

MANY = 60


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


def fill(business: Business, uid: str, role: str, count: int) -> list[str]:
    """Insert so many organizations with a domain, of which the account is a member, and return their ids."""
    tenant = business.tenant
    ids = [organization_names.mint(organization_names.ORGANIZATION) for _ in range(count)]
    at = tenant.services.clock.now()
    key: dict[str, Any] = {"tenant_id": tenant.tenant_id}
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        empty = {"display": {}, "metadata": {}, "policies": {}, "is_active": True, "modified_at": at}
        rows = [
            {
                **key,
                **empty,
                "org_id": item_id,
                "name": item_id,
                "name_key": item_id.lower(),
                "created_at": at + timedelta(0, number),
            }
            for number, item_id in enumerate(ids)
        ]
        work.run(insert(organizations), rows)
        claim = {"state": "pending", "strategy": "dns_txt", "token": "t", "created_at": at}
        rows = [
            {**key, **claim, "domain_id": f"d{item_id}", "org_id": item_id, "domain": f"{item_id}.example"}
            for item_id in ids
        ]
        work.run(insert(organization_domains), rows)
        stored = {"uid": uid, "role_id": role, "created_at": at}
        rows = [{**key, **stored, "user_role_id": f"u{item_id}", "org_id": item_id} for item_id in ids]
        work.run(insert(organization_user_roles), rows)
    return ids


def crowd(business: Business, org: str, role: str, count: int) -> None:
    """Insert so many members of an organization."""
    tenant, at = business.tenant, business.tenant.services.clock.now()
    key: dict[str, Any] = {"tenant_id": tenant.tenant_id}
    plain = {"emails": [], "profile": {}, "private": {}, "created_at": at, "modified_at": at, "has_organizations": True}
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        uids = [f"m{number:05}" for number in range(count)]
        rows = [{**key, **plain, "uid": uid, "profile_id": uid, "email": f"{uid}@acme.example"} for uid in uids]
        work.run(insert(accounts_table), rows)
        stored = {"org_id": org, "role_id": role, "created_at": at}
        work.run(
            insert(organization_user_roles), [{**key, **stored, "user_role_id": f"r{uid}", "uid": uid} for uid in uids]
        )


def statements(business: Business, path: str, **query: Any) -> int:
    answer = business.send("GET", path, **query)
    answered(answer)
    cost = dict(part.split("=") for part in answer.headers["X-Gatehouse-Cost"].split("; "))
    return int(cost["sql"])


@pytest.mark.both_databases
def test_lists_cost_the_same_for_many(business: Business) -> None:
    role = business.role(permissions=tuple(business.permission() for _ in range(3)))
    uid = business.member(business.org, role)
    business.create("org_first")
    requested: list[tuple[str, dict[str, Any]]] = [
        (PATH, {}),
        (PATH, {"page": 1, "pagesize": 20}),
        (PATH, {"name": "org_"}),
        (f"{PATH}/{business.org}/orgcontext", {}),
        (f"{PATH}/{business.org}/orgcontext", {"email": "m000"}),
        (f"/v2/manage/account/{uid}/orgcontext", {}),
        (f"/identity/v2/manage/account/{uid}", {}),
        (f"{PATH}/{business.org}/roles", {}),
    ]
    before = [statements(business, path, **query) for path, query in requested]
    fill(business, uid, role, MANY)
    crowd(business, business.org, role, MANY)
    for _ in range(5):
        business.role(org=business.org)
    assert [statements(business, path, **query) for path, query in requested] == before
    assert len(answered(business.send("GET", PATH))["Data"]) == MANY + 2
    assert len(answered(business.send("GET", PATH, name="org_"))["Data"]) == MANY + 1
    assert len(answered(business.send("GET", f"{PATH}/{business.org}/orgcontext"))["Data"]) == MANY + 1
    assert len(business.tenant.read(uid)["Organizations"]) == MANY + 1


@pytest.mark.both_databases
def test_memberships_take_one_statement(business: Business) -> None:
    permissions = tuple(business.permission(f"read:{number}") for number in range(4))
    role = business.role("Reader", permissions=permissions)
    uid = business.member(business.org, role)
    fill(business, uid, role, MANY)
    services = business.tenant.services
    with call_of(services, business.tenant.name) as context:
        account = account_store.by_uid(context, uid)
        assert account is not None
        before = context.work.cost.statements
        found = memberships.of(context, account)
        assert context.work.cost.statements == before + 1
        assert len(found) == MANY + 1
        assert {membership.permissions for membership in found} == {frozenset(f"read:{number}" for number in range(4))}
        assert {membership.roles[0].name for membership in found} == {"Reader"}
        outsider = account_store.by_uid(context, business.uid)
        assert outsider is not None
        before = context.work.cost.statements
        assert memberships.of(context, outsider) == []
        assert context.work.cost.statements == before


def test_policies_are_read_once_in_a_request(business: Business) -> None:
    role = business.role()
    uid = business.member(business.org, role)
    strict = {"PasswordPolicy": {"MinLength": 20}, "MethodPolicy": {"AllowedMethods": ["password"]}}
    answered(business.send("PUT", f"{PATH}/{business.org}/policy", strict))
    other = business.create()
    answered(business.send("PUT", f"{PATH}/{other}/policy", {"PasswordPolicy": {"MinLength": 30}}))
    with call_of(business.tenant.services, business.tenant.name) as context:
        account = account_store.by_uid(context, uid)
        assert account is not None
        before = context.work.cost.statements
        assert active_policies.password_rules(context, account).min_length == 20
        allowed = sign_in_methods.of_account(context, account)
        assert allowed is not None
        assert allowed.methods == ("password",)
        assert not active_policies.requires_second_factor(context, account)
        assert active_policies.shortest_lifetimes(context, account) == (None, None)
        assert context.work.cost.statements == before + 1
        membership_store.add(context, uid, other, [role])
        assert active_policies.password_rules(context, account).min_length == 30, "a membership drops what was read"
        organization_store.change(context, other, {"policies": {"PasswordPolicy": {"MinLength": 40}}})
        assert active_policies.password_rules(context, account).min_length == 40, "a policy does"
        organization_store.set_active(context, other, False)
        assert active_policies.password_rules(context, account).min_length == 20
        membership_store.remove(context, uid)
        assert sign_in_methods.of_account(context, account) is None
        context.work.rollback()


def test_domains_that_accounts_join_are_read_once(business: Business) -> None:
    domain = {"DomainName": "asked.example", "IsVerified": True}
    org = business.create(Domains=[domain])
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"JITPolicy": {"RequireApproval": True}}))
    with call_of(business.tenant.services, business.tenant.name) as context:
        found = membership_domains.of_tenant(context)
        before = context.work.cost.statements
        assert membership_domains.of_tenant(context) is found
        assert context.work.cost.statements == before
        assert found == ({}, {"asked.example": org})


def test_permission_of_two_roles_counts_once(business: Business) -> None:
    permission = business.permission("org:manage")
    uid = business.member(business.org, business.role("A", permissions=(permission,)), business.role("B"))
    answered(business.assign(uid, business.org, business.role("C", business.org, (permission,))))
    with call_of(business.tenant.services, business.tenant.name) as context:
        account = account_store.by_uid(context, uid)
        assert account is not None
        found = memberships.of(context, account)[0]
        assert [role.name for role in found.roles] == ["A", "B", "C"]
        assert found.permissions == {"org:manage"}
        assert found.is_administrator
        assert memberships.in_organization(context, account, business.org) == found
    business.deactivate(business.org)
    with call_of(business.tenant.services, business.tenant.name) as context:
        account = account_store.by_uid(context, uid)
        assert account is not None
        assert memberships.of(context, account) == []
