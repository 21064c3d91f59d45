"""Attacks on invitations: foreign, forwarded, replayed and raced links, and names that try to become links."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from sqlalchemy import select

from app.identity.directory.organizations.tables import organization_invitations
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.organizations.invitations import GUEST, LOOK_UP, PATH, Inviting, inviting
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

EMAIL = "/identity/v2/manage/account"


@pytest.fixture
def one(new_tenant_server: NewTenantServer) -> Inviting:
    return inviting(new_tenant_server)


@pytest.mark.both_databases
def test_twenty_acceptances_make_one_member(one: Inviting) -> None:
    one.invite()
    token, bearer = one.token(), one.guest()
    answers = at_once([lambda: one.accept(token, bearer)] * 20)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 19}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(400, 8175)}
    assert len([role for role in one.members() if role["Email"] == GUEST]) == 1


@pytest.mark.both_databases
def test_last_seat_is_taken_once(one: Inviting) -> None:
    one.set_policy(MemberPolicy={"Seats": 5})
    guests = [f"guest{number}@example.com" for number in range(4)]
    for email in guests:
        one.invite(email)
    stored = [(one.token(email), one.guest(email)) for email in guests]
    one.set_policy(MemberPolicy={"Seats": 2})
    answers = at_once([partial(one.accept, *pair) for pair in stored])
    assert sorted(answer.status_code for answer in answers) == [200, 403, 403, 403]
    assert len({role["Uid"] for role in one.members()}) == 2


@pytest.mark.both_databases
def test_raced_invitations_to_one_address_leave_one_open(one: Inviting) -> None:
    body = one.body()
    answers = at_once([lambda: one.send("POST", PATH, body)] * 8)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 7}
    assert answered(one.send("GET", PATH, orgid=one.org))["TotalCount"] == 1
    assert len(mails_to(one.tenant.services, one.tenant.tenant_id, GUEST)) == 1


@pytest.mark.both_databases
def test_token_of_another_tenant_is_unknown(one: Inviting, new_tenant_server: NewTenantServer) -> None:
    made, other = one.invite(), inviting(new_tenant_server)
    token = one.token()
    assert refused(other.tenant.send("GET", LOOK_UP, invitation_token=token)) == (400, 8175)
    assert refused(other.accept(token, other.guest())) == (400, 8175)
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/resend")):
        assert refused(other.send(method, f"{PATH}/{made['Id']}{path}")) == (404, 8169)
    assert refused(other.send("GET", PATH, orgid=one.org)) == (404, 8118)
    assert refused(other.ask(orgId=one.org)) == (404, 8118)
    assert refused(other.ask(inviterUid=one.grace)) == (400, 8174)


def test_forwarded_link_is_refused_and_stays_open(one: Inviting) -> None:
    one.invite()
    token = one.token()
    assert refused(one.accept(token, one.guest("eve@example.com"))) == (400, 8137)
    assert answered(one.accept(token, one.guest()))["Status"] == "accepted"


def test_address_that_was_given_up_does_not_accept(one: Inviting) -> None:
    one.invite()
    token, bearer = one.token(), one.guest()
    uid = answered(one.send("GET", EMAIL, email=GUEST))["Uid"]
    replaced = {"Email": [{"Type": "Primary", "Value": "new@example.com"}]}
    answered(one.send("PUT", f"{EMAIL}/{uid}/email", replaced))
    assert refused(one.accept(token, bearer)) == (400, 8137)


def test_role_of_another_organization_is_unknown(one: Inviting) -> None:
    role = one.role("Theirs", one.create("Other"))
    assert refused(one.ask(roleIds=[one.member_role, role])) == (404, 8125)
    made = one.invite()
    assert refused(one.send("PUT", f"{PATH}/{made['Id']}", {"RoleIds": [role]})) == (404, 8125)


def test_inviter_of_another_organization_is_refused(one: Inviting) -> None:
    other = one.member(one.create("Other"))
    assert refused(one.ask(inviterUid=other)) == (400, 8174)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/join", "javascript:alert(1)", "//evil.example", "https://app.example@evil.example/join",
        "https://app.example/join/../../evil", "https://app.example.evil.example/join", "not an address",
    ],
)  # fmt: skip
def test_link_leads_to_no_other_page(new_tenant_server: NewTenantServer, url: str) -> None:
    item = inviting(new_tenant_server, url_whitelist=["https://app.example/join"])
    assert refused(item.ask(url)) == (400, 8176)
    assert mails_to(item.tenant.services, item.tenant.tenant_id, GUEST) == []


@pytest.mark.both_databases
def test_token_is_stored_as_a_hash(one: Inviting) -> None:
    one.invite()
    work = UnitOfWork(one.tenant.services.database, one.tenant.tenant_id)
    try:
        table = organization_invitations
        row = work.one(select(table).where(table.c.tenant_id == one.tenant.tenant_id))
    finally:
        work.rollback()
    assert row is not None
    assert one.token() not in str(tuple(row))


def test_names_in_the_mail_are_no_markup_and_no_links(one: Inviting) -> None:
    org = one.create("evil.example/login", Display={"Name": "<b>Win www.evil.example</b>"})
    uid = one.tenant.create(FirstName="Pay at https://evil.example", LastName="Now")["Uid"]
    answered(one.assign(uid, org, one.member_role))
    one.invite(orgId=org, inviterUid=uid)
    mail = one.mail()
    for part in (mail["html"], mail["text"], mail["subject"]):
        assert "evil.example" not in part
        assert "Pay at" not in part
    assert "<b>Win" not in mail["html"]
    assert "&lt;b&gt;Win www.\u2060evil.\u2060example&lt;" in mail["html"]


def test_mail_names_inviter_organization_and_tenant(one: Inviting) -> None:
    one.invite()
    mail = one.mail()
    tenant = mail["sender_name"]
    assert mail["subject"] == f"Join Acme on {tenant}"
    assert f"Grace Hopper invited you to join Acme on {tenant}." in mail["text"]
    assert "View invitation" in mail["html"]


def test_mail_speaks_the_language_of_the_request(new_tenant_server: NewTenantServer) -> None:
    item = inviting(new_tenant_server, locales=["en", "de"])
    german = item.tenant.send("POST", PATH, item.body(), headers={"Accept-Language": "de-AT,en;q=0.5"})
    assert answered(german)["Status"] == "invited"
    assert item.mail()["subject"].endswith("beitreten")
    item.tenant.create(Email=[{"Type": "Primary", "Value": "eva@example.com"}], EmailVerified=True, LocalLanguage="en")
    spoken = item.tenant.send("POST", PATH, item.body(email="eva@example.com"), headers={"Accept-Language": "de"})
    assert answered(spoken)["Status"] == "invited"
    assert item.mail("eva@example.com")["subject"].startswith("Join Acme")
