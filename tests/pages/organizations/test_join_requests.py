"""Pages on which people ask to join an organization, and managers decide."""

from __future__ import annotations

import pytest

from tests.support.journeys.account_security import signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.organizations.members import organization_in
from tests.support.organizations.open_organization import DOMAIN, OpenOrganization
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor


@pytest.fixture
def adas(open_org: OpenOrganization, visitor: Visitor) -> Visitor:
    """The browser of a person of the domain."""
    signed_in(visitor, open_org.ada, "/profile")
    return visitor


def requests_page(open_org: OpenOrganization, new_visitor: NewVisitor, name: str = "manager") -> VisitedPage:
    browser = new_visitor()
    signed_in(browser, open_org.team.people[name], "/profile")
    return browser.open(f"/organizations/requests?id={open_org.team.org}")


def test_person_asks_and_manager_approves(adas: Visitor, open_org: OpenOrganization, new_visitor: NewVisitor) -> None:
    page = adas.open("/profile").follow("Organizations")
    assert "Organizations you can join" in page.text
    shown_page = page.press("Ask to join")
    assert "Request sent" in shown_page.text
    assert "Globex Waiting for approval Requested" in shown_page.text
    assert page.press("Ask to join").heading == "Organizations", "a second click is harmless"
    managers = requests_page(open_org, new_visitor)
    assert managers.topic == "Requests to join Globex"
    approved = managers.press("Approve")
    assert ("Request approved" in approved.text, "No pending requests." in approved.text) == (True, True)
    assert managers.press("Approve").status == 409, "a second click is explained"
    assert "Globex Member 4 people" in adas.open("/organizations").text
    assert "Organizations you can join" not in adas.open("/organizations").text


def test_manager_reaches_requests_by_a_tab(open_org: OpenOrganization, new_visitor: NewVisitor) -> None:
    page = requests_page(open_org, new_visitor)
    assert page.follow("Members").follow("Requests").topic == "Requests to join Globex"
    open_org.set_policy(JITPolicy={"RequireApproval": False})
    assert ">Requests<" not in page.visitor.open(f"/organizations/members?id={open_org.team.org}").html


def test_declined_person_reads_when_to_ask_again(
    adas: Visitor, open_org: OpenOrganization, new_visitor: NewVisitor
) -> None:
    adas.open("/organizations").press("Ask to join")
    managers = requests_page(open_org, new_visitor, "owner")
    assert "Request declined" in managers.press("Decline").text
    assert managers.press("Decline").topic == "Requests to join Globex", "a second click is harmless"
    page = adas.open("/organizations")
    assert "Declined. You can ask again on" in page.text
    assert "Ask to join" not in page.text


def test_person_of_another_domain_sees_nothing(open_org: OpenOrganization, visitor: Visitor) -> None:
    bob = open_org.team.company.world.person("bob@other.test")
    signed_in(visitor, bob, "/profile")
    assert "Globex" not in visitor.open("/organizations").text
    assert "Organizations" not in visitor.open("/profile").text


@pytest.mark.parametrize("name", ["editor", "outsider"])
def test_others_see_their_own_organizations(open_org: OpenOrganization, new_visitor: NewVisitor, name: str) -> None:
    open_org.open_request()
    page = requests_page(open_org, new_visitor, name)
    assert page.heading == "Organizations"
    assert open_org.ada.email not in page.text


def test_full_organization_is_explained(open_org: OpenOrganization, new_visitor: NewVisitor) -> None:
    open_org.open_request()
    open_org.set_policy(MemberPolicy={"Seats": 3})
    refused = requests_page(open_org, new_visitor).press("Approve")
    assert (refused.status, "No seats left" in refused.text) == (403, True)
    assert open_org.ada.email in refused.text


def test_missing_role_of_new_members_is_explained(open_org: OpenOrganization, new_visitor: NewVisitor) -> None:
    open_org.open_request()
    open_org.set_policy(MemberPolicy={"DefaultMemberRole": None})
    refused = requests_page(open_org, new_visitor).press("Approve")
    assert (refused.status, "There’s no role for new members" in refused.text) == (400, True)


@pytest.mark.both_databases
def test_foreign_form_token_decides_nothing(open_org: OpenOrganization, new_visitor: NewVisitor) -> None:
    open_org.open_request()
    page = requests_page(open_org, new_visitor)
    token = new_visitor().open("/login").form("Sign in").fields["token"]
    refused = page.press("Approve", token=token)
    assert refused.status == 403
    assert [request["Status"] for request in open_org.requests()] == ["open"]


def test_requests_have_pages(open_org: OpenOrganization, new_visitor: NewVisitor) -> None:
    for number in range(26):
        open_org.open_request(open_org.team.company.world.person(f"p{number:02}@{DOMAIN}"))
    page = requests_page(open_org, new_visitor)
    assert (f"p00@{DOMAIN}" in page.text, f"p25@{DOMAIN}" in page.text) == (True, False)
    assert f"p25@{DOMAIN}" in page.follow("Next").text


def sign_in(visitor: Visitor, app: object, person: Person) -> VisitedPage:
    return visitor.authorize(app).press("Sign in", identifier=person.email, password=person.password)  # type: ignore[arg-type] # as in its tests


@pytest.mark.both_databases
def test_person_asks_while_signing_in(
    open_org: OpenOrganization, world: World, visitor: Visitor, new_visitor: NewVisitor
) -> None:
    app = world.application("Crm", client_name="Acme Shop", organization_usage="require")
    page = sign_in(visitor, app, open_org.ada)
    assert "Acme Shop is for organizations. You don’t belong to one yet." in page.text
    shown_page = page.press("Globex")
    assert shown_page.heading == "Choose an organization"
    assert "Globex Waiting for approval Requested" in shown_page.text
    requests_page(open_org, new_visitor).press("Approve")
    code = visitor.authorize(app).query["code"]
    assert organization_in(answered(app.redeem(code))["id_token"])["org_name"] == "Globex"


def test_person_of_another_domain_is_refused_at_sign_in(
    open_org: OpenOrganization, world: World, visitor: Visitor
) -> None:
    app = world.application("Crm", organization_usage="require")
    page = sign_in(visitor, app, world.person("bob@other.test"))
    assert page.query["error"] == "access_denied"


def test_silent_request_cannot_ask(open_org: OpenOrganization, world: World, visitor: Visitor) -> None:
    app = world.application("Crm", organization_usage="require")
    sign_in(visitor, app, open_org.ada)
    assert visitor.authorize(app, prompt="none").query["error"] == "interaction_required"


def test_approval_asks_for_the_password_later(open_org: OpenOrganization, new_visitor: NewVisitor) -> None:
    open_org.open_request()
    page = requests_page(open_org, new_visitor)
    pass_time(open_org.team.company.world.services, minutes=6)
    shown_page = page.press("Approve")
    assert (shown_page.status, "Your password" in shown_page.text) == (401, True)
    approved = shown_page.press("Approve", password=open_org.team.people["manager"].password)
    assert "Request approved" in approved.text
