"""Attacks of people who manage an organization, and of those who managed one: rights that outlive them, and limits by another way."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from app.contract import errors
from app.identity.directory.organizations.owned_organizations import MAX_CREATIONS
from tests.support.organizations.invitations import LOOK_UP, PATH, InvitingBusiness, inviting_business
from tests.support.organizations.management import ROLES
from tests.support.organizations.members import OWN, Team, refused
from tests.support.organizations.open_organization import OpenOrganization
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import NewTenantServer, answered

GUEST = "guest@globex.test"


def one_of(team: Team) -> InvitingBusiness:
    return InvitingBusiness(team.company.business.tenant)


def refusal(answer: Any) -> tuple[int, Any]:
    return answer.status_code, answer.get_json().get("ErrorCode")


def made_link(team: Team, name: str, role: str) -> str:
    """Return the token of a new link of one of the people."""
    body = json.dumps({"Organization": team.org, "Role": team.roles[role]}).encode()
    address = answered(team.browser(name).send("POST", f"{OWN}/links", body))["Address"]
    return str(address.rpartition("/")[2])


def invited(team: Team, name: str, role: str) -> str:
    """Return the token of the email of a new invitation by one of the people."""
    assert team.send(name, "/invitations", Emails=[GUEST], Role=team.roles[role]) == (200, None)
    return one_of(team).token(GUEST)


def give_ownership(team: Team, role: str) -> None:
    """Let the tenant's server add the permission of owners to a role."""
    body = {"Name": role, "Description": "", "Permissions": [team.company.permission("org:own")]}
    answered(team.company.business.send("PUT", f"{ROLES}/{team.roles[role]}", body))


@pytest.mark.parametrize("column", [{"is_active": False}, {"login_disabled": True}], ids=["blocked", "disabled"])
@pytest.mark.parametrize("make", [made_link, invited])
def test_invitations_of_blocked_manager_admit_no_one(team: Team, make: Any, column: dict[str, bool]) -> None:
    token, item = make(team, "manager", "Editor"), one_of(team)
    team.people["manager"].set_columns(**column)
    assert refusal(item.accept(token, item.guest(GUEST))) == refused(errors.ClosedInvitation)
    team.people["manager"].set_columns(**dict.fromkeys(column, column == {"is_active": False}))
    uid = answered(item.send("GET", "/identity/v2/manage/account", email=GUEST))["Uid"]
    answered(item.accept(token, str(item.tenant.tokens(uid)["access_token"])))


def test_shared_link_makes_no_owners_later(team: Team) -> None:
    token, item = made_link(team, "owner", "Editor"), one_of(team)
    give_ownership(team, "Editor")
    assert refusal(item.accept(token, item.guest(GUEST))) == refused(errors.ClosedInvitation)
    assert team.roles_of("outsider") == []


def test_managers_invitation_makes_no_owner_later(team: Team) -> None:
    token, item = invited(team, "manager", "Editor"), one_of(team)
    give_ownership(team, "Editor")
    assert refusal(item.accept(token, item.guest(GUEST))) == refused(errors.ClosedInvitation)


def test_resent_link_leads_to_no_page_that_was_disallowed(new_tenant_server: NewTenantServer) -> None:
    item = inviting_business(new_tenant_server, url_whitelist=["https://app.example/join"])
    made = item.invite(url="https://app.example/join")
    item.tenant.change_settings(url_whitelist=[])
    item.wait(seconds=61)
    answered(item.send("POST", f"{PATH}/{made['Id']}/resend"))
    assert "app.example" not in item.mail()["text"]
    answered(item.tenant.send("GET", LOOK_UP, invitation_token=item.token()))


def test_names_are_not_probed_by_renaming(team: Team) -> None:
    team.company.business.create("Initech")
    owner = team.browser("owner")
    body = json.dumps({"Organization": team.org, "Name": "Initech"}).encode()
    tries = [owner.send("POST", f"{OWN}/settings", body).status_code for _ in range(MAX_CREATIONS.amount + 1)]
    assert tries == [409] * MAX_CREATIONS.amount + [429]
    same = {"Organization": team.org, "Name": "Globex", "Color": "#0a7d55"}
    assert owner.send("POST", f"{OWN}/settings", json.dumps(same).encode()).status_code == 200


def test_new_organizations_do_not_lift_the_limit(team: Team) -> None:
    team.company.world.change_settings(organizations={"self_service_creation": True})
    owner, statuses = team.browser("owner"), []
    for start in (0, 200, 400):
        org = answered(owner.send("POST", OWN, json.dumps({"Name": f"Hydra {start}"}).encode()))["Id"]
        for first in range(start, start + 200, 50):
            emails = [f"malformed {number}" for number in range(first, first + 50)]
            body = {"Organization": org, "Emails": emails, "Role": team.roles["Owner"]}
            statuses.append(owner.send("POST", f"{OWN}/invitations", json.dumps(body).encode()).status_code)
        gone = {"Organization": org, "Name": f"Hydra {start}"}
        answered(owner.send("POST", f"{OWN}/delete", json.dumps(gone).encode()))
    assert statuses == [200] * 8 + [429] * 4


@pytest.mark.parametrize("name", ["Initech", " INITECH ", "\uff29nitech"])
def test_display_name_of_another_organization_is_refused(team: Team, name: str) -> None:
    team.company.business.create("Initech")
    assert team.send("owner", "/settings", Name="Globex", DisplayName=name) == refused(errors.OrganizationNameTaken)
    assert team.send("owner", "/settings", Name="Globex", DisplayName="GLOBEX") == (200, None)


def test_approval_needs_recent_authentication(open_org: OpenOrganization) -> None:
    manager, request = open_org.team.browser("manager"), open_org.open_request()
    pass_time(open_org.team.company.world.services, minutes=6)

    def approve(password: str | None = None) -> tuple[int, Any]:
        body = {"Organization": open_org.team.org, "Request": request}
        browser = replace(manager, typed=password)
        return refusal(browser.send("POST", f"{OWN}/requests/approve", json.dumps(body).encode()))

    assert approve() == refused(errors.WrongCurrentPassword)
    assert approve("wrong horse 7") == refused(errors.WrongCurrentPassword)
    assert [item["Status"] for item in open_org.requests()] == ["open"]
    assert approve(open_org.team.people["manager"].password) == (200, None)


def test_decline_needs_no_recent_authentication(open_org: OpenOrganization) -> None:
    manager, request = open_org.team.browser("manager"), open_org.open_request()
    pass_time(open_org.team.company.world.services, minutes=6)
    body = {"Organization": open_org.team.org, "Request": request}
    assert refusal(manager.send("POST", f"{OWN}/requests/decline", json.dumps(body).encode())) == (200, None)
