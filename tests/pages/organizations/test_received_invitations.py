"""A person's own invitations: from the list of organizations, and within a sign-in that chooses one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.support.accounts.mailbox import links_to, mails_to, path_of
from tests.support.journeys.account_security import signed_in
from tests.support.organizations.invitations import PATH, InvitingBusiness
from tests.support.organizations.management import ROLES
from tests.support.organizations.members import Company, organization_in
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


@dataclass
class Invited:
    """Ada with her browser, invited by Grace to Acme."""

    company: Company
    business: InvitingBusiness
    visitor: Visitor
    invitation: str

    def open(self) -> VisitedPage:
        return self.visitor.open("/invitations")

    def status(self) -> str:
        return str(answered(self.business.send("GET", f"{PATH}/{self.invitation}"))["Status"])

    def members(self) -> list[str]:
        return [member["Email"] for member in self.business.members() if member["Uid"] != self.business.grace]


@pytest.fixture
def invited(company: Company, visitor: Visitor) -> Invited:
    business = InvitingBusiness(company.business.tenant)
    made = business.invite(company.ada.email)
    signed_in(visitor, company.ada, "/profile")
    return Invited(company, business, visitor, made["Id"])


def test_organizations_lead_to_the_invitation(invited: Invited) -> None:
    page = invited.visitor.open("/organizations")
    assert "1 invitation From Acme" in page.text
    offers = page.follow("1 invitation From Acme")
    assert offers.heading == "Your invitations"
    assert "From Grace Hopper · Editor Expires in 7 days" in offers.text
    assert invited.company.ada.email in offers.text


def test_invitation_is_accepted_without_its_link(invited: Invited) -> None:
    page = invited.open()
    done = page.press("Join")
    assert "You joined the organization" in done.text
    assert "Acme" in done.text
    assert invited.members() == [invited.company.ada.email]
    assert invited.status() == "accepted"
    assert "Invitation no longer valid" in page.press("Join").text, "a second click is harmless"
    assert invited.members() == [invited.company.ada.email]
    assert "invitation" not in invited.visitor.open("/organizations").text.replace("invitations", "")


def test_declined_invitation_is_over(invited: Invited, new_visitor: NewVisitor) -> None:
    page = invited.open()
    done = page.press("Decline")
    assert "Invitation declined" in done.text
    assert invited.status() == "revoked"
    assert "Invitation no longer valid" in page.press("Join").text
    world = invited.company.world
    (*_, mail) = [
        item
        for item in mails_to(world.services, world.tenant_id, invited.company.ada.email)
        if links_to(item, "/invitation")
    ]
    assert new_visitor().open(path_of(links_to(mail, "/invitation")[-1])).heading == "Invitation declined"


def test_foreign_invitation_is_not_found(invited: Invited) -> None:
    other = invited.business.invite("bob@example.com")["Id"]
    form = invited.open().form("Join").fields
    for answer in ("accept", "decline"):
        page = invited.visitor.send(
            "POST", f"{invited.visitor.home}/invitations", {**form, "invitation": other, "do": answer}
        )
        assert page.status == 404
        assert "bob@example.com" not in page.text
    assert answered(invited.business.send("GET", f"{PATH}/{other}"))["Status"] == "invited"
    assert invited.members() == []


def test_unverified_address_shows_no_invitation(invited: Invited) -> None:
    email = "second@example.com"
    invited.business.invite(email)
    tenant = invited.business.tenant
    added = {"Email": [{"Type": "Primary", "Value": invited.company.ada.email}, {"Type": "Other", "Value": email}]}
    tenant.send("PUT", f"/identity/v2/manage/account/{invited.company.ada.uid}", added)
    assert email not in invited.open().text


def test_revoked_invitation_is_not_offered(invited: Invited) -> None:
    page = invited.open()
    answered(invited.business.send("DELETE", f"{PATH}/{invited.invitation}"))
    assert "Invitation no longer valid" in page.press("Join").text
    assert "You have no pending invitations." in invited.open().text
    assert invited.members() == []


def test_full_organization_is_explained(invited: Invited) -> None:
    page = invited.open()
    invited.business.set_policy(MemberPolicy={"Seats": 1})
    refused = page.press("Join")
    assert (refused.status, "No seats left" in refused.text) == (403, True)
    assert invited.status() == "invited"


def test_inactive_organization_is_not_offered(invited: Invited) -> None:
    page = invited.open()
    invited.business.deactivate(invited.business.org)
    assert "You have no pending invitations." in invited.open().text
    assert "Organization not active" in page.press("Join").text


def test_visitor_signs_in_first(invited: Invited, new_visitor: NewVisitor) -> None:
    ada = invited.company.ada
    page = new_visitor().open("/invitations").press("Sign in", identifier=ada.email, password=ada.password)
    assert page.heading == "Your invitations"


def test_sign_in_shows_the_invitation_and_joins(invited: Invited) -> None:
    world = invited.company.world
    app = world.application("Crm", client_name="Acme Shop", organization_usage="prompt")
    invited.company.join(invited.company.ada, invited.company.business.create("Initech"), "Owner")
    page = invited.visitor.authorize(app)
    assert page.heading == "Choose an organization"
    offers = page.follow("1 invitation From Acme")
    assert offers.follow("Not now").heading == "Choose an organization"
    chosen = offers.press("Join")
    assert chosen.heading == "Choose an organization"
    assert "1 invitation" not in chosen.text
    code = chosen.press("Acme").query["code"]
    assert organization_in(answered(app.redeem(code))["id_token"])["org_name"] == "Acme"


def test_invited_person_without_organization_signs_in_to_it(invited: Invited) -> None:
    app = invited.company.world.application("Crm", client_name="Acme Shop", organization_usage="require")
    page = invited.visitor.authorize(app)
    assert "Acme Shop is for organizations." in page.text
    code = page.follow("1 invitation From Acme").press("Join").query["code"]
    assert organization_in(answered(app.redeem(code))["id_token"])["org_name"] == "Acme"


def test_person_without_invitation_is_refused(invited: Invited) -> None:
    app = invited.company.world.application("Crm", client_name="Acme Shop", organization_usage="require")
    answered(invited.business.send("DELETE", f"{PATH}/{invited.invitation}"))
    assert invited.visitor.authorize(app).query["error"] == "access_denied"


def by_manager(invited: Invited) -> Callable[[], None]:
    """Let Bob invite Ada to Globex as a manager; return how he loses the role, so that his invitation counts as withdrawn."""
    company = invited.company
    org = invited.business.create("Globex")
    bob = company.world.person("bob@example.test")
    managing = company.join(bob, org, "Manager", "org:manage")
    company.join(bob, org, "Editor")
    browser = Visitor(invited.visitor.client.__class__(invited.visitor.client.application), invited.visitor.home)
    signed_in(browser, bob, "/profile")
    form = browser.open(f"/organizations/invitations/new?id={org}")
    assert "1 invitation sent" in form.press("Send invitations", emails=company.ada.email, role=managing).text
    return lambda: company.leave(bob, org, managing)


def emailed_link(invited: Invited) -> str:
    """Return the path of the newest link that Ada got."""
    world, email = invited.company.world, invited.company.ada.email
    found = [links_to(item, "/invitation") for item in mails_to(world.services, world.tenant_id, email)]
    return path_of([link for links in found for link in links][-1])


def test_invitation_of_a_demoted_manager_is_withdrawn(invited: Invited) -> None:
    """Bob's invitation would still make managers."""
    demote = by_manager(invited)
    assert "Globex" in invited.open().text
    demote()
    assert "Globex" not in invited.open().text
    assert invited.visitor.open(emailed_link(invited)).heading == "Invitation revoked"
    assert "Globex" not in invited.visitor.open("/organizations").text


def test_withdrawn_invitation_begins_no_sign_in(invited: Invited, new_visitor: NewVisitor) -> None:
    demote = by_manager(invited)
    page = new_visitor().open(emailed_link(invited))
    demote()
    assert page.press("Sign in to join").heading == "Invitation revoked"


def test_full_organization_is_not_offered(invited: Invited) -> None:
    invited.business.set_policy(MemberPolicy={"Seats": 1})
    assert "You have no pending invitations." in invited.open().text
    assert "1 invitation" not in invited.visitor.open("/organizations").text
    invited.business.set_policy(MemberPolicy={"Seats": 2})
    assert "1 invitation From Acme" in invited.visitor.open("/organizations").text


def test_invitation_of_deleted_roles_is_not_offered(invited: Invited) -> None:
    answered(invited.business.send("DELETE", f"{ROLES}/{invited.business.member_role}"))
    assert "You have no pending invitations." in invited.open().text
    assert invited.visitor.open(emailed_link(invited)).heading == "Invitation revoked"
