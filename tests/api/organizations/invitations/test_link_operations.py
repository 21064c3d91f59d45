"""Every response and refusal of the operations of invitation links, and of the operation that invites several people."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.directory.organizations.tables import organization_invitations
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.invitations import (
    BULK,
    GUEST,
    LINKS,
    LOOK_UP,
    NO_INVITATION,
    PATH,
    InvitingBusiness,
    inviting_business,
)
from tests.support.organizations.management import NO_ORG, NO_ROLE, NO_UID, OFF, RefusedCall, ask, refusals
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

A = "organization_invitation_links"
MANY = "organization_invitations.create_many"
UNKNOWN_INVITER = {"roleIds": [], "orgId": NO_ORG, "inviterUid": NO_UID}


def of(business: Any) -> InvitingBusiness:
    stored: InvitingBusiness = business.__dict__.setdefault("inviting_business", InvitingBusiness(business.tenant))
    return stored


def creating(**members: Any) -> Any:
    return lambda item: of(item).ask_link(
        **{name: value(of(item)) if callable(value) else value for name, value in members.items()}
    )


def bulk(**members: Any) -> Any:
    return lambda item: of(item).many(
        GUEST, **{name: value(of(item)) if callable(value) else value for name, value in members.items()}
    )


def to_evil(business: Any) -> TestResponse:
    body = of(business).body(email=None, invitations=[{"email": GUEST}])
    return of(business).send("POST", BULK, body, invitation_url="https://evil.example/join")


def one_too_many(business: Any) -> TestResponse:
    for _ in range(20):
        of(business).link()
    return of(business).ask_link()


def of_one(name: str, method: str) -> list[RefusedCall]:
    def closed(business: Any) -> TestResponse:
        path = f"{LINKS}/{of(business).link()['Id']}"
        answered(of(business).send("DELETE", path))
        return of(business).send(method, path)

    def inactive(business: Any) -> TestResponse:
        path = f"{LINKS}/{of(business).link()['Id']}"
        of(business).deactivate(of(business).org)
        return of(business).send(method, path)

    return refusals(
        f"{A}.{name}",
        (1267, ask(method, f"{LINKS}/{NO_INVITATION}"), OFF),
        (8169, ask(method, f"{LINKS}/{NO_INVITATION}")),
        (8175, closed if name == "revoke" else ask(method, f"{LINKS}/acme")),
        (8180, inactive),
    )


REFUSALS: list[RefusedCall] = [
    *refusals(
        MANY,
        (1267, ask("POST", BULK, {**UNKNOWN_INVITER, "invitations": [{"email": GUEST}]}), OFF),
        (8044, ask("POST", BULK)),
        (8117, bulk(orgId="acme")),
        (8118, bulk(orgId=NO_ORG)),
        (8129, bulk(orgId=" ")),
        (8176, to_evil),
        (8180, bulk(orgId=lambda item: item.idle)),
    ),
    *refusals(
        f"{A}.list_all",
        (1267, ask("GET", LINKS, orgid=NO_ORG), OFF),
        (8117, ask("GET", LINKS, orgid="acme")),
        (8118, ask("GET", LINKS, orgid=NO_ORG)),
        (8129, ask("GET", LINKS)),
        (8180, ask("GET", LINKS, orgid="{idle}")),
    ),
    *refusals(
        f"{A}.create",
        (1267, ask("POST", LINKS, UNKNOWN_INVITER), OFF),
        (8044, ask("POST", LINKS)),
        (8117, creating(orgId="acme")),
        (8118, creating(orgId=NO_ORG)),
        (8124, creating(roleIds=["admin"])),
        (8125, creating(roleIds=[NO_ROLE])),
        (8129, creating(orgId=" ")),
        (8174, creating(inviterUid=NO_UID)),
        (8176, creating(url="https://evil.example/join")),
        (8180, creating(orgId=lambda item: item.idle)),
        (8188, one_too_many),
    ),
    *of_one("read", "GET"),
    *of_one("revoke", "DELETE"),
]


@every_refusal(REFUSALS)
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.fixture
def inviter(new_tenant_server: NewTenantServer) -> InvitingBusiness:
    return inviting_business(new_tenant_server)


def results(answer: TestResponse) -> list[tuple[str, Any]]:
    """Return each address with its status, or with the code of its error."""
    return [
        (item["Email"], item["Invitation"]["Status"] if item["Invitation"] else item["Error"]["ErrorCode"])
        for item in answered(answer)["Data"]
    ]


def mails(item: InvitingBusiness, email: str) -> int:
    return len(mails_to(item.tenant.services, item.tenant.tenant_id, email))


# Several people.


@pytest.mark.both_databases
def test_each_person_gets_a_result_of_its_own(inviter: InvitingBusiness) -> None:
    inviter.member(inviter.org, email="member@example.com")
    inviter.invite("open@example.com")
    people = (GUEST, "bad", "member@example.com", "open@example.com", "ADA@example.com", "bob@example.com", "")
    answer = inviter.many(*people, {"email": None}, {"email": "eve@example.com", "roleIds": [NO_ROLE]})
    assert results(answer) == [
        (GUEST, "invited"), ("bad", 8137), ("member@example.com", 8170), ("open@example.com", 8171), ("ADA@example.com", 8171),
        ("bob@example.com", "invited"), ("", 8137), ("", 8137), ("eve@example.com", 8125),
    ]  # fmt: skip
    assert answered(answer)["InvitedCount"] == 2
    assert "more than once" in answered(answer)["Data"][4]["Error"]["Description"]
    assert mails(inviter, GUEST) == 1
    assert mails(inviter, "bob@example.com") == 1
    assert answered(inviter.send("GET", PATH, orgid=inviter.org))["TotalCount"] == 3
    answered(inviter.accept(inviter.token("bob@example.com"), inviter.guest("bob@example.com")))


@pytest.mark.both_databases
def test_result_of_a_refused_person_is_an_error_body(inviter: InvitingBusiness) -> None:
    single = inviter.ask(email="bad").get_json()
    (result,) = answered(inviter.many("bad"))["Data"]
    assert result == {"Email": "bad", "Invitation": None, "Error": single}


def test_own_roles_go_before_those_of_all(inviter: InvitingBusiness) -> None:
    other = inviter.role("Buyer", inviter.org)
    made = answered(inviter.many(GUEST, {"email": "bob@example.com", "roleIds": [other]}))["Data"]
    assert [result["Invitation"]["RoleIds"] for result in made] == [[inviter.member_role], [other]]


def test_people_share_the_seats(inviter: InvitingBusiness) -> None:
    inviter.set_policy(MemberPolicy={"Seats": 3})
    answer = inviter.many("a@example.com", "b@example.com", "c@example.com")
    assert results(answer) == [("a@example.com", "invited"), ("b@example.com", "invited"), ("c@example.com", 8188)]
    assert mails(inviter, "c@example.com") == 0


@pytest.mark.both_databases
def test_mail_limit_of_one_does_not_stop_the_others(new_tenant_server: NewTenantServer) -> None:
    item = inviting_business(new_tenant_server, sending={"mails": {"amount": 1, "minutes": 60}})
    answered(item.send("DELETE", f"{PATH}/{item.invite()['Id']}"))
    assert results(item.many(GUEST, "bob@example.com")) == [(GUEST, 1122), ("bob@example.com", "invited")]
    assert answered(item.send("GET", PATH, orgid=item.org))["TotalCount"] == 2


@pytest.mark.both_databases
def test_more_than_a_hundred_people_are_refused(inviter: InvitingBusiness) -> None:
    assert refused(inviter.many(*[f"p{number}@example.com" for number in range(101)])) == (400, 908)
    assert refused(inviter.many()) == (400, 908)
    hundred = inviter.many(*[f"p{number}@example.com" for number in range(100)])
    assert answered(hundred)["InvitedCount"] == 100


def test_inviter_of_all_is_checked_for_each(inviter: InvitingBusiness) -> None:
    assert results(inviter.many(GUEST, "b@example.com", inviterUid=NO_UID)) == [(GUEST, 8174), ("b@example.com", 8174)]


# Links.


@pytest.mark.both_databases
def test_link_is_answered_read_and_listed(inviter: InvitingBusiness) -> None:
    made = inviter.link(maxUses=3, domains=["Example.com", "example.com"])
    token, url = made.pop("Token"), made.pop("Url")
    assert url.endswith(f"/i/{token}")
    assert re.fullmatch(r"inv_[A-Za-z0-9]{16}", made["Id"])
    assert made == {
        "Id": made["Id"], "Status": "active", "RoleIds": [inviter.member_role], "OrgId": inviter.org, "InviterUid": inviter.grace,
        "Domains": ["example.com"], "Uses": 0, "MaxUses": 3, "CreatedDate": made["CreatedDate"],
        "ExpirationDate": made["ExpirationDate"], "ModifiedDate": made["ModifiedDate"],
    }  # fmt: skip
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}")) == made
    other = inviter.link()
    listed = answered(inviter.send("GET", LINKS, orgid=inviter.org, page=1, pagesize=1))
    assert listed == {"Data": [made], "TotalCount": 2}
    assert other["MaxUses"] is None
    assert other["ExpirationDate"][:10] == (inviter.tenant.services.clock.now() + timedelta(days=7)).date().isoformat()


@pytest.mark.both_databases
def test_links_and_invitations_are_listed_apart(inviter: InvitingBusiness) -> None:
    link, invitation = inviter.link(), inviter.invite()
    assert [found["Id"] for found in answered(inviter.send("GET", PATH, orgid=inviter.org))["Data"]] == [
        invitation["Id"]
    ]
    assert [found["Id"] for found in answered(inviter.send("GET", LINKS, orgid=inviter.org))["Data"]] == [link["Id"]]
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/resend")):
        assert refused(inviter.send(method, f"{PATH}/{link['Id']}{path}")) == (404, 8169)
    assert refused(inviter.send("DELETE", f"{LINKS}/{invitation['Id']}")) == (404, 8169)


@pytest.mark.parametrize(
    "members", [{"maxUses": 0}, {"maxUses": 100_001}, {"expiresInDays": 0}, {"expiresInDays": 31}, {"domains": ["not a domain"]},
                {"domains": ["a@example.com"]}, {"domains": ["x.example"] * 21}, {"roleIds": None}, {"orgId": None}, {"roleIds": []}],
)  # fmt: skip
def test_malformed_member_is_refused(inviter: InvitingBusiness, members: dict[str, Any]) -> None:
    assert refused(inviter.ask_link(**members)) == (400, 908)


def test_several_people_join_by_a_link(inviter: InvitingBusiness) -> None:
    made = inviter.link()
    shown = answered(inviter.tenant.send("GET", LOOK_UP, with_secret=False, invitation_token=made["Token"]))
    assert (shown["EmailId"], shown["OrgId"], shown["IsExistingUser"]) == ("", inviter.org, False)
    for email in (GUEST, "bob@example.com"):
        bearer = inviter.guest(email)
        accepted = answered(inviter.accept(made["Token"], bearer))
        assert (accepted["Id"], accepted["Status"], accepted["EmailId"]) == (made["Id"], "accepted", "")
        assert [role["RoleId"] for role in accepted["Data"]] == [inviter.member_role]
        answered(inviter.accept(made["Token"], bearer))  # a second click is harmless
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 2
    assert len(inviter.members()) == 3


def test_member_costs_no_use(inviter: InvitingBusiness) -> None:
    inviter.invite()
    bearer = inviter.guest()
    answered(inviter.accept(inviter.token(), bearer))
    made = inviter.link(maxUses=1)
    answered(inviter.accept(made["Token"], bearer))
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Uses"] == 0


@pytest.mark.both_databases
def test_used_up_link_is_closed(inviter: InvitingBusiness) -> None:
    made = inviter.link(maxUses=1)
    answered(inviter.accept(made["Token"], inviter.guest()))
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Status"] == "used_up"
    assert refused(inviter.accept(made["Token"], inviter.guest("bob@example.com"))) == (400, 8175)
    assert refused(inviter.send("DELETE", f"{LINKS}/{made['Id']}")) == (400, 8175)


def test_link_ends_after_its_days(inviter: InvitingBusiness) -> None:
    made = inviter.link(expiresInDays=30)
    inviter.wait(days=29)
    answered(inviter.accept(made["Token"], inviter.guest()))
    inviter.wait(days=1)
    assert refused(inviter.accept(made["Token"], inviter.guest("bob@example.com"))) == (400, 8175)
    assert answered(inviter.send("GET", f"{LINKS}/{made['Id']}"))["Status"] == "expired"


def test_revoked_link_is_closed(inviter: InvitingBusiness) -> None:
    made = inviter.link()
    assert answered(inviter.send("DELETE", f"{LINKS}/{made['Id']}"))["Status"] == "revoked"
    assert refused(inviter.accept(made["Token"], inviter.guest())) == (400, 8175)
    assert refused(inviter.tenant.send("GET", LOOK_UP, invitation_token=made["Token"])) == (400, 8175)


def test_link_opens_the_page_of_the_application(new_tenant_server: NewTenantServer) -> None:
    item = inviting_business(new_tenant_server, url_whitelist=["https://app.example/join"])
    made = item.link(url="https://app.example/join")
    assert made["Url"] == f"https://app.example/join?invitation_token={made['Token']}"


def test_token_of_a_link_is_stored_as_a_hash(inviter: InvitingBusiness) -> None:
    made = inviter.link()
    work = UnitOfWork(inviter.tenant.services.database, inviter.tenant.tenant_id)
    try:
        table = organization_invitations
        row = work.one(select(table).where(table.c.tenant_id == inviter.tenant.tenant_id))
    finally:
        work.rollback()
    assert row is not None
    assert made["Token"] not in str(tuple(row))


@pytest.mark.both_databases
def test_many_invitations_cost_two_statements_each(new_tenant_server: NewTenantServer) -> None:
    item = inviting_business(new_tenant_server)
    item.many("first@example.com")
    costs = []
    for count in (5, 25):
        people = [f"{count}.{number}@example.com" for number in range(count)]
        item.member(item.org, email=people[0])
        item.guest(people[1])
        answer = item.many(*people)
        assert answered(answer)["InvitedCount"] == count - 1
        costs.append(int(answer.headers["X-Gatehouse-Cost"].split("sql=")[1].split(";")[0]))
    assert costs[1] - costs[0] == 2 * 20, "the invitation and its email"
