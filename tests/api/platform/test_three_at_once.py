"""Every operation that writes, asked from three sides at once: PostgreSQL aborts none of them, and none fails.

A request that PostgreSQL aborts runs once more, so that three of them often succeed all the same: the test counts the aborts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.kit.resources.resource import Resource, Verb
from tests.api.federation.native_sign_in.test_providers import native_provider  # noqa: F401 - a fixture, which its answers need
from tests.api.interface.test_operation_coverage import ANSWERS
from tests.api.second_factors.test_push_and_duo_operations import duo_server  # noqa: F401 - as above
from tests.support.operation_cases.cases import Answer, account_holder, send
from tests.support.operation_cases.expected_operations import ROWS
from tests.support.operations.resources import EVERY, Manager
from tests.support.organizations.connections import OIDC
from tests.support.organizations.management import PATH, PERMISSIONS, ROLES, Business, a_business
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.parametrize("services", ["postgres"], indirect=True),  # SQLite has one writer at a time
]
SIDES = 3
IN_A_CASE = 12
Act = Callable[[], TestResponse]
WRITTEN = [answer for answer in ANSWERS if ROWS[answer.row].method != "GET" or "token" in ROWS[answer.row].path]


def groups(stored: list[Any]) -> list[list[Any]]:
    return [stored[start : start + IN_A_CASE] for start in range(0, len(stored), IN_A_CASE)]


def ask_at_once(acts: list[Act], deadlocks: list[str]) -> list[TestResponse]:
    answers = at_once(acts)
    assert [answer.text for answer in answers if answer.status_code >= 500] == []
    assert deadlocks == []
    return answers


@pytest.mark.parametrize("answers", groups(WRITTEN), ids=lambda some: f"{some[0]}-{some[-1]}")
def test_operation_of_an_account_does_not_deadlock(
    new_tenant_server: NewTenantServer, answers: list[Answer], deadlocks: list[str], subtests: pytest.Subtests
) -> None:
    for answer in answers:
        with subtests.test(str(answer)):
            who = account_holder(new_tenant_server, **answer.settings)
            requested = answer.prepare(who)
            if "U" in ROWS[answer.row].auth:
                assert who.bearer  # made before
            ask_at_once([partial(send, who, answer.row, requested, "as stated")] * SIDES, deadlocks)


@pytest.mark.parametrize("resources", groups(EVERY), ids=lambda some: f"{some[0].kind}-{some[-1].kind}")
def test_operation_of_a_resource_does_not_deadlock(
    new_tenant_server: NewTenantServer, resources: list[Resource], deadlocks: list[str], subtests: pytest.Subtests
) -> None:
    for resource in resources:
        with subtests.test(resource.kind):
            manage = Manager(new_tenant_server(), resource)
            manage = Manager(new_tenant_server(**(manage.sample.settings or {})), resource)
            if manage.does(Verb.CREATE):
                ask_at_once([partial(manage.create, number) for number in (1, 1, 2)], deadlocks)
            of = (manage.listed() or [None])[0] if manage.does(Verb.LIST) else None
            for verb in (Verb.UPDATE, Verb.REPLACE):
                if manage.does(verb):
                    items = [manage.sample.change(number) for number in range(SIDES)]
                    bodies = [{"Data": [item]} if verb is Verb.REPLACE else item for item in items]
                    ask_at_once([partial(manage, verb, body, of) for body in bodies], deadlocks)
            if manage.does(Verb.DELETE):
                ask_at_once([partial(manage, Verb.DELETE, None, of)] * SIDES, deadlocks)


class Sides:
    """What several do at once to one organization."""

    def __init__(self, business: Business) -> None:
        self.business, self.at = business, f"{PATH}/{business.org}"
        self.role, self.other = business.role(org=business.org), business.role()
        self.first, self.second = business.permission(), business.permission()
        self.member = business.member(business.org, email="eve@example.com")
        self.of_member = f"/v2/manage/account/{self.member}/orgcontext"
        self.roles_of = f"/v2/manage/account/{business.account('bob@example.com')}/orgcontext/{business.org}/roles"
        self.link = f"{self.at}/connections/{connection(business, business.org)}"
        self.policies: list[dict[str, Any]] = [
            {"MemberPolicy": {"Seats": 9}},
            {"MemberPolicy": {"DefaultMemberRole": self.role}},
            {"SessionPolicy": {}},
        ]

    def put(self, path: str, body: Any = None) -> Act:
        return partial(self.business.send, "PUT", path, body)

    def post(self, path: str, body: Any = None) -> Act:
        return partial(self.business.send, "POST", path, body)

    def drop(self, path: str, body: Any = None) -> Act:
        return partial(self.business.send, "DELETE", path, body)

    def permit(self, role_id: str, *permissions: str) -> Act:
        return self.put(f"{ROLES}/{role_id}", {"Name": role_id, "Description": "d", "Permissions": permissions})

    def changes(self) -> Iterator[list[Act]]:
        """Yield what changes the organization and its parts; of each group, something succeeds."""
        at, put, post = self.at, self.put, self.post
        invited = {
            "Email": "guest@example.com",
            "OrgId": self.business.org,
            "RoleIds": [self.role],
            "InviterUid": self.member,
        }
        yield [put(f"{at}/policy", policy) for policy in self.policies]
        yield [put(f"{at}/policy", {"PasswordPolicy": {"MinLength": 8 + number}}) for number in range(SIDES)]
        yield [put(at, {"Name": "Acme", "Metadata": {"a": number}}) for number in range(SIDES)]
        yield [put(f"{at}/status", {"Active": False})] * SIDES
        yield [put(f"{at}/status", {"Active": True})] * SIDES
        yield [self.permit(self.role, self.first, self.second), self.permit(self.role, self.second, self.first)]
        yield [put(f"{ROLES}/{self.other}/default")] * SIDES
        yield [put(f"{PERMISSIONS}/{self.first}", {"Name": "p:new", "Description": "d"})] * SIDES
        yield [put(self.roles_of, {"RoleIds": ids}) for ids in ([self.role, self.other], [self.other, self.role])]
        yield [post(f"{at}/domains", {"DomainName": f"d{number % 2}.example"}) for number in range(SIDES)]
        yield [post("/v2/manage/invitations", invited)] * SIDES

    def removals(self) -> Iterator[list[Act]]:
        """Yield what removes parts of the organization, and at last itself, while they are changed."""
        at, put, post, drop = self.at, self.put, self.post, self.drop
        seats, default = self.policies[:2]
        group = {"GroupName": "g", "RoleIds": [self.role]}
        yield [
            put(self.link, OIDC),
            put(f"{self.link}/status", {"Active": False}),
            post(f"{self.link}/grouproles", group),
        ]
        yield [drop(self.link), put(self.link, OIDC), put(f"{at}/policy", seats)]
        yield [
            drop(self.roles_of, {"RoleIds": [self.role]}),
            drop(f"{ROLES}/{self.role}"),
            put(f"{at}/policy", default),
        ]
        yield [drop(f"{self.of_member}/{self.business.org}"), put(f"{at}/policy", seats), drop(self.of_member)]
        permission = f"{PERMISSIONS}/{self.second}"
        yield [
            put(permission, {"Name": "p:x", "Description": "d"}),
            drop(permission),
            self.permit(self.other, self.second),
        ]
        yield [drop(at), put(f"{at}/policy", seats), put(at, {"Name": "New"})]


def connection(b: Business, org: str) -> str:
    """Create a connection and return its id."""
    answered(b.send("PUT", f"{PATH}/{org}", {"Domains": [{"DomainName": "bank.example", "IsVerified": True}]}))
    return str(answered(b.send("POST", f"{PATH}/{org}/connections", OIDC))["Id"])


def test_operation_of_an_organization_does_not_deadlock(
    new_tenant_server: NewTenantServer, deadlocks: list[str], subtests: pytest.Subtests
) -> None:
    sides = Sides(a_business(new_tenant_server))
    for number, acts in enumerate([*sides.changes(), *sides.removals()]):
        with subtests.test(f"group {number}"):
            answers = ask_at_once(acts, deadlocks)
            assert 200 in [answer.status_code for answer in answers], [answer.text for answer in answers]
            ask_at_once(acts, deadlocks)
