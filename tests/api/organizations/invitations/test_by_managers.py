"""Members who manage an organization invite within their rights; people accept without the emailed link."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from app.contract import errors
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to, token_in
from tests.support.oauth.relying_party import Browser
from tests.support.organizations.invitations import LINKS, InvitingBusiness
from tests.support.organizations.invitations import PATH as INVITATIONS
from tests.support.organizations.management import NO_ROLE
from tests.support.organizations.members import OWN, Team, refused
from tests.support.races import at_once
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import answered

GUEST = "guest@globex.test"
NONE = f"inv_{'0' * 16}"
MINE = "/hub/own/invitations"
MANY = 20


def post(browser: Browser, path: str, **members: Any) -> tuple[int, Any]:
    answer = browser.send("POST", path, json.dumps(members).encode())
    body = answer.json or {}
    return answer.status_code, body.get("ErrorCode", body.get("errorCode"))


def invite(team: Team, name: str, role: str = "Editor", *emails: str) -> tuple[int, Any]:
    return team.send(name, "/invitations", Emails=list(emails or (GUEST,)), Role=team.roles.get(role, role))


def link(team: Team, name: str, role: str = "Editor", **members: Any) -> tuple[int, Any]:
    return team.send(name, "/links", Role=team.roles.get(role, role), **members)


def pending(team: Team, name: str = "owner") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = team.read(name, f"/{team.org}/members")["Invitations"]
    return found


def one_of(team: Team) -> InvitingBusiness:
    return InvitingBusiness(team.company.business.tenant)


def status(team: Team, invitation: str) -> str:
    return str(answered(team.company.business.send("GET", f"{INVITATIONS}/{invitation}"))["Status"])


def count_mails(team: Team, email: str = GUEST) -> int:
    return len(mails_to(team.company.world.services, team.company.world.tenant_id, email))


def foreign(team: Team) -> str:
    """Return an invitation to another organization."""
    business = one_of(team)
    other = business.create("Initech")
    return str(business.invite(orgId=other, inviterUid=business.member(other))["Id"])


@pytest.mark.parametrize("name", ["editor", "outsider"])
def test_others_neither_see_nor_invite(team: Team, name: str) -> None:
    assert invite(team, "owner") == (200, None)
    (made,) = pending(team)
    team.read(name, f"/{team.org}/invitations", status=404)
    unknown = refused(errors.UnknownOrganization)
    assert invite(team, name) == unknown
    assert link(team, name) == unknown
    for act in ("/invitations/resend", "/invitations/revoke", "/links/revoke"):
        assert team.send(name, act, Invitation=made["Id"]) == unknown
    assert status(team, made["Id"]) == "invited"


@pytest.mark.both_databases
def test_invitation_of_another_organization_is_not_found(team: Team) -> None:
    other = foreign(team)
    assert pending(team) == []
    found = team.read("owner", f"/{team.org}/invitations?invitation={other}")
    assert (found["Invitation"], found["Link"]) == (None, None)
    for act in ("/invitations/resend", "/invitations/revoke", "/links/revoke"):
        for invitation in (other, NONE, "any"):
            assert team.send("owner", act, Invitation=invitation) == refused(errors.UnknownOrganizationInvitation)
    assert status(team, other) == "invited"


def test_link_of_another_organization_is_not_found(team: Team) -> None:
    business = one_of(team)
    other = business.create("Initech")
    made = business.link(orgId=other, inviterUid=business.member(other))
    assert team.send("owner", "/links/revoke", Invitation=made["Id"]) == refused(errors.UnknownOrganizationInvitation)
    assert answered(business.send("GET", f"{LINKS}/{made['Id']}"))["Status"] == "active"


def test_manager_gives_no_role_of_owners(team: Team) -> None:
    assert invite(team, "manager", "Owner") == refused(errors.OwnersOnly)
    assert link(team, "manager", "Owner") == refused(errors.OwnersOnly)
    assert link(team, "owner", "Owner") == refused(errors.OwnersOnly), "no link gives it"
    assert count_mails(team) == 0
    assert invite(team, "owner", "Owner") == (200, None)
    (made,) = pending(team, "manager")
    assert made["CanChange"] is False
    for act in ("/invitations/resend", "/invitations/revoke"):
        assert team.send("manager", act, Invitation=made["Id"]) == refused(errors.OwnersOnly)
    assert status(team, made["Id"]) == "invited"


def test_unknown_and_foreign_roles_are_refused(team: Team) -> None:
    theirs = team.company.business.role("Theirs", org=team.company.business.create("Initech"))
    for role, error in (
        (NO_ROLE, errors.MalformedRoleId),
        ("any", errors.MalformedRoleId),
        (theirs, errors.RoleOfOtherOrganization),
    ):
        assert invite(team, "owner", role) == refused(error)
        assert link(team, "owner", role) == refused(error)


def test_stale_session_does_not_invite(team: Team) -> None:
    owner = team.browser("owner")
    pass_time(team.company.world.services, minutes=6)
    body = {"Organization": team.org, "Emails": [GUEST], "Role": team.roles["Editor"]}
    assert post(owner, f"{OWN}/invitations", **body) == refused(errors.WrongCurrentPassword)
    made = {"Organization": team.org, "Role": team.roles["Editor"]}
    assert post(owner, f"{OWN}/links", **made) == refused(errors.WrongCurrentPassword)
    assert count_mails(team) == 0
    with_password = replace(owner, typed=team.people["owner"].password)
    assert post(with_password, f"{OWN}/invitations", **body) == (200, None)


def test_resender_becomes_the_inviter(team: Team) -> None:
    assert invite(team, "manager") == (200, None)
    (made,) = pending(team)
    pass_time(team.company.world.services, seconds=61)
    assert team.send("owner", "/invitations/resend", Invitation=made["Id"]) == (200, None)
    assert team.set_roles("owner", "manager", "Editor") == (200, None)
    item = one_of(team)
    answered(item.accept(item.token(GUEST), item.guest(GUEST)))


@pytest.mark.parametrize("by_link", [False, True])
def test_demoted_manager_has_no_invitation_left(team: Team, *, by_link: bool) -> None:
    item = one_of(team)
    if by_link:
        body = json.dumps({"Organization": team.org, "Role": team.roles["Manager"]}).encode()
        made = team.browser("manager").send("POST", f"{OWN}/links", body).get_json()
        token = made["Address"].rpartition("/")[2]
    else:
        assert invite(team, "manager", "Manager") == (200, None)
        token = item.token(GUEST)
    assert team.set_roles("owner", "manager", "Editor") == (200, None)
    assert refused(errors.ClosedInvitation) == _refusal(item.accept(token, item.guest(GUEST)))
    assert team.set_roles("owner", "manager", "Manager") == (200, None)
    uid = answered(item.send("GET", "/identity/v2/manage/account", email=GUEST))["Uid"]
    answered(item.accept(token, str(item.tenant.tokens(uid)["access_token"])))


def _refusal(answer: Any) -> tuple[int, Any]:
    return answer.status_code, answer.get_json().get("ErrorCode")


@pytest.mark.both_databases
def test_invitations_of_an_organization_are_limited(team: Team) -> None:
    for start in range(0, 200, 50):
        emails = [f"p{number}@globex.test" for number in range(start, start + 50)]
        assert invite(team, "owner", "Editor", *emails) == (200, None)
    assert invite(team, "manager")[0] == 429
    assert count_mails(team) == 0


@pytest.mark.both_databases
def test_resent_invitations_count_in_the_limits(team: Team) -> None:
    for start in range(0, 196, 49):
        emails = [f"p{number}@globex.test" for number in range(start, start + 49)]
        assert invite(team, "owner", "Editor", *emails) == (200, None)
    clock: Any = team.company.world.services.clock
    clock.advance(seconds=61)
    waiting = pending(team)[:5]
    results = [team.send("manager", "/invitations/resend", Invitation=item["Id"])[0] for item in waiting]
    assert results == [200] * 4 + [429]
    for _ in range(3):  # too soon after an email, which costs nothing
        assert team.send("manager", "/invitations/resend", Invitation=waiting[0]["Id"])[0] == 429


@pytest.mark.both_databases
def test_changes_are_in_the_audit_log(team: Team) -> None:
    assert invite(team, "manager") == (200, None)
    (made,) = pending(team)
    assert team.send("owner", "/invitations/revoke", Invitation=made["Id"]) == (200, None)
    assert link(team, "manager") == (200, None)
    (link_made,) = team.read("owner", f"/{team.org}/members")["Links"]
    assert team.send("owner", "/links/revoke", Invitation=link_made["Id"]) == (200, None)
    world = team.company.world
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        rows = work.all(select(audit.c.event, audit.c.uid).where(audit.c.tenant_id == world.tenant_id))
    finally:
        work.rollback()
    found = {row.event: row.uid for row in rows}
    owner, manager = team.people["owner"].uid, team.people["manager"].uid
    assert found["organization.invited"] == manager
    assert found["organization.invitation_revoked"] == owner
    assert found["organization.link_created"] == manager
    assert found["organization.link_revoked"] == owner


# Answers of the invited account itself.


def own(team: Team) -> tuple[Browser, str, str]:
    """Invite the outsider; return its browser, the invitation and the token of the emailed link."""
    email = team.people["outsider"].email
    assert invite(team, "owner", "Editor", email) == (200, None)
    (made,) = pending(team)
    world = team.company.world
    token = token_in(mails_to(world.services, world.tenant_id, email)[-1])
    return team.browser("outsider"), made["Id"], token


@pytest.mark.both_databases
def test_twenty_answers_accept_once(team: Team) -> None:
    browser, invitation, _ = own(team)
    answers = at_once([partial(post, browser, f"{MINE}/accept", Invitation=invitation)] * MANY)
    assert Counter(answers) == {(200, None): 1, refused(errors.ClosedInvitation): MANY - 1}
    assert team.roles_of("outsider") == ["Editor"]


@pytest.mark.both_databases
def test_raced_link_and_answer_make_one_member(team: Team) -> None:
    browser, invitation, token = own(team)
    item, uid = one_of(team), team.people["outsider"].uid
    bearer = str(item.tenant.tokens(uid)["access_token"])
    acts: list[Any] = [partial(post, browser, f"{MINE}/accept", Invitation=invitation)] * 5
    acts += [lambda: _refusal(item.accept(token, bearer))] * 5
    answers = at_once(acts)
    assert Counter(answers) == {(200, None): 1, refused(errors.ClosedInvitation): 9}
    assert len([role for role in item.members(team.org) if role["Uid"] == uid]) == 1


@pytest.mark.both_databases
def test_raced_decline_and_accept_end_it_once(team: Team) -> None:
    browser, invitation, _ = own(team)
    acts = [partial(post, browser, f"{MINE}/{act}", Invitation=invitation) for act in ("accept", "decline") * 4]
    answers = at_once(acts)
    assert Counter(answers) == {(200, None): 1, refused(errors.ClosedInvitation): 7}
    assert (status(team, invitation) == "accepted") is (team.roles_of("outsider") == ["Editor"])


def test_address_given_up_answers_no_more(team: Team) -> None:
    browser, invitation, _ = own(team)
    tenant, uid = team.company.business.tenant, team.people["outsider"].uid
    replaced = {"Email": [{"Type": "Primary", "Value": "new@globex.test"}]}
    answered(tenant.send("PUT", f"/identity/v2/manage/account/{uid}/email", replaced))
    assert browser.send("GET", MINE, b"").get_json()["Invitations"] == []
    for act in ("accept", "decline"):
        assert post(browser, f"{MINE}/{act}", Invitation=invitation) == refused(errors.UnknownOrganizationInvitation)
    assert status(team, invitation) == "invited"


def test_others_cannot_answer(team: Team) -> None:
    _, invitation, _ = own(team)
    for act in ("accept", "decline"):
        answer = post(team.browser("editor"), f"{MINE}/{act}", Invitation=invitation)
        assert answer == refused(errors.UnknownOrganizationInvitation)
        assert post(team.browser("editor"), f"{MINE}/{act}", Invitation="any") == answer
        assert post(team.company.world.browser(), f"{MINE}/{act}", Invitation=invitation) == refused(
            errors.NotAuthenticated
        )
    assert status(team, invitation) == "invited"


def test_link_is_answered_by_its_token_alone(team: Team) -> None:
    assert link(team, "owner") == (200, None)
    (made,) = team.read("owner", f"/{team.org}/members")["Links"]
    browser = team.browser("outsider")
    for act in ("accept", "decline"):
        assert post(browser, f"{MINE}/{act}", Invitation=made["Id"]) == refused(errors.UnknownOrganizationInvitation)


@pytest.mark.both_databases
def test_last_seat_is_answered_once(team: Team) -> None:
    browser, invitation, _ = own(team)
    item = one_of(team)
    assert invite(team, "owner", "Editor", GUEST) == (200, None)
    bearer, token = item.guest(GUEST), item.token(GUEST)
    answered(item.send("PUT", f"/v2/manage/organizations/{team.org}/policy", {"MemberPolicy": {"Seats": 4}}))
    acts: list[Callable[[], tuple[int, Any]]] = [
        partial(post, browser, f"{MINE}/accept", Invitation=invitation),
        lambda: _refusal(item.accept(token, bearer)),
    ]
    answers = at_once(acts)
    assert Counter(answers) == {(200, None): 1, refused(errors.NoSeatLeft): 1}


def test_organizations_off_offers_nothing(team: Team) -> None:
    browser, invitation, _ = own(team)
    team.company.world.change_settings(organizations={"enabled": False})
    assert browser.send("GET", MINE, b"").get_json()["Invitations"] == []
    assert post(browser, f"{MINE}/accept", Invitation=invitation) == refused(errors.UnknownOrganizationInvitation)
