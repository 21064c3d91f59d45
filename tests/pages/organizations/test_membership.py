"""The account pages of organizations: list, leave, members."""

from __future__ import annotations

import pytest

from tests.support.journeys.account_security import signed_in
from tests.support.journeys.organization_members import Members
from tests.support.organizations.members import Company
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitor, Visitor


@pytest.mark.parametrize("address", ["/profile", "/security", "/applications", "/emails"])
def test_account_area_leads_to_organizations(members: Members, address: str) -> None:
    page = members.visitor.open(address).follow("Organizations")
    assert page.heading == "Organizations"
    assert "Owner 2 people Joined" in page.text


def test_account_without_organizations_sees_none(company: Company, visitor: Visitor) -> None:
    signed_in(visitor, company.ada, "/profile")
    for address in ("/profile", "/security", "/applications"):
        assert "Organizations" not in visitor.open(address).text
    assert "You don’t belong to any organizations." in visitor.open("/organizations").text


def test_only_owner_reads_why_leaving_is_refused(members: Members) -> None:
    page = members.open("/leave", id=members.org)
    assert "You’re the only owner of Globex Gardens . Make another member an owner first." in page.text
    assert "Leave organization" not in page.text
    assert page.follow("View members").topic == "Members of Globex Gardens"


def test_member_leaves_and_second_submit_is_harmless(members: Members, new_visitor: NewVisitor) -> None:
    browser = new_visitor()
    signed_in(browser, members.bob, "/profile")
    page = browser.open(f"/organizations/leave?id={members.org}")
    assert page.heading == "Leave Globex Gardens?"
    assert "You left the organization" in page.press("Leave organization").text
    assert page.press("Leave organization").heading == "Organizations"
    assert "Globex" not in browser.open("/organizations").text


def test_leaving_asks_for_the_password_later(members: Members, new_visitor: NewVisitor) -> None:
    browser = new_visitor()
    signed_in(browser, members.bob, "/profile")
    page = browser.open(f"/organizations/leave?id={members.org}")
    pass_time(members.company.world.services, minutes=6)
    shown_page = page.press("Leave organization")
    assert (shown_page.status, "Enter your password to continue." in shown_page.text) == (401, True)
    wrong = shown_page.press("Leave organization", password="wrong")
    assert "Wrong password." in wrong.text
    assert "You left the organization" in shown_page.press("Leave organization", password=members.bob.password).text


@pytest.mark.both_databases
def test_owner_makes_another_member_an_owner_and_leaves(members: Members) -> None:
    page = members.bobs("/edit")
    assert page.heading == "Change roles"
    saved = page.press("Save roles", **{f"role-{members.roles['Owner']}": "1"})
    assert "Roles saved" in saved.text
    assert "You left the organization" in members.open("/leave", id=members.org).press("Leave organization").text


def test_member_without_a_role_is_not_saved(members: Members) -> None:
    page = members.bobs("/edit")
    form = page.form("Save roles")
    address = f"{members.visitor.home}{form.action}"
    refused = members.visitor.send("POST", address, form.fields)
    assert (refused.status, "Choose at least one role" in refused.text) == (422, True)
    assert "Editor" in members.open("/members", id=members.org).text


def test_only_owner_cannot_step_down(members: Members) -> None:
    page = members.open("/members/edit", id=f"{members.org}-{members.company.ada.uid}")
    refused = page.press("Save roles", **{f"role-{members.roles['Editor']}": "1"})
    assert (refused.status, "Make another member an owner first." in refused.text) == (409, True)


def test_owner_removes_a_member(members: Members) -> None:
    page = members.bobs("/remove")
    assert "bob@example.test will lose access to Globex Gardens and its apps and data" in page.text
    removed = page.press("Remove member")
    assert "Member removed" in removed.text
    assert "bob@example.test" not in removed.text
    assert page.press("Remove member").topic == "Members of Globex Gardens", "a second submit is harmless"


@pytest.mark.both_databases
def test_members_are_searched_and_paged(members: Members) -> None:
    world, editor = members.company.world, members.roles["Editor"]
    for number in range(26):
        members.company.business.assign(world.person(f"p{number:02}@crowd.test").uid, members.org, editor)
    first = members.open("/members", id=members.org)
    assert "28 members" in first.text
    assert "p25@crowd.test" not in first.text
    second = first.follow("Next")
    assert "p25@crowd.test" in second.text
    assert "p00@crowd.test" in second.follow("Previous").text
    assert first.form("Search").fields == {"id": members.org, "search": ""}
    found = members.open("/members", id=members.org, search="P17")
    assert "p17@crowd.test" in found.text
    assert "p16@crowd.test" not in found.text
    assert "No members found." in members.open("/members", id=members.org, search="%").text


@pytest.mark.parametrize("path", ["/members", "/members/edit", "/members/remove", "/leave"])
def test_organization_one_does_not_manage_leads_back(members: Members, path: str) -> None:
    other = members.company.business.create("Initech")
    uid = members.company.business.member(other)
    for key in (other, f"{other}-{uid}", f"{members.org}-{uid}", "", "x" * 200, "org-%00"):
        page = members.open(path, id=key)
        assert page.topic in ("Organizations", "Members of Globex Gardens"), key
        assert "Initech" not in page.text


def test_forged_posts_change_nothing(members: Members) -> None:
    other = members.company.business.create("Initech")
    uid = members.company.business.member(other, email="eve@initech.test")
    members.bobs("/remove").press("Remove member", member=f"{other}-{uid}")
    editor = {f"role-{members.roles['Editor']}": "1"}
    members.bobs("/edit").press("Save roles", member=f"{other}-{uid}", **editor)
    spy = members.company.business.role("Spy", org=other)
    assert members.bobs("/edit").press("Save roles", **{f"role-{spy}": "1"}).status == 403
    body = members.company.business.send("GET", f"/v2/manage/organizations/{other}/orgcontext").get_json()["Data"]
    assert [item["Uid"] for item in body] == [uid]


def test_foreign_form_token_removes_no_member(members: Members, new_visitor: NewVisitor) -> None:
    token = new_visitor().open("/login").form("Sign in").fields["token"]
    assert members.bobs("/remove").press("Remove member", token=token).status == 403
    assert "bob@example.test" in members.open("/members", id=members.org).text


def test_signed_out_browser_is_led_to_sign_in(members: Members, new_visitor: NewVisitor) -> None:
    for path in ("", "/leave?id=x", f"/members?id={members.org}", "/members/edit?id=x-y", "/members/remove?id=x-y"):
        assert new_visitor().open(f"/organizations{path}").is_sign_in
