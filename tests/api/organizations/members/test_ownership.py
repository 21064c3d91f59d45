"""An owner makes another member an owner, and steps down or stays one; the organization never loses its last owner."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.oauth.relying_party import Browser
from tests.support.organizations.management import Business
from tests.support.organizations.members import OWN, Team, refused
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered


def transfer(team: Team, name: str, other: str, *, steps_down: bool = True, **members: Any) -> tuple[int, Any]:
    return team.send(name, "/transfer", **{"Uid": team.people[other].uid, "StepsDown": steps_down, **members})


def subjects(team: Team, name: str) -> list[str]:
    world = team.company.world
    return [
        str(item["subject"]).partition(" on T")[0]
        for item in mails_to(world.services, world.tenant_id, team.people[name].email)
    ]


def test_owner_hands_over_and_keeps_the_other_roles(team: Team) -> None:
    answered(team.company.business.assign(team.people["owner"].uid, team.org, team.roles["Editor"]))
    page = team.read("owner", f"/{team.org}/transfer/{team.people['editor'].uid}")
    assert (page["RolesAfter"], page["Member"]["Label"]) == (["Editor"], "editor@globex.test")
    assert transfer(team, "owner", "editor") == (200, None)
    seen = {
        member["Label"].partition("@")[0]: (member["Roles"], member["IsOwner"]) for member in team.members("editor")
    }
    assert seen == {
        "owner": (["Editor"], False),
        "manager": (["Manager"], False),
        "editor": (["Editor", "Owner"], True),
    }
    assert transfer(team, "owner", "manager") == refused(errors.UnknownOrganization), "the former owner manages nothing"


def test_owner_without_other_role_gets_that_of_new_members(team: Team) -> None:
    answered(team.company.business.send("PUT", f"/v2/manage/roles/{team.company.business.role('Member')}/default"))
    assert team.read("owner", f"/{team.org}/transfer/{team.people['editor'].uid}")["RolesAfter"] == ["Member"]
    assert transfer(team, "owner", "editor") == (200, None)
    (item,) = team.read("owner")["Organizations"]
    assert (item["Roles"], item["IsOwner"]) == (["Member"], False)


@pytest.mark.parametrize("default", [False, True], ids=["no default role", "default role of owners"])
def test_owner_without_any_other_role_leaves(team: Team, default: bool) -> None:
    if default:
        answered(team.company.business.send("PUT", f"/v2/manage/roles/{team.roles['Owner']}/default"))
    assert team.read("owner", f"/{team.org}/transfer/{team.people['editor'].uid}")["RolesAfter"] == []
    assert transfer(team, "owner", "editor") == (200, None)
    assert team.read("owner")["Organizations"] == []
    assert {member["Label"]: member["IsLastOwner"] for member in team.members("editor")} == {
        "manager@globex.test": False,
        "editor@globex.test": True,
    }


def test_both_can_stay_owners(team: Team) -> None:
    assert transfer(team, "owner", "editor", steps_down=False) == (200, None)
    assert {member["Label"]: member["IsOwner"] for member in team.members()} == {
        "owner@globex.test": True,
        "manager@globex.test": False,
        "editor@globex.test": True,
    }
    assert transfer(team, "editor", "owner") == (200, None), "an owner steps down in favour of another one"
    assert team.members()[0]["IsLastOwner"]


def test_new_owner_gets_the_role_with_the_fewest_permissions(team: Team) -> None:
    own, pay = (team.company.permission(name) for name in ("org:own", "billing:pay"))
    tycoon = team.company.business.role("Tycoon", permissions=(own, pay))
    answered(team.company.business.assign(team.people["owner"].uid, team.org, tycoon))
    assert transfer(team, "owner", "editor") == (200, None)
    assert {member["Label"]: member["Roles"] for member in team.members("editor")} == {
        "manager@globex.test": ["Manager"],
        "editor@globex.test": ["Editor", "Owner"],
    }


def test_others_cannot_transfer(team: Team) -> None:
    assert transfer(team, "manager", "editor") == refused(errors.OwnersOnly)
    assert transfer(team, "manager", "manager") == refused(errors.OwnersOnly)
    path = f"/{team.org}/transfer/{team.people['editor'].uid}"
    assert team.read("manager", path, 403)["ErrorCode"] == errors.OwnersOnly.code
    for name in ("editor", "outsider"):
        assert transfer(team, name, "editor") == refused(errors.UnknownOrganization)
        path = f"/{team.org}/transfer/{team.people['editor'].uid}"
        assert team.read(name, path, 404)["ErrorCode"] == errors.UnknownOrganization.code
    assert team.roles_of("owner") == ["Owner"]


@pytest.mark.parametrize("other", ["outsider", "owner"])
def test_only_other_members_become_owners(team: Team, other: str) -> None:
    assert transfer(team, "owner", other) == refused(errors.NotAMember)
    assert transfer(team, "owner", other, Uid="unknown") == refused(errors.NotAMember)
    assert team.roles_of("owner") == ["Owner"]


@pytest.mark.parametrize("column", [{"is_active": False}, {"login_disabled": True}], ids=["blocked", "disabled"])
def test_account_that_cannot_sign_in_becomes_no_owner(team: Team, column: dict[str, bool]) -> None:
    team.people["editor"].set_columns(**column)
    assert transfer(team, "owner", "editor") == refused(errors.OwnerCannotSignIn)
    assert team.roles_of("owner") == ["Owner"]


def test_organizations_and_tenants_are_apart(team: Team, new_tenant_server: NewTenantServer) -> None:
    other = team.company.business.create("Initech")
    team.company.join(team.people["outsider"], other, "Chief", "org:own")
    assert transfer(team, "outsider", "editor") == refused(errors.UnknownOrganization)
    assert transfer(team, "outsider", "editor", Organization=other) == refused(errors.NotAMember)
    foreign = Business(new_tenant_server())
    assert transfer(team, "owner", "editor", Organization=foreign.create()) == refused(errors.UnknownOrganization)
    assert transfer(team, "owner", "editor", Uid=foreign.member(foreign.org)) == refused(errors.NotAMember)


def test_both_owners_get_an_email(team: Team) -> None:
    transfer(team, "owner", "editor", steps_down=False)
    assert subjects(team, "editor") == ["You’re now an owner of Globex"]
    assert subjects(team, "owner") == ["Globex"]
    transfer(team, "owner", "editor")
    assert subjects(team, "editor") == ["You’re now an owner of Globex"], "an owner gets one mail"
    assert subjects(team, "owner") == ["Globex", "You’re no longer an owner of Globex"]


def test_unverified_address_gets_no_mail(team: Team) -> None:
    team.people["editor"].set_columns(email_verified=False)
    assert transfer(team, "owner", "editor") == (200, None)
    assert subjects(team, "editor") == []


def test_transfer_is_audited_with_its_actor(team: Team, services: IdentityServices) -> None:
    transfer(team, "owner", "editor")
    tenant_id = team.company.world.tenant_id
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        where = (audit.c.tenant_id == tenant_id, audit.c.event == "organization.ownership_transferred")
        (row,) = work.all(select(audit).where(*where))
    assert (row.uid, row.facts) == (
        team.people["owner"].uid,
        {"org_id": team.org, "owner": team.people["editor"].uid, "steps_down": True},
    )


def post(browser: Browser, path: str, **body: Any) -> int:
    return browser.send("POST", f"{OWN}{path}", json.dumps(body).encode()).status_code


def owners(team: Team) -> list[str]:
    found = answered(team.company.business.send("GET", f"/v2/manage/organizations/{team.org}/orgcontext"))["Data"]
    return [item["Uid"] for item in found if item["RoleId"] == team.roles["Owner"]]


@pytest.mark.both_databases
def test_owners_who_hand_over_to_each_other_leave_one(team: Team) -> None:
    assert transfer(team, "owner", "editor", steps_down=False) == (200, None)
    people = [team.people[name] for name in ("owner", "editor")]
    browsers = [team.browser("owner"), team.browser("editor")]
    acts = [
        partial(post, browser, "/transfer", Organization=team.org, Uid=other.uid, StepsDown=True)
        for browser, other in zip(browsers, reversed(people), strict=True)
    ]
    assert sorted(at_once(acts)) in ([200, 200], [200, 404])
    assert len(owners(team)) == 1


@pytest.mark.both_databases
def test_transfer_to_an_owner_who_leaves_keeps_one(team: Team) -> None:
    assert transfer(team, "owner", "editor", steps_down=False) == (200, None)
    browsers = [team.browser("owner"), team.browser("editor")]
    acts = [
        partial(post, browsers[0], "/transfer", Organization=team.org, Uid=team.people["editor"].uid, StepsDown=True),
        partial(post, browsers[1], "/leave", Organization=team.org),
    ]
    assert at_once(acts) in ([200, errors.LastOwner.status], [errors.NotAMember.status, 200])
    assert len(owners(team)) == 1


@pytest.mark.both_databases
def test_many_transfers_at_once_make_one_new_owner(team: Team) -> None:
    browser = team.browser("owner")
    body = {"Organization": team.org, "Uid": team.people["editor"].uid, "StepsDown": True}
    browsers = [browser, *(team.browser("owner") for _ in range(7))]
    results = at_once([partial(post, item, "/transfer", **body) for item in browsers])
    assert sorted(results) == [200] + [404] * 7
    assert owners(team) == [team.people["editor"].uid]
    assert subjects(team, "editor") == ["You’re now an owner of Globex"]


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("name", ["editor", "owner"])
def test_role_taken_while_the_transfer_waits_counts(team: Team, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    role = team.roles["Editor" if name == "editor" else "Owner"]
    take = partial(team.company.leave, team.people[name], team.org, role)
    lock, waits = account_store.lock_unread, [True]

    def locked(*values: Any) -> bool:
        if waits.pop() if waits else False:
            take()
        return lock(*values)

    if team.company.world.services.database.is_sqlite:  # the transfer has the only writer's lock
        take()
    else:
        monkeypatch.setattr(account_store, "lock_unread", locked)
    expected = errors.NotAMember if name == "editor" else errors.UnknownOrganization
    assert transfer(team, "owner", "editor") == refused(expected)
    assert owners(team) == ([team.people["owner"].uid] if name == "editor" else [])
