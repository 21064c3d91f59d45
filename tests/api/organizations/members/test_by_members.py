"""Members leave organizations, and manage the members of those where they have the permission."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import select

from app.contract import errors
from app.contract.sessions.models import Session
from app.contract.visitor_claims import SESSION_HEADER
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to, token_in
from tests.support.oauth.relying_party import Browser, moved
from tests.support.oauth.world import World
from tests.support.organizations.invitations import PATH as INVITATIONS
from tests.support.organizations.invitations import InvitingBusiness
from tests.support.organizations.management import NO_ORG, NO_ROLE, Business
from tests.support.organizations.members import OWN, Team, refused
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered

ACCOUNT = "/v2/manage/account"


def test_account_reads_its_organizations(team: Team) -> None:
    (item,) = team.read("owner")["Organizations"]
    assert (item["Name"], item["Roles"], item["People"], item["CanManage"], item["IsLastOwner"]) == (
        "Globex",
        ["Owner"],
        3,
        True,
        True,
    )
    (item,) = team.read("editor")["Organizations"]
    assert (item["CanManage"], item["IsLastOwner"]) == (False, False)
    assert team.read("outsider")["Organizations"] == []


def test_member_leaves(team: Team) -> None:
    assert team.leave("editor") == (200, None)
    assert team.read("editor")["Organizations"] == []
    assert team.leave("editor") == refused(errors.UnknownOrganization)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("end", ["remove", "leave", "leave by API", "leave all", "take roles", "demote"])
def test_removed_member_cannot_use_a_spare_invitation(team: Team, end: str) -> None:
    item, person = InvitingBusiness(team.company.business.tenant), team.people["editor"]
    roles, owner = [team.roles["Editor"], team.roles["Owner"]], team.people["owner"].uid
    other = item.create("Initech")
    answered(item.assign(owner, other, team.roles["Owner"]))
    answered(team.company.business.send("DELETE", f"{ACCOUNT}/{person.uid}/orgcontext/{team.org}"))
    spare = item.invite(person.email, orgId=team.org, inviterUid=owner, roleIds=roles)["Id"]
    foreign = item.invite(person.email, orgId=other, inviterUid=owner, roleIds=[team.roles["Owner"]])["Id"]
    of_others = item.invite("guest@globex.test", orgId=team.org, inviterUid=owner, roleIds=roles)["Id"]
    answered(item.assign(person.uid, team.org, roles[0], team.roles["Manager"]))
    sent = item.invite("friend@globex.test", orgId=team.org, inviterUid=person.uid, roleIds=roles[:1])["Id"]
    path = f"{ACCOUNT}/{person.uid}/orgcontext"
    if end == "remove":
        assert team.remove("owner", "editor") == (200, None)
    elif end == "leave":
        assert team.leave("editor") == (200, None)
    elif end == "demote":
        assert team.set_roles("owner", "editor", "Editor") == (200, None)
    elif end == "take roles":
        team.company.leave(person, team.org, roles[0], team.roles["Manager"])
    else:
        answered(item.send("DELETE", path if end == "leave all" else f"{path}/{team.org}"))
    status = {
        key: answered(item.send("GET", f"{INVITATIONS}/{key}"))["Status"] for key in (spare, foreign, of_others, sent)
    }
    assert status == {
        spare: "revoked",
        foreign: "revoked" if end == "leave all" else "invited",
        of_others: "invited",
        sent: "invited" if end == "demote" else "revoked",
    }


def test_last_owner_cannot_leave_or_step_down(team: Team) -> None:
    for item in (team.leave("owner"), team.remove("owner", "owner"), team.set_roles("owner", "owner", "Editor")):
        assert item == refused(errors.LastOwner)
    assert team.roles_of("owner") == ["Owner"]
    assert team.set_roles("owner", "editor", "Owner") == (200, None)
    assert team.leave("owner") == (200, None)
    assert team.leave("editor") == refused(errors.LastOwner)


BLOCKED = {
    "blocked": {"is_active": False},
    "disabled": {"login_disabled": True},
    "being deleted": {"is_deleted": True},
}


@pytest.mark.parametrize("column", BLOCKED.values(), ids=BLOCKED)
def test_owner_who_cannot_sign_in_is_no_owner_left(team: Team, column: dict[str, bool]) -> None:
    assert team.set_roles("owner", "editor", "Owner") == (200, None)
    assert not team.read("owner")["Organizations"][0]["IsLastOwner"]
    team.people["editor"].set_columns(**column)
    assert team.read("owner")["Organizations"][0]["IsLastOwner"]
    seen = {
        member["Label"].partition("@")[0]: (member["IsOwner"], member["IsLastOwner"])
        for member in team.members("owner")
    }
    assert (seen["owner"], seen["editor"]) == ((True, True), (True, False))
    for item in (team.leave("owner"), team.remove("owner", "owner"), team.set_roles("owner", "owner", "Editor")):
        assert item == refused(errors.LastOwner)
    assert team.remove("owner", "editor") == (200, None)
    assert team.roles_of("owner") == ["Owner"]


def test_organization_without_owners_can_be_left(team: Team) -> None:
    role = team.roles["Owner"]
    answered(team.company.business.assign(team.people["owner"].uid, team.org, team.roles["Editor"]))
    team.company.leave(team.people["owner"], team.org, role)
    assert team.leave("owner") == (200, None)


@pytest.mark.both_databases
def test_manager_changes_and_removes_members(team: Team) -> None:
    assert team.set_roles("manager", "editor", "Editor", "Manager") == (200, None)
    assert team.roles_of("editor") == ["Editor", "Manager"]
    assert team.set_roles("manager", "editor", "Manager") == (200, None)
    assert team.roles_of("editor") == ["Manager"]
    assert team.remove("manager", "editor") == (200, None)
    assert [member["Label"] for member in team.members()] == ["owner@globex.test", "manager@globex.test"]


@pytest.mark.parametrize(
    "act",
    [
        lambda team: team.remove("manager", "owner"),
        lambda team: team.set_roles("manager", "owner", "Editor"),
        lambda team: team.set_roles("manager", "owner", "Owner", "Editor"),
        lambda team: team.set_roles("manager", "editor", "Owner"),
        lambda team: team.set_roles("manager", "manager", "Manager", "Owner"),
    ],
    ids=["remove owner", "demote owner", "touch owner", "make owner", "make oneself owner"],
)
def test_manager_cannot_change_owners(team: Team, act: Callable[[Team], tuple[int, Any]]) -> None:
    assert act(team) == refused(errors.OwnersOnly)
    assert (team.roles_of("owner"), team.roles_of("manager"), team.roles_of("editor")) == (
        ["Owner"],
        ["Manager"],
        ["Editor"],
    )


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("other", ["manager", "editor"])
def test_manager_gives_no_permissions_it_lacks(team: Team, other: str) -> None:
    pay, read = (team.company.permission(name) for name in ("billing:pay", "billing:read"))
    manage = team.company.permission("org:manage")
    team.roles["Payer"] = team.company.business.role("Payer", org=team.org, permissions=(read, pay))
    team.roles["Reader"] = team.company.business.role("Reader", org=team.org, permissions=(read, manage))
    answered(team.company.business.assign(team.people["manager"].uid, team.org, team.roles["Reader"]))
    former = team.roles_of(other)
    assert team.set_roles("manager", other, *former, "Payer") == refused(errors.OwnersOnly)
    assert team.roles_of(other) == former
    page = f"/{team.org}/members/{team.people[other].uid}"
    shown = {item["Name"]: item["CanChange"] for item in team.read("manager", page)["Roles"]}
    assert (shown["Payer"], shown["Owner"], shown["Reader"], shown["Editor"]) == (False, False, True, True)
    assert team.set_roles("manager", other, *{*former, "Reader"}) == (200, None)
    assert all(item["CanChange"] for item in team.read("owner", page)["Roles"])
    assert team.set_roles("owner", other, *former, "Payer") == (200, None)
    shown = (
        {item["Name"]: item["CanChange"] for item in team.read("manager", page)["Roles"]} if other == "editor" else {}
    )
    assert shown.get("Payer", True), "a role that the member has can be taken"
    assert team.set_roles("manager", "editor", "Editor") == (200, None)


@pytest.mark.parametrize("name", ["editor", "outsider"])
def test_organization_one_does_not_manage_is_unknown(team: Team, name: str) -> None:
    uid = team.people["editor"].uid
    for path in (f"/{team.org}/members", f"/{team.org}/members/{uid}", f"/{NO_ORG}/members"):
        assert team.read(name, path, 404)["ErrorCode"] == errors.UnknownOrganization.code
    unknown = refused(errors.UnknownOrganization)
    assert team.remove(name, "manager") == team.set_roles(name, "manager", "Editor") == unknown
    assert team.roles_of("manager") == ["Manager"]


def test_manager_of_one_organization_cannot_reach_another(team: Team) -> None:
    business = team.company.business
    other = business.create("Initech")
    team.company.join(team.people["outsider"], other, "Chief", "org:own", "org:manage")
    assert team.read("outsider", f"/{team.org}/members", 404)["ErrorCode"] == errors.UnknownOrganization.code
    uid = team.people["editor"].uid
    assert team.read("outsider", f"/{other}/members/{uid}", 404)["ErrorCode"] == errors.NotAMember.code
    body = {"Organization": other, "Uid": uid}
    assert team.send("outsider", "/members/remove", **body) == refused(errors.NotAMember)
    roles = {**body, "RoleIds": [business.role(org=other)]}
    assert team.send("outsider", "/members/roles", **roles) == refused(errors.NotAMember)


def test_role_of_another_organization_is_refused(team: Team) -> None:
    foreign = team.company.business.role("Spy", org=team.company.business.create("Initech"))
    assert team.set_roles("owner", "editor", foreign) == refused(errors.RoleOfOtherOrganization)
    assert team.set_roles("owner", "editor", NO_ROLE) == refused(errors.MalformedRoleId)
    assert team.set_roles("owner", "editor")[0] == 400, "a member has at least one role"
    assert team.roles_of("editor") == ["Editor"]


@pytest.mark.both_databases
def test_other_tenants_organization_is_unknown(team: Team, new_tenant_server: NewTenantServer) -> None:
    foreign = Business(new_tenant_server()).create()
    assert team.read("owner", f"/{foreign}/members", 404)["ErrorCode"] == errors.UnknownOrganization.code
    assert team.send("owner", "/leave", Organization=foreign) == refused(errors.UnknownOrganization)


def test_inactive_organization_cannot_be_managed(team: Team) -> None:
    team.company.business.deactivate(team.org)
    assert team.read("owner")["Organizations"] == []
    assert team.remove("owner", "editor") == refused(errors.UnknownOrganization)


@pytest.mark.both_databases
def test_list_has_pages_and_a_search(team: Team) -> None:
    for number in range(30):
        answered(team.company.business.assign(
            team.company.world.person(f"p{number:02}@crowd.test").uid, team.org, team.roles["Editor"]
        ))  # fmt: skip
    first, second = (team.read("manager", f"/{team.org}/members?page={page}") for page in (1, 2))
    assert (len(first["Members"]), first["HasMore"], len(second["Members"]), second["HasMore"]) == (25, True, 8, False)
    assert len({item["Uid"] for item in [*first["Members"], *second["Members"]]}) == 33
    assert [member["Label"] for member in team.members(query="?search=P07%40CROWD")] == ["p07@crowd.test"]
    assert team.members(query="?search=%25") == team.members(query="?search=_") == []


@pytest.mark.both_databases
def test_list_has_names_and_finds_by_them(team: Team) -> None:
    zoe = team.company.world.person("zw@crowd.test", FirstName="Zoë", LastName="Ward")
    nameless = team.company.world.person("nameless@crowd.test", LastName="Ng")
    for person in (zoe, nameless):
        answered(team.company.business.assign(person.uid, team.org, team.roles["Editor"]))
    names = {member["Label"]: member["Name"] for member in team.members()}
    assert (names[zoe.email], names[nameless.email], names["editor@globex.test"]) == ("Zoë Ward", "Ng", "")
    assert [member["Label"] for member in team.members(query="?search=o%C3%AB%20WARD")] == [zoe.email]
    assert team.read("owner", f"/{team.org}/members/{zoe.uid}")["Member"]["Name"] == "Zoë Ward"


@pytest.mark.both_databases
def test_invited_people_follow_the_last_member(team: Team) -> None:
    invited = [f"guest{number:02}@crowd.test" for number in range(30)]
    assert team.send("owner", "/invitations", Emails=invited, Role=team.roles["Editor"]) == (200, None)
    pages = [team.read("manager", f"/{team.org}/members?page={page}") for page in (1, 2, 3)]
    assert [(len(page["Members"]), len(page["Invitations"]), page["HasMore"]) for page in pages] == [
        (3, 22, True), (0, 8, False), (0, 0, False)
    ]  # fmt: skip
    assert sorted(item["Email"] for page in pages for item in page["Invitations"]) == invited
    assert {page["Invited"] for page in pages} == {30}
    found = [team.read("owner", f"/{team.org}/members?search=GUEST1&page={page}") for page in (1, 2)]
    assert [(len(page["Members"]), len(page["Invitations"])) for page in found] == [(0, 10), (0, 0)]


def test_list_marks_oneself_and_what_can_be_changed(team: Team) -> None:
    seen = {member["Label"].partition("@")[0]: member for member in team.members("manager")}
    assert (seen["manager"]["IsSelf"], seen["owner"]["IsOwner"], seen["owner"]["CanChange"]) == (True, True, False)
    assert seen["editor"]["CanChange"]
    assert team.members("owner")[0]["IsLastOwner"]


def test_member_is_read_with_the_roles_to_choose_from(team: Team) -> None:
    found = team.read("manager", f"/{team.org}/members/{team.people['editor'].uid}")
    assert found["Member"]["RoleIds"] == [team.roles["Editor"]]
    assert [(item["Name"], item["CanChange"]) for item in found["Roles"]] == [
        ("Editor", True),
        ("Manager", True),
        ("Owner", False),
    ]


def test_changes_need_recent_authentication(team: Team, services: IdentityServices) -> None:
    browser, person = team.browser("owner"), team.people["editor"]
    body = {"Organization": team.org, "Uid": person.uid, "RoleIds": [team.roles["Manager"]]}
    with moved(services, minutes=6):
        for path in ("/leave", "/members/remove", "/members/roles"):
            answer = browser.send("POST", f"{OWN}{path}", json.dumps(body).encode())
            assert (answer.status_code, answer.get_json()["ErrorCode"]) == refused(errors.WrongCurrentPassword), path
        with_password = replace(browser, typed=team.people["owner"].password)
        answer = with_password.send("POST", f"{OWN}/members/roles", json.dumps(body).encode())
        assert answer.status_code == 200
        assert Session.model_validate_json(answer.headers[SESSION_HEADER]).token, "the cookie is renewed"


def test_signed_out_browser_is_refused(team: Team, world: World) -> None:
    for path in ("", f"/{team.org}/members", f"/{team.org}/members/x"):
        answer = world.browser().send("GET", f"{OWN}{path}", b"")
        assert answer.status_code == errors.NotAuthenticated.status, answer.text
    for path in ("/leave", "/members/roles", "/members/remove"):
        body = json.dumps({"Organization": team.org, "Uid": "x", "RoleIds": ["x"]}).encode()
        assert world.browser().send("POST", f"{OWN}{path}", body).status_code == errors.NotAuthenticated.status


def test_changes_are_audited_with_their_actor(team: Team, services: IdentityServices) -> None:
    team.set_roles("manager", "editor", "Manager")
    team.remove("manager", "editor")
    with UnitOfWork(services.database, team.company.world.tenant_id).separate_transaction() as work:
        rows = work.all(select(audit).where(audit.c.tenant_id == team.company.world.tenant_id))
    found = {row.event: (row.uid, row.facts) for row in rows if row.event.startswith("organization.member_")}
    assert found.keys() == {"organization.member_changed", "organization.member_removed"}
    for uid, facts in found.values():
        assert (uid, facts["by"], facts["org_id"]) == (
            team.people["editor"].uid,
            team.people["manager"].uid,
            team.org,
        )


def test_two_owners_leaving_at_once_leave_one(team: Team) -> None:
    assert team.set_roles("owner", "editor", "Owner") == (200, None)
    browsers = [team.browser(name) for name in ("owner", "editor")]
    body, results = json.dumps({"Organization": team.org}).encode(), list[int]()

    def go(browser: Browser) -> None:
        results.append(browser.send("POST", f"{OWN}/leave", body).status_code)

    threads = [Thread(target=go, args=(browser,)) for browser in browsers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [200, errors.LastOwner.status]


def schedule_deletion(team: Team, name: str) -> None:
    """Delete the person's account, with a week to change their mind."""
    tenant, person, path = team.company.business.tenant, team.people[name], "/identity/v2/auth/account"
    tenant.change_settings(deletion_days=7)
    answered(tenant.send("DELETE", path, bearer=tenant.tokens(person.uid)["access_token"]))
    token = token_in(mails_to(tenant.services, tenant.tenant_id, person.email)[-1])
    answered(tenant.send("GET", f"{path}/delete", with_secret=False, deletetoken=token))
    assert tenant.read(person.uid)["IsDeleted"] is True


