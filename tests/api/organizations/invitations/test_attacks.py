"""Attacks on invitations: foreign, forwarded, replayed and raced links, and names that try to become links."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from sqlalchemy import select

from app.identity.directory.organizations.tables import organization_invitations
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.organizations.invitations import GUEST, LOOK_UP, PATH, InvitingBusiness, inviting_business
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

EMAIL = "/identity/v2/manage/account"


@pytest.fixture
def inviter(new_tenant_server: NewTenantServer) -> InvitingBusiness:
    return inviting_business(new_tenant_server)


@pytest.mark.both_databases
def test_twenty_acceptances_make_one_member(inviter: InvitingBusiness) -> None:
    inviter.invite()
    token, bearer = inviter.token(), inviter.guest()
    answers = at_once([lambda: inviter.accept(token, bearer)] * 20)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 19}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(400, 8175)}
    assert len([role for role in inviter.members() if role["Email"] == GUEST]) == 1


@pytest.mark.both_databases
def test_last_seat_is_taken_once(inviter: InvitingBusiness) -> None:
    inviter.set_policy(MemberPolicy={"Seats": 5})
    guests = [f"guest{number}@example.com" for number in range(4)]
    for email in guests:
        inviter.invite(email)
    stored = [(inviter.token(email), inviter.guest(email)) for email in guests]
    inviter.set_policy(MemberPolicy={"Seats": 2})
    answers = at_once([partial(inviter.accept, *pair) for pair in stored])
    assert sorted(answer.status_code for answer in answers) == [200, 403, 403, 403]
    assert len({role["Uid"] for role in inviter.members()}) == 2


@pytest.mark.both_databases
def test_raced_invitations_to_one_address_leave_one_open(inviter: InvitingBusiness) -> None:
    body = inviter.body()
    answers = at_once([lambda: inviter.send("POST", PATH, body)] * 8)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 7}
    assert answered(inviter.send("GET", PATH, orgid=inviter.org))["TotalCount"] == 1
    assert len(mails_to(inviter.tenant.services, inviter.tenant.tenant_id, GUEST)) == 1


@pytest.mark.both_databases
def test_token_of_another_tenant_is_unknown(inviter: InvitingBusiness, new_tenant_server: NewTenantServer) -> None:
    made, other = inviter.invite(), inviting_business(new_tenant_server)
    token = inviter.token()
    assert refused(other.tenant.send("GET", LOOK_UP, invitation_token=token)) == (400, 8175)
    assert refused(other.accept(token, other.guest())) == (400, 8175)
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/resend")):
        assert refused(other.send(method, f"{PATH}/{made['Id']}{path}")) == (404, 8169)
    assert refused(other.send("GET", PATH, orgid=inviter.org)) == (404, 8118)
    assert refused(other.ask(orgId=inviter.org)) == (404, 8118)
    assert refused(other.ask(inviterUid=inviter.grace)) == (400, 8174)


def test_forwarded_link_is_refused_and_stays_open(inviter: InvitingBusiness) -> None:
    inviter.invite()
    token = inviter.token()
    assert refused(inviter.accept(token, inviter.guest("eve@example.com"))) == (400, 8137)
    assert answered(inviter.accept(token, inviter.guest()))["Status"] == "accepted"


def test_address_that_was_given_up_does_not_accept(inviter: InvitingBusiness) -> None:
    inviter.invite()
    token, bearer = inviter.token(), inviter.guest()
    uid = answered(inviter.send("GET", EMAIL, email=GUEST))["Uid"]
    replaced = {"Email": [{"Type": "Primary", "Value": "new@example.com"}]}
    answered(inviter.send("PUT", f"{EMAIL}/{uid}/email", replaced))
    assert refused(inviter.accept(token, bearer)) == (400, 8137)


def test_role_of_another_organization_is_unknown(inviter: InvitingBusiness) -> None:
    role = inviter.role("Theirs", inviter.create("Other"))
    assert refused(inviter.ask(roleIds=[inviter.member_role, role])) == (404, 8125)
    made = inviter.invite()
    assert refused(inviter.send("PUT", f"{PATH}/{made['Id']}", {"RoleIds": [role]})) == (404, 8125)


def test_inviter_of_another_organization_is_refused(inviter: InvitingBusiness) -> None:
    other = inviter.member(inviter.create("Other"))
    assert refused(inviter.ask(inviterUid=other)) == (400, 8174)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/join", "javascript:alert(1)", "//evil.example", "https://app.example@evil.example/join",
        "https://app.example/join/../../evil", "https://app.example.evil.example/join", "not an address",
    ],
)  # fmt: skip
def test_link_leads_to_no_other_page(new_tenant_server: NewTenantServer, url: str) -> None:
    item = inviting_business(new_tenant_server, url_whitelist=["https://app.example/join"])
    assert refused(item.ask(url)) == (400, 8176)
    assert mails_to(item.tenant.services, item.tenant.tenant_id, GUEST) == []


@pytest.mark.both_databases
def test_token_is_stored_as_a_hash(inviter: InvitingBusiness) -> None:
    inviter.invite()
    work = UnitOfWork(inviter.tenant.services.database, inviter.tenant.tenant_id)
    try:
        table = organization_invitations
        row = work.one(select(table).where(table.c.tenant_id == inviter.tenant.tenant_id))
    finally:
        work.rollback()
    assert row is not None
    assert inviter.token() not in str(tuple(row))


def test_names_in_the_mail_are_no_markup_and_no_links(inviter: InvitingBusiness) -> None:
    org = inviter.create("evil.example/login", Display={"Name": "<b>Win www.evil.example</b>"})
    uid = inviter.tenant.create(FirstName="Pay at https://evil.example", LastName="Now")["Uid"]
    answered(inviter.assign(uid, org, inviter.member_role))
    inviter.invite(orgId=org, inviterUid=uid)
    mail = inviter.mail()
    for part in (mail["html"], mail["text"], mail["subject"]):
        assert "evil.example" not in part
        assert "Pay at" not in part
    assert "<b>Win" not in mail["html"]
    assert "&lt;b&gt;Win www.\u2060evil.\u2060example&lt;" in mail["html"]


def test_mail_names_inviter_organization_and_tenant(inviter: InvitingBusiness) -> None:
    inviter.invite()
    mail = inviter.mail()
    tenant = mail["sender_name"]
    assert mail["subject"] == f"Join Acme on {tenant}"
    assert f"Grace Hopper invited you to join Acme on {tenant}." in mail["text"]
    assert "View invitation" in mail["html"]


def test_mail_speaks_the_language_of_the_request(new_tenant_server: NewTenantServer) -> None:
    item = inviting_business(new_tenant_server, locales=["en", "de"])
    german = item.tenant.send("POST", PATH, item.body(), headers={"Accept-Language": "de-AT,en;q=0.5"})
    assert answered(german)["Status"] == "invited"
    assert item.mail()["subject"].endswith("beitreten")
    item.tenant.create(Email=[{"Type": "Primary", "Value": "eva@example.com"}], EmailVerified=True, LocalLanguage="en")
    spoken = item.tenant.send("POST", PATH, item.body(email="eva@example.com"), headers={"Accept-Language": "de"})
    assert answered(spoken)["Status"] == "invited"
    assert item.mail("eva@example.com")["subject"].startswith("Join Acme")
