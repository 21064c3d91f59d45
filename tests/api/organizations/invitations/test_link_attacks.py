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
from tests.support.organizations.invitations import GUEST, LINKS, LOOK_UP, Inviting, inviting
from tests.support.organizations.management import PATH as ORGANIZATIONS
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

MANY = 20
EMAIL = "/identity/v2/manage/account"


@pytest.fixture
def one(new_tenant_server: NewTenantServer) -> Inviting:
    return inviting(new_tenant_server)


@pytest.mark.both_databases
def test_twenty_people_take_no_more_than_the_uses(one: Inviting) -> None:
    made = one.link(maxUses=5)
    bearers = [one.guest(f"guest{number}@example.com") for number in range(MANY)]
    answers = at_once([partial(one.accept, made["Token"], bearer) for bearer in bearers])
    assert Counter(answer.status_code for answer in answers) == {200: 5, 400: MANY - 5}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(400, 8175)}
    assert len({role["Uid"] for role in one.members()}) == 6
    assert answered(one.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 5


@pytest.mark.both_databases
def test_twenty_people_take_no_more_than_the_seats(one: Inviting) -> None:
    made = one.link()
    one.set_policy(MemberPolicy={"Seats": 4})
    bearers = [one.guest(f"guest{number}@example.com") for number in range(MANY)]
    answers = at_once([partial(one.accept, made["Token"], bearer) for bearer in bearers])
    assert Counter(answer.status_code for answer in answers) == {200: 3, 403: MANY - 3}
    assert len({role["Uid"] for role in one.members()}) == 4
    assert answered(one.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 3


@pytest.mark.both_databases
def test_twenty_clicks_of_one_person_cost_one_use(one: Inviting) -> None:
    made, bearer = one.link(maxUses=2), one.guest()
    answers = at_once([lambda: one.accept(made["Token"], bearer)] * MANY)
    assert {answer.status_code for answer in answers} == {200}
    assert len([role for role in one.members() if role["Email"] == GUEST]) == 1
    assert answered(one.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 1


@pytest.mark.both_databases
def test_revocation_ends_the_race(one: Inviting) -> None:
    made = one.link()
    bearers = [one.guest(f"guest{number}@example.com") for number in range(8)]
    acts = [partial(one.accept, made["Token"], bearer) for bearer in bearers]
    answers = at_once([*acts[:4], partial(one.send, "DELETE", f"{LINKS}/{made['Id']}"), *acts[4:]])
    assert {answer.status_code for answer in answers} <= {200, 400}
    joined = len({role["Uid"] for role in one.members()}) - 1
    assert answered(one.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == joined
    assert refused(one.accept(made["Token"], one.guest("late@example.com"))) == (400, 8175)


@pytest.mark.both_databases
def test_last_place_among_several_requests_of_bulk(one: Inviting) -> None:
    one.set_policy(MemberPolicy={"Seats": 4})
    groups = [[f"g{group}p{number}@example.com" for number in range(3)] for group in range(4)]
    answers = at_once([partial(one.many, *group) for group in groups])
    assert sum(answered(answer)["InvitedCount"] for answer in answers) == 3


def test_unverified_account_does_not_join(one: Inviting) -> None:
    made = one.link()
    assert refused(one.accept(made["Token"], one.guest(is_verified=False))) == (400, 8137)
    assert len(one.members()) == 1


@pytest.mark.parametrize(
    "email", ["ada@example.org", "ada@sub.example.com", "ada@notexample.com", "example.com@evil.example"]
)
def test_account_of_another_domain_does_not_join(one: Inviting, email: str) -> None:
    made = one.link(domains=["example.com"])
    assert refused(one.accept(made["Token"], one.guest(email))) == (400, 8137)
    answered(one.accept(made["Token"], one.guest("Bob@EXAMPLE.com")))


def test_address_that_was_given_up_does_not_join(one: Inviting) -> None:
    made = one.link(domains=["example.com"])
    bearer = one.guest()
    uid = answered(one.send("GET", EMAIL, email=GUEST))["Uid"]
    replaced = {"Email": [{"Type": "Primary", "Value": "new@other.example"}]}
    answered(one.send("PUT", f"{EMAIL}/{uid}/email", replaced))
    assert refused(one.accept(made["Token"], bearer)) == (400, 8137)


def test_removed_member_does_not_return_by_the_link(one: Inviting) -> None:
    made, bearer = one.link(), one.guest()
    answered(one.accept(made["Token"], bearer))
    uid = next(role["Uid"] for role in one.members() if role["Email"] == GUEST)
    answered(one.send("DELETE", f"/v2/manage/account/{uid}/orgcontext/{one.org}"))
    assert refused(one.accept(made["Token"], bearer)) == (400, 8175)
    answered(one.accept(one.link()["Token"], bearer))


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("path", ["", "/{org}"])
def test_removed_member_does_not_come_by_a_known_link(one: Inviting, path: str) -> None:
    """The member joined in another way, and knows a link that the members share."""
    made, bearer = one.link(), one.guest()
    uid = answered(one.send("GET", EMAIL, email=GUEST))["Uid"]
    answered(one.assign(uid, one.org, one.member_role))
    answered(one.send("DELETE", f"/v2/manage/account/{uid}/orgcontext{path.format(org=one.org)}"))
    assert refused(one.accept(made["Token"], bearer)) == (400, 8175)


@pytest.mark.both_databases
def test_last_role_taken_ends_the_links_for_the_member(one: Inviting) -> None:
    made, bearer = one.link(), one.guest()
    answered(one.accept(made["Token"], bearer))
    uid = next(role["Uid"] for role in one.members() if role["Email"] == GUEST)
    path = f"/v2/manage/account/{uid}/orgcontext/{one.org}/roles"
    answered(one.send("DELETE", path, {"RoleIds": [one.member_role]}))
    assert refused(one.accept(made["Token"], bearer)) == (400, 8175)


@pytest.mark.both_databases
def test_link_ends_with_the_membership_of_its_inviter(one: Inviting) -> None:
    made = one.link()
    answered(one.send("DELETE", f"/v2/manage/account/{one.grace}/orgcontext/{one.org}"))
    assert answered(one.send("GET", f"{LINKS}/{made['Id']}"))["Status"] == "revoked"
    assert refused(one.accept(made["Token"], one.guest())) == (400, 8175)


@pytest.mark.both_databases
def test_link_of_another_tenant_is_unknown(one: Inviting, new_tenant_server: NewTenantServer) -> None:
    made, other = one.link(), inviting(new_tenant_server)
    assert refused(other.tenant.send("GET", LOOK_UP, invitation_token=made["Token"])) == (400, 8175)
    assert refused(other.accept(made["Token"], other.guest())) == (400, 8175)
    for method in ("GET", "DELETE"):
        assert refused(other.send(method, f"{LINKS}/{made['Id']}")) == (404, 8169)
    assert refused(other.send("GET", LINKS, orgid=one.org)) == (404, 8118)
    assert refused(other.ask_link(orgId=one.org)) == (404, 8118)
    assert refused(other.many(GUEST, orgId=one.org)) == (404, 8118)


def test_link_of_an_inactive_organization_is_refused(one: Inviting) -> None:
    made, bearer = one.link(), one.guest()
    one.deactivate(one.org)
    assert refused(one.accept(made["Token"], bearer)) == (403, 8180)


@pytest.mark.both_databases
def test_deleted_organization_keeps_no_link(one: Inviting) -> None:
    made, bearer = one.link(), one.guest()
    answered(one.accept(made["Token"], bearer))
    answered(one.send("DELETE", f"{ORGANIZATIONS}/{one.org}"))
    assert refused(one.send("GET", f"{LINKS}/{made['Id']}")) == (404, 8169)
    assert refused(one.accept(made["Token"], bearer)) == (400, 8175)


def test_link_gives_no_deleted_role(one: Inviting) -> None:
    role = one.role("Gone", one.org)
    made = one.link(roleIds=[role])
    answered(one.send("DELETE", f"/v2/manage/roles/{role}"))
    assert refused(one.accept(made["Token"], one.guest())) == (400, 8175)


def barred(item: Inviting) -> int:
    """Return how many accounts the links of the tenant admit no more."""
    work = UnitOfWork(item.tenant.services.database, item.tenant.tenant_id)
    try:
        where = organization_link_users.c.tenant_id == item.tenant.tenant_id
        return len(work.all(select(organization_link_users).where(where)))
    finally:
        work.rollback()


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_cleaning_forgets_the_users_of_ended_links(one: Inviting) -> None:
    short, known, bearer = one.link(expiresInDays=1), one.link(expiresInDays=30), one.guest()
    answered(one.accept(short["Token"], bearer))
    uid = next(role["Uid"] for role in one.members() if role["Email"] == GUEST)
    answered(one.send("DELETE", f"/v2/manage/account/{uid}/orgcontext/{one.org}"))
    assert barred(one) == 2
    database, now = one.tenant.services.database, one.tenant.services.clock.now()
    clean(database, now)
    assert barred(one) == 2
    clean(database, now + timedelta(days=1, seconds=1))
    assert barred(one) == 1
    bearer = str(one.tenant.tokens(uid)["access_token"])
    assert refused(one.accept(known["Token"], bearer)) == (400, 8175)
    clean(database, now + timedelta(days=30, seconds=1))
    assert barred(one) == 0
