"""The account pages that invite people to an organization: by email, by link, resend, revoke."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.accounts.mailbox import links_to, mails_to, path_of
from tests.support.journeys.account_security import signed_in
from tests.support.journeys.organization_members import Members
from tests.support.organizations.members import Company
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

ADDRESS = "/organizations/invitations"
INVITATIONS = "/v2/manage/invitations"
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


def listed(members: Members) -> VisitedPage:
    return members.open("/members", id=members.org)


def invite(members: Members, emails: str, role: str = "Editor", browser: Visitor | None = None) -> VisitedPage:
    page = (browser or members.visitor).open(f"{ADDRESS}/new?{urlencode({'id': members.org})}")
    return page.press("Send invitations", emails=emails, role=members.roles[role])


def mails(members: Members, email: str) -> list[dict[str, Any]]:
    world = members.company.world
    return mails_to(world.services, world.tenant_id, email)


def manager(members: Members, new_visitor: NewVisitor) -> Visitor:
    """Sign in a member who manages the organization and owns nothing."""
    carol = members.company.world.person("carol@example.test")
    members.roles["Manager"] = members.company.join(carol, members.org, "Manager", "org:manage")
    browser = new_visitor()
    signed_in(browser, carol, "/profile")
    return browser


def test_members_page_leads_to_the_form(members: Members) -> None:
    page = members.open("/members", id=members.org).follow("Invite people")
    assert page.heading == "Invite people"
    assert page.follow("Cancel").topic == "Members of Globex Gardens"


def test_earlier_address_leads_to_the_members(members: Members) -> None:
    assert members.open("/invitations", id=members.org).topic == "Members of Globex Gardens"


def test_people_are_invited_by_lines_and_commas(members: Members) -> None:
    page = invite(members, "Ada Byron <new@example.com>, two@example.com\n\nthree@example.com two@EXAMPLE.com")
    assert "3 invitations sent" in page.text
    for email in ("new@example.com", "two@example.com", "three@example.com"):
        assert email in page.text
        assert len(mails(members, email)) == 1
    assert "Expires in 7 days Role: Editor" in page.text
    assert links_to(mails(members, "new@example.com")[0], "/invitation")


def test_invited_person_joins_with_the_chosen_role(members: Members, new_visitor: NewVisitor) -> None:
    invite(members, "new@example.com")
    link = path_of(links_to(mails(members, "new@example.com")[0], "/invitation")[-1])
    page = new_visitor().open(link)
    assert "You’ll join as Editor" in page.text
    form = page.press("Create account to join")
    assert form.press("Create account", password="Zebra-kettle-91").address.endswith("/profile")
    assert "new@example.com" in members.open("/members", id=members.org).text
    assert "Invited" not in listed(members).text


def test_refused_addresses_stay_with_their_reason(members: Members) -> None:
    invite(members, "open@example.com")
    page = invite(members, "bad, bob@example.test, open@example.com, new@example.com")
    assert page.status == 422
    assert "1 invitation sent" in page.text
    assert "bad : Not a valid email" in page.text
    assert "bob@example.test : Already a member" in page.text
    assert "open@example.com : Already invited" in page.text
    assert "\nbad\nbob@example.test\nopen@example.com</textarea>" in page.html.replace("\r\n", "\n")
    assert len(mails(members, "new@example.com")) == 1
    again = page.press("Send invitations", emails="bad")
    assert "invitation sent" not in again.text


def test_seats_are_shown_and_respected(members: Members) -> None:
    policy = {"MemberPolicy": {"Seats": 3}}
    answered(members.company.business.send("PUT", f"/v2/manage/organizations/{members.org}/policy", policy))
    assert "1 seat left." in listed(members).text
    page = invite(members, "one@example.com, two@example.com")
    assert "two@example.com : No seats left" in page.text
    assert mails(members, "two@example.com") == []
    assert "No seats left." in listed(members).text


@pytest.mark.parametrize(("emails", "sentence"), [
    ("", "Enter at least one email."),
    (" , ;\n", "Enter at least one email."),
    (",".join(f"p{n}@example.com" for n in range(51)), "Invite up to 50 people at once."),
])  # fmt: skip
def test_wrong_number_of_addresses_is_refused(members: Members, emails: str, sentence: str) -> None:
    page = invite(members, emails)
    assert (page.status, sentence in page.text) == (422, True)
    assert mails(members, "p1@example.com") == []


def test_inviting_asks_for_the_password_later(members: Members) -> None:
    services = members.company.world.services
    page = members.visitor.open(f"{ADDRESS}/new?id={members.org}")
    pass_time(services, minutes=6)
    shown_page = page.press("Send invitations", emails="new@example.com", role=members.roles["Editor"])
    assert (shown_page.status, "Enter your password to continue." in shown_page.text) == (401, True)
    assert "new@example.com</textarea>" in shown_page.html
    assert mails(members, "new@example.com") == []
    typed = {"emails": "new@example.com", "role": members.roles["Editor"]}
    done = shown_page.press("Send invitations", **typed, password=members.company.ada.password)
    assert "1 invitation sent" in done.text


def test_resend_waits_a_minute_and_ends_the_earlier_link(members: Members) -> None:
    invite(members, "new@example.com")
    earlier = path_of(links_to(mails(members, "new@example.com")[0], "/invitation")[-1])
    waiting = listed(members).press("Resend")
    assert (waiting.status, "You can resend it in" in waiting.text) == (429, True)
    pass_time(members.company.world.services, seconds=61)
    assert "Invitation resent" in listed(members).press("Resend").text
    assert members.visitor.open(earlier).heading == "Link incomplete"
    latest = path_of(links_to(mails(members, "new@example.com")[-1], "/invitation")[-1])
    assert latest != earlier


def test_revoked_invitation_leaves_the_list(members: Members, new_visitor: NewVisitor) -> None:
    invite(members, "new@example.com")
    page = listed(members).follow("Revoke")
    assert page.heading == "Revoke invitation?"
    assert "new@example.com won’t be able to join Globex Gardens" in page.text
    done = page.press("Revoke invitation")
    assert "Invitation revoked" in done.text
    assert "new@example.com" not in done.text
    assert "Invitation no longer valid" in page.press("Revoke invitation").text, "a second submit is harmless"
    link = path_of(links_to(mails(members, "new@example.com")[0], "/invitation")[-1])
    assert new_visitor().open(link).heading == "Invitation revoked"


def created(members: Members, browser: Visitor | None = None, **fields: str) -> VisitedPage:
    page = (browser or members.visitor).open(f"{ADDRESS}/link?id={members.org}")
    return page.press("Create link", **{"role": members.roles["Editor"], **fields})


def address_in(page: VisitedPage) -> str:
    (found,) = [part for part in page.html.split('"') if "/i/" in part]
    return path_of(found)


def test_link_is_shown_once_and_admits_people(members: Members, new_visitor: NewVisitor) -> None:
    page = created(members, most="2")
    assert page.heading == "Link created"
    link = address_in(page)
    assert link.rpartition("/")[2] not in listed(members).html
    assert "Editor link 0 of 2 joined Expires in 7 days" in listed(members).text
    members.company.world.person("eve@example.com")
    form = new_visitor().open(link).press("Sign in")
    assert form.press("Sign in", identifier="eve@example.com", password="correct horse 7").address.endswith("/profile")
    assert "Editor link 1 of 2 joined Expires in 7 days" in listed(members).text


def test_created_link_stays_with_its_session_for_minutes(members: Members, new_visitor: NewVisitor) -> None:
    page = created(members, most="2")
    assert page.address.endswith(f"{ADDRESS}/link/created?id={members.org}")
    link = address_in(page)
    assert address_in(members.visitor.open(page.address)) == link, "a reload creates no other link"
    assert listed(members).text.count("0 of 2 joined") == 1
    other = members.company.business.create("Initech")
    members.company.join(members.company.ada, other, "Owner", "org:own")
    assert members.visitor.open(page.address.replace(members.org, other)).heading != "Link created"
    members.visitor.client.delete_cookie("gatehouse-session", domain=members.visitor.cookie("session").domain)
    signed_in(members.visitor, members.company.ada, "/profile")
    assert members.visitor.open(page.address).topic == "Members of Globex Gardens", "of another session"
    assert new_visitor().open(page.address).is_sign_in


def test_link_is_turned_off(members: Members, new_visitor: NewVisitor) -> None:
    link = address_in(created(members))
    page = listed(members).follow("Turn off")
    assert page.heading == "Turn off link?"
    assert "Link turned off" in page.press("Turn off link").text
    assert new_visitor().open(link).heading == "Link turned off"


@pytest.mark.parametrize(("fields", "sentence"), [
    ({"most": "many"}, "Enter a number from 1 to 100,000."),
    ({"most": "0"}, "Enter a number from 1 to 100,000."),
    ({"most": "100001"}, "Enter a number from 1 to 100,000."),
    ({"domains": "not!a domain"}, "Enter domains such as example.com."),
    ({"domains": " ".join(f"d{n}.example" for n in range(21))}, "Enter up to 20 domains."),
    ({"role": "none"}, "Choose a role."),
])  # fmt: skip
def test_wrong_limits_are_refused_at_their_fields(members: Members, fields: dict[str, Any], sentence: str) -> None:
    page = created(members, **fields)
    assert (page.status in (400, 422), sentence in page.text) == (True, True)
    assert "joined" not in listed(members).text


def test_domains_of_a_link_are_listed(members: Members) -> None:
    created(members, domains="@example.org, Globex.example")
    assert "Only example.org, globex.example emails" in listed(members).text


def test_manager_gives_no_role_of_owners(members: Members, new_visitor: NewVisitor) -> None:
    browser = manager(members, new_visitor)
    page = browser.open(f"{ADDRESS}/new?id={members.org}")
    assert members.roles["Editor"] in page.html
    assert members.roles["Owner"] not in page.html
    refused = invite(members, "new@example.com", "Owner", browser)
    assert (refused.status, "Only owners can do that" in refused.text) == (403, True)
    assert mails(members, "new@example.com") == []
    by_link = created(members, browser, role=members.roles["Owner"])
    assert (by_link.status, "Only owners can do that" in by_link.text) == (403, True)


def test_owner_gives_no_role_of_owners_by_link(members: Members) -> None:
    assert members.roles["Owner"] not in members.visitor.open(f"{ADDRESS}/link?id={members.org}").html
    assert "Only owners can do that" in created(members, role=members.roles["Owner"]).text
    assert "1 invitation sent" in invite(members, "new@example.com", "Owner").text


def test_manager_leaves_invitations_of_owners_alone(members: Members, new_visitor: NewVisitor) -> None:
    invite(members, "new@example.com", "Owner")
    browser = manager(members, new_visitor)
    page = browser.open(f"{ADDRESS}?id={members.org}")
    assert "new@example.com" in page.text
    assert "Resend" not in page.text
    found = answered(members.company.business.send("GET", INVITATIONS, orgid=members.org))["Data"]
    confirm = browser.open(f"{ADDRESS}/revoke?id={members.org}-{found[0]['Id']}")
    assert "Only owners can do that" in confirm.text
    assert "Cancel" not in confirm.text


def test_invitations_of_another_organization_are_not_found(members: Members) -> None:
    other = members.company.business.create("Other")
    body = {
        "email": "x@example.com", "roleIds": [members.company.business.role()], "orgId": other,
        "inviterUid": members.company.business.member(other),
    }  # fmt: skip
    made = answered(members.company.business.send("POST", INVITATIONS, body))["Id"]
    assert members.open("/invitations", id=other).heading == "Organizations"
    assert members.open("/invitations/new", id=other).heading == "Organizations"
    assert members.open("/invitations/link", id=other).heading == "Organizations"
    for org in (members.org, other):
        page = members.open("/invitations/revoke", id=f"{org}-{made}")
        assert "x@example.com" not in page.text
    assert answered(members.company.business.send("GET", f"{INVITATIONS}/{made}"))["Status"] == "invited"


def test_member_without_rights_sees_no_invitations(members: Members, new_visitor: NewVisitor) -> None:
    browser = new_visitor()
    signed_in(browser, members.bob, "/profile")
    for path in ("", "/new", "/link"):
        assert browser.open(f"{ADDRESS}{path}?id={members.org}").heading == "Organizations"


@pytest.mark.parametrize("path", ["/new", "/link"])
def test_visitor_signs_in_and_returns(members: Members, company: Company, new_visitor: NewVisitor, path: str) -> None:
    page = new_visitor().open(f"{ADDRESS}{path}?id={members.org}")
    done = page.press("Sign in", identifier=company.ada.email, password=company.ada.password)
    assert f"{ADDRESS}{path}" in done.address