def by_api(team: Team, path: str, body: Any = None) -> tuple[int, Any]:
    answer = team.company.business.send(
        "DELETE", f"/v2/manage/account/{team.people['editor'].uid}/orgcontext{path}", body
    )
    return answer.status_code, (answer.json or {}).get("ErrorCode")


@pytest.mark.parametrize(
    "act",
    [
        lambda team: team.remove("owner", "editor"),
        lambda team: by_api(team, f"/{team.org}"),
        lambda team: by_api(team, ""),
        lambda team: by_api(team, f"/{team.org}/roles", {"RoleIds": [team.roles["Editor"]]}),
    ],
    ids=["owner", "organization", "all", "roles"],
)
def test_leaving_account_is_removed_from_its_organization(team: Team, act: Callable[[Team], tuple[int, Any]]) -> None:
    schedule_deletion(team, "editor")
    assert team.read("owner", f"/{team.org}/members/{team.people['editor'].uid}")["Member"]["Roles"] == ["Editor"]
    assert act(team) == (200, None)
    tenant, uid = team.company.business.tenant, team.people["editor"].uid
    answered(tenant.send("PUT", f"{MANAGE}/{uid}", {"IsDeleted": False}))
    assert tenant.read(uid)["IsDeleted"] is False
    assert team.roles_of("editor") == []
    assert team.read("editor")["Organizations"] == []


def test_leaving_account_loses_roles_and_gets_none(team: Team) -> None:
    assert team.set_roles("owner", "editor", "Editor", "Manager") == (200, None)
    schedule_deletion(team, "editor")
    assert team.set_roles("owner", "editor", "Editor", "Manager", "Owner") == refused(errors.NotAMember)
    assert team.set_roles("owner", "editor", "Editor") == (200, None)
    assert team.roles_of("editor") == ["Editor"]
    uid = team.people["editor"].uid
    answer = team.company.business.assign(uid, team.org, team.roles["Manager"])
    assert (answer.status_code, (answer.json or {}).get("ErrorCode")) == refused(errors.UnknownMember)
