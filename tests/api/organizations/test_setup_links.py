"""Every response and refusal of the operations of set-up links."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from app.identity.directory.organizations.tables import organization_setup_links
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.management import NO_ORG, OFF, PATH, Business, RefusedCall, a_business, ask, refusals
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

A = "organization_setup_links"
NO_LINK = f"setup_link_{'0' * 16}"
ALL = f"{PATH}/{{org}}/setup-links"


def link(business: Business, org: str = "", **members: Any) -> dict[str, Any]:
    return answered(business.send("POST", f"{PATH}/{org or business.org}/setup-links", members))


def at(business: Business, made: dict[str, Any], org: str = "") -> str:
    return f"{PATH}/{org or business.org}/setup-links/{made['Id']}"


def one_too_many(business: Business) -> Any:
    for _ in range(20):
        link(business)
    return business.send("POST", f"{PATH}/{business.org}/setup-links", {})


def revoked_twice(business: Business) -> Any:
    path = at(business, link(business))
    answered(business.send("DELETE", path))
    return business.send("DELETE", path)


def of_organization(name: str, method: str, end: str = "", body: Any = None) -> list[RefusedCall]:
    def path(org: str) -> str:
        return f"{PATH}/{org}/setup-links{end}"

    return refusals(
        f"{A}.{name}",
        (1267, ask(method, path(NO_ORG), body), OFF),
        (8117, ask(method, path("acme"), body)),
        (8118, ask(method, path(NO_ORG), body)),
        (8129, ask(method, path("%20"), body)),
    )


REFUSALS: list[RefusedCall] = [
    *of_organization("list", "GET"),
    *of_organization("create", "POST", body={}),
    *refusals(f"{A}.create", (8180, ask("POST", f"{PATH}/{{idle}}/setup-links", {})), (8188, one_too_many)),
    *of_organization("read", "GET", f"/{NO_LINK}"),
    *refusals(f"{A}.read", (8169, ask("GET", f"{ALL}/{NO_LINK}"))),
    *of_organization("revoke", "DELETE", f"/{NO_LINK}"),
    *refusals(f"{A}.revoke", (8169, ask("DELETE", f"{ALL}/{NO_LINK}")), (8175, revoked_twice)),
]


@every_refusal(REFUSALS)
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.mark.both_databases
def test_link_is_answered_once_with_its_address(new_tenant_server: NewTenantServer) -> None:
    business = a_business(new_tenant_server)
    made = link(business, DaysToOpen=3, SessionHours=2, MaxOpenings=4, JITProvisioning=False)
    token = made.pop("Url").partition("/setup?link=")[2]
    assert len(token) >= 43
    assert (made["Status"], made["Openings"], made["MaxOpenings"], made["SessionHours"]) == ("active", 0, 4, 2)
    assert (made["JITProvisioning"], made["ConnectionId"], made["LastOpenedDate"]) == (False, None, None)
    assert answered(business.send("GET", at(business, made))) == made
    assert answered(business.send("GET", f"{PATH}/{business.org}/setup-links", page=1, pagesize=200))["Data"] == [made]
    with UnitOfWork(business.tenant.services.database, business.tenant.tenant_id).separate_transaction() as work:
        (row,) = work.all(select(organization_setup_links).where(organization_setup_links.c.link_id == made["Id"]))
    assert token not in str(row)


def test_revoked_link_is_listed_as_revoked(new_tenant_server: NewTenantServer) -> None:
    business = a_business(new_tenant_server)
    made = link(business)
    assert answered(business.send("DELETE", at(business, made)))["Status"] == "revoked"
    assert answered(business.send("GET", at(business, made)))["Status"] == "revoked"
    written = [
        entry
        for kind in ("created", "revoked")
        for entry in entries_of(business.tenant, f"organization.setup_link_{kind}")
    ]
    assert len(written) == 2


def test_link_expires_after_its_days(new_tenant_server: NewTenantServer) -> None:
    business = a_business(new_tenant_server)
    made = link(business, DaysToOpen=1)
    pass_time(business.tenant.services, days=1)
    assert answered(business.send("GET", at(business, made)))["Status"] == "expired"
    assert refused(business.send("DELETE", at(business, made))) == (400, 8175)


@pytest.mark.parametrize(
    "members",
    [{"DaysToOpen": 0}, {"DaysToOpen": 31}, {"SessionHours": 25}, {"MaxOpenings": 0}, {"MaxOpenings": 101}],
    ids=str,
)
def test_limits_outside_their_range_are_refused(new_tenant_server: NewTenantServer, members: dict[str, int]) -> None:
    business = a_business(new_tenant_server)
    assert refused(business.send("POST", f"{PATH}/{business.org}/setup-links", members)) == (400, 7900)


def test_link_of_another_organization_is_not_found(new_tenant_server: NewTenantServer) -> None:
    business = a_business(new_tenant_server)
    made, other = link(business), business.create("Globex")
    for method in ("GET", "DELETE"):
        assert refused(business.send(method, at(business, made, other))) == (404, 8169)
    globex = a_business(new_tenant_server)
    assert refused(globex.send("GET", at(globex, made))) == (404, 8169)
