"""An organization's seats hold for everybody who joins, whatever way in they take."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from sqlalchemy import update

from app.identity.directory.organizations.tables import organizations
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.password_customers import LOGIN
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.races import at_once
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, answered, refused

SEATS, PEOPLE = 5, 12


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


def set_seats(business: Business, seats: int) -> None:
    answered(business.send("PUT", f"{PATH}/{business.org}/policy", {"MemberPolicy": {"Seats": seats}}))


def members(business: Business) -> int:
    return len({item["Uid"] for item in answered(business.send("GET", f"{PATH}/{business.org}/orgcontext"))["Data"]})


@pytest.mark.both_databases
def test_twelve_at_once_take_five_seats(business: Business) -> None:
    set_seats(business, SEATS)
    role = business.role(org=business.org)
    uids = [business.account() for _ in range(PEOPLE)]
    answers = at_once([partial(business.assign, uid, business.org, role) for uid in uids])
    assert Counter(answer.status_code for answer in answers) == {200: SEATS, 403: PEOPLE - SEATS}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(403, 8188)}
    assert members(business) == SEATS


@pytest.mark.both_databases
def test_seats_set_meanwhile_hold_for_those_who_join(business: Business) -> None:
    role = business.role(org=business.org)
    uids = [business.account() for _ in range(PEOPLE)]
    acts = [partial(business.assign, uid, business.org, role) for uid in uids]
    limit = partial(business.send, "PUT", f"{PATH}/{business.org}/policy", {"MemberPolicy": {"Seats": 1}})
    answers = at_once([*acts[:4], limit, *acts[4:]])
    joined = [answer.status_code for answer in answers].count(200) - 1
    assert {answer.status_code for answer in answers} <= {200, 403}
    assert members(business) == joined


def test_member_of_full_organization_gets_further_roles(business: Business) -> None:
    set_seats(business, 1)
    uid = business.member(business.org)
    answered(business.assign(uid, business.org, business.role(org=business.org)))
    of_tenant = {"RoleIds": [business.role()]}
    answered(business.send("PUT", f"/v2/manage/account/{uid}/orgcontext/roles", of_tenant))
    other = business.account()
    assert refused(business.assign(other, business.org, business.role())) == (403, 8188)
    answered(business.send("DELETE", f"/v2/manage/account/{uid}/orgcontext/{business.org}"))
    answered(business.assign(other, business.org, business.role()))


def test_more_members_than_seats_stay(business: Business) -> None:
    uids = [business.member(business.org) for _ in range(3)]
    set_seats(business, 1)
    answered(business.assign(uids[0], business.org, business.role()))
    assert members(business) == len(uids)
    assert refused(business.assign(business.account(), business.org, business.role())) == (403, 8188)


@pytest.mark.both_databases
def test_sign_in_and_server_make_one_member(new_tenant_server: NewTenantServer, deadlocks: list[str]) -> None:
    """Who signs in joins by the domain of the address, while a server gives the account a role there."""
    business = a_business(new_tenant_server, email_login=True)
    tenant, org, role = business.tenant, business.org, business.role(org=business.org)
    default = business.role()
    answered(business.send("PUT", f"{PATH}/{org}", {"Domains": [{"DomainName": "acme.test", "IsVerified": True}]}))
    policies = {"JITPolicy": {"Enabled": True}, "MemberPolicy": {"DefaultMemberRole": default, "Seats": SEATS}}
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(update(organizations).where(organizations.c.tenant_id == tenant.tenant_id).values(policies=policies))
    for number in range(SEATS):
        email = f"person{number}@acme.test"
        uid = business.account(email)
        tenant.update(uid, {"EmailVerified": True})
        login = partial(tenant.send, "POST", LOGIN, {"email": email, "password": PASSWORD}, with_secret=False)
        answers = at_once([login, partial(business.assign, uid, org, role), login])
        assert [answer.status_code for answer in answers] == [200, 200, 200]
        found = answered(business.send("GET", f"/v2/manage/account/{uid}/orgcontext"))["Data"]
        assert role in {item["RoleId"] for item in found} <= {role, default}
    assert deadlocks == []
    assert members(business) == SEATS
