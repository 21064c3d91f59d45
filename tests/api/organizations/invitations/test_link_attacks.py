"""Attacks on invitation links: raced, foreign, replayed after a removal, and opened by accounts that they do not admit."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select

from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.directory.organizations.tables import organization_link_users
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.organizations.invitations import GUEST, LINKS, LOOK_UP, InvitingBusiness, inviting_business
from tests.support.organizations.management import PATH as ORGANIZATIONS
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

MANY = 20
EMAIL = "/identity/v2/manage/account"


@pytest.fixture
def inviter(new_tenant_server: NewTenantServer) -> InvitingBusiness:
    return inviting_business(new_tenant_server)


@pytest.mark.both_databases
def test_twenty_people_take_no_more_than_the_uses(inviter: InvitingBusiness) -> None:
    made = inviter.link(maxUses=5)
    bearers = [inviter.guest(f"guest{number}@example.com") for number in range(MANY)]
    answers = at_once([partial(inviter.accept, made["Token"], bearer) for bearer in bearers])
    assert Counter(answer.status_code for answer in answers) == {200: 5, 400: MANY - 5}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(400, 8175)}
    assert len({role["Uid"] for role in inviter.members()}) == 6
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 5


@pytest.mark.both_databases
def test_twenty_people_take_no_more_than_the_seats(inviter: InvitingBusiness) -> None:
    made = inviter.link()
    inviter.set_policy(MemberPolicy={"Seats": 4})
    bearers = [inviter.guest(f"guest{number}@example.com") for number in range(MANY)]
    answers = at_once([partial(inviter.accept, made["Token"], bearer) for bearer in bearers])
    assert Counter(answer.status_code for answer in answers) == {200: 3, 403: MANY - 3}
    assert len({role["Uid"] for role in inviter.members()}) == 4
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 3


@pytest.mark.both_databases
def test_twenty_clicks_of_one_person_cost_one_use(inviter: InvitingBusiness) -> None:
    made, bearer = inviter.link(maxUses=2), inviter.guest()
    answers = at_once([lambda: inviter.accept(made["Token"], bearer)] * MANY)
    assert {answer.status_code for answer in answers} == {200}
    assert len([role for role in inviter.members() if role["Email"] == GUEST]) == 1
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 1


@pytest.mark.both_databases
def test_revocation_ends_the_race(inviter: InvitingBusiness) -> None:
    made = inviter.link()
    bearers = [inviter.guest(f"guest{number}@example.com") for number in range(8)]
    acts = [partial(inviter.accept, made["Token"], bearer) for bearer in bearers]
    answers = at_once([*acts[:4], partial(inviter.send, "DELETE", f"{LINKS}/{made['Id']}"), *acts[4:]])
    assert {answer.status_code for answer in answers} <= {200, 400}
    joined = len({role["Uid"] for role in inviter.members()}) - 1
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == joined
    assert refused(inviter.accept(made["Token"], inviter.guest("late@example.com"))) == (400, 8175)


@pytest.mark.both_databases
def test_last_place_among_several_requests_of_bulk(inviter: InvitingBusiness) -> None:
    inviter.set_policy(MemberPolicy={"Seats": 4})
    groups = [[f"g{group}p{number}@example.com" for number in range(3)] for group in range(4)]
    answers = at_once([partial(inviter.many, *group) for group in groups])
    assert sum(answered(answer)["InvitedCount"] for answer in answers) == 3


def test_unverified_account_does_not_join(inviter: InvitingBusiness) -> None:
    made = inviter.link()
    assert refused(inviter.accept(made["Token"], inviter.guest(is_verified=False))) == (400, 8137)
    assert len(inviter.members()) == 1


@pytest.mark.parametrize(
    "email", ["ada@example.org", "ada@sub.example.com", "ada@notexample.com", "example.com@evil.example"]
)
def test_account_of_another_domain_does_not_join(inviter: InvitingBusiness, email: str) -> None:
    made = inviter.link(domains=["example.com"])
    assert refused(inviter.accept(made["Token"], inviter.guest(email))) == (400, 8137)
    answered(inviter.accept(made["Token"], inviter.guest("Bob@EXAMPLE.com")))


def test_address_that_was_given_up_does_not_join(inviter: InvitingBusiness) -> None:
    made = inviter.link(domains=["example.com"])
    bearer = inviter.guest()
    uid = answered(inviter.send("GET", EMAIL, email=GUEST))["Uid"]
    replaced = {"Email": [{"Type": "Primary", "Value": "new@other.example"}]}
    answered(inviter.send("PUT", f"{EMAIL}/{uid}/email", replaced))
    assert refused(inviter.accept(made["Token"], bearer)) == (400, 8137)


def test_removed_member_does_not_return_by_the_link(inviter: InvitingBusiness) -> None:
    made, bearer = inviter.link(), inviter.guest()
    answered(inviter.accept(made["Token"], bearer))
    uid = next(role["Uid"] for role in inviter.members() if role["Email"] == GUEST)
    answered(inviter.send("DELETE", f"/v2/manage/account/{uid}/orgcontext/{inviter.org}"))
    assert refused(inviter.accept(made["Token"], bearer)) == (400, 8175)
    answered(inviter.accept(inviter.link()["Token"], bearer))


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("path", ["", "/{org}"])
def test_removed_member_does_not_come_by_a_known_link(inviter: InvitingBusiness, path: str) -> None:
    """The member joined in another way, and knows a link that the members share."""
    made, bearer = inviter.link(), inviter.guest()
    uid = answered(inviter.send("GET", EMAIL, email=GUEST))["Uid"]
    answered(inviter.assign(uid, inviter.org, inviter.member_role))
    answered(inviter.send("DELETE", f"/v2/manage/account/{uid}/orgcontext{path.format(org=inviter.org)}"))
    assert refused(inviter.accept(made["Token"], bearer)) == (400, 8175)


@pytest.mark.both_databases
def test_last_role_taken_ends_the_links_for_the_member(inviter: InvitingBusiness) -> None:
    made, bearer = inviter.link(), inviter.guest()
    answered(inviter.accept(made["Token"], bearer))
    uid = next(role["Uid"] for role in inviter.members() if role["Email"] == GUEST)
    path = f"/v2/manage/account/{uid}/orgcontext/{inviter.org}/roles"
    answered(inviter.send("DELETE", path, {"RoleIds": [inviter.member_role]}))
    assert refused(inviter.accept(made["Token"], bearer)) == (400, 8175)


@pytest.mark.both_databases
def test_link_ends_with_the_membership_of_its_inviter(inviter: InvitingBusiness) -> None:
    made = inviter.link()
    answered(inviter.send("DELETE", f"/v2/manage/account/{inviter.grace}/orgcontext/{inviter.org}"))
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Status"] == "revoked"
    assert refused(inviter.accept(made["Token"], inviter.guest())) == (400, 8175)


@pytest.mark.both_databases
def test_link_of_another_tenant_is_unknown(inviter: InvitingBusiness, new_tenant_server: NewTenantServer) -> None:
    made, other = inviter.link(), inviting_business(new_tenant_server)
    assert refused(other.tenant.send("GET", LOOK_UP, invitation_token=made["Token"])) == (400, 8175)
    assert refused(other.accept(made["Token"], other.guest())) == (400, 8175)
    for method in ("GET", "DELETE"):
        assert refused(other.send(method, f"{LINKS}/{made['Id']}")) == (404, 8169)
    assert refused(other.send("GET", LINKS, orgid=inviter.org)) == (404, 8118)
    assert refused(other.ask_link(orgId=inviter.org)) == (404, 8118)
    assert refused(other.many(GUEST, orgId=inviter.org)) == (404, 8118)


def test_link_of_an_inactive_organization_is_refused(inviter: InvitingBusiness) -> None:
    made, bearer = inviter.link(), inviter.guest()
    inviter.deactivate(inviter.org)
    assert refused(inviter.accept(made["Token"], bearer)) == (403, 8180)


@pytest.mark.both_databases
def test_deleted_organization_keeps_no_link(inviter: InvitingBusiness) -> None:
    made, bearer = inviter.link(), inviter.guest()
    answered(inviter.accept(made["Token"], bearer))
    answered(inviter.send("DELETE", f"{ORGANIZATIONS}/{inviter.org}"))
    assert refused(inviter.send("GET", f"{LINKS}/{made['Id']}")) == (404, 8169)
    assert refused(inviter.accept(made["Token"], bearer)) == (400, 8175)


def test_link_gives_no_deleted_role(inviter: InvitingBusiness) -> None:
    role = inviter.role("Gone", inviter.org)
    made = inviter.link(roleIds=[role])
    answered(inviter.send("DELETE", f"/v2/manage/roles/{role}"))
    assert refused(inviter.accept(made["Token"], inviter.guest())) == (400, 8175)


def barred(item: InvitingBusiness) -> int:
    """Return how many accounts the links of the tenant admit no more."""
    work = UnitOfWork(item.tenant.services.database, item.tenant.tenant_id)
    try:
        where = organization_link_users.c.tenant_id == item.tenant.tenant_id
        return len(work.all(select(organization_link_users).where(where)))
    finally:
        work.rollback()


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_cleaning_forgets_the_users_of_ended_links(inviter: InvitingBusiness) -> None:
    short, known, bearer = inviter.link(expiresInDays=1), inviter.link(expiresInDays=30), inviter.guest()
    answered(inviter.accept(short["Token"], bearer))
    uid = next(role["Uid"] for role in inviter.members() if role["Email"] == GUEST)
    answered(inviter.send("DELETE", f"/v2/manage/account/{uid}/orgcontext/{inviter.org}"))
    assert barred(inviter) == 2
    database, now = inviter.tenant.services.database, inviter.tenant.services.clock.now()
    clean(database, now)
    assert barred(inviter) == 2
    clean(database, now + timedelta(days=1, seconds=1))
    assert barred(inviter) == 1
    bearer = str(inviter.tenant.tokens(uid)["access_token"])
    assert refused(inviter.accept(known["Token"], bearer)) == (400, 8175)
    clean(database, now + timedelta(days=30, seconds=1))
    assert barred(inviter) == 0
