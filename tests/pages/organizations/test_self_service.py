"""Pages on which people create organizations, and owners change, hand over and delete theirs."""

from __future__ import annotations

import pytest

from tests.support.journeys.account_security import signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.organizations.members import Company, Team, organization_in
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

CREATE = "/organizations/create"


@pytest.fixture
def open_company(company: Company) -> Company:
    company.world.change_settings(organizations={"self_service_creation": True})
    return company


@pytest.fixture
def adas(open_company: Company, visitor: Visitor) -> Visitor:
    """Ada's browser, at a tenant that lets people create organizations."""
    signed_in(visitor, open_company.ada, "/profile")
    return visitor


def opened(team: Team, new_visitor: NewVisitor, name: str, path: str, key: str = "") -> VisitedPage:
    """Return a page of the organization in the browser of one of its people."""
    browser = new_visitor()
    signed_in(browser, team.people[name], "/profile")
    return browser.open(f"/organizations{path}?id={team.org}{key}")


def key_of(person: Person) -> str:
    return f"-{person.uid}"


def test_profile_leads_to_a_new_organization(adas: Visitor, open_company: Company) -> None:
    listed = adas.open("/profile").follow("Organizations")
    assert "Create organization" in listed.text
    page = listed.follow("Create organization")
    assert page.heading == "Create organization"
    created = page.press("Create organization", name="Globex Gardens")
    assert (created.topic, "Organization created" in created.text) == ("Members of Globex Gardens", True)
    assert created.follow("Settings").topic == "Settings for Globex Gardens"
    again = page.press("Create organization", name="Globex Gardens")
    assert again.topic == "Members of Globex Gardens", "a second submit is harmless"
    assert adas.open("/organizations").text.count("Globex Gardens") == 1


def test_page_is_absent_where_creation_is_off(company: Company, visitor: Visitor) -> None:
    signed_in(visitor, company.ada, "/profile")
    assert "Create organization" not in visitor.open("/organizations").text
    assert visitor.open(CREATE).heading == "Organizations"
    assert visitor.open("/profile").text.count("Organizations") == 0


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("globex", "This name is taken."),
        ("Gl\u043ebex", "Use plain letters of one alphabet."),
        ("", "Enter a name."),
        ("   ", "Enter a name."),
        ("x" * 101, "Use 100 characters or fewer."),
    ],
)
def test_wrong_name_is_explained_at_its_field(adas: Visitor, open_company: Company, name: str, sentence: str) -> None:
    open_company.business.create("Globex")
    refused = adas.open(CREATE).press("Create organization", name=name)
    assert refused.status in (400, 409, 422)
    assert sentence in refused.text
    assert f'value="{name}"' in refused.html, "what was typed is kept"


def test_limit_and_unverified_address_are_explained(adas: Visitor, open_company: Company, world: World) -> None:
    settings = {"self_service_creation": True, "owned_limit": 1}
    world.change_settings(organizations=settings, email_verification="optional")
    page = adas.open(CREATE)
    page.press("Create organization", name="Globex")
    for closed in (page.press("Create organization", name="Initech"), adas.open(CREATE)):
        assert "You can’t create more organizations." in closed.text
        assert 'name="name"' not in closed.html, "no name would help"
        assert closed.follow("Go back").heading == "Organizations"
    open_company.ada.set_columns(email_verified=False)
    for closed in (page.press("Create organization", name="Initech"), adas.open(CREATE)):
        assert "Verify your email first" in closed.text
        assert 'name="name"' not in closed.html
        assert closed.follow("Verify email").heading == "Email addresses"


def test_create_page_without_session_leads_to_sign_in(open_company: Company, visitor: Visitor) -> None:
    page = visitor.open(CREATE)
    created = page.press("Sign in", identifier=open_company.ada.email, password=open_company.ada.password)
    assert created.heading == "Create organization"


@pytest.mark.both_databases
@pytest.mark.parametrize("usage", ["prompt", "require"])
def test_sign_in_continues_with_the_new_organization(
    open_company: Company, world: World, visitor: Visitor, usage: str
) -> None:
    app = world.application("Crm", client_name="Acme Shop", organization_usage=usage)
    if usage == "prompt":
        for name in ("Globex", "Initech"):
            open_company.join(open_company.ada, open_company.business.create(name), "Editor")
    page = visitor.authorize(app).press(
        "Sign in", identifier=open_company.ada.email, password=open_company.ada.password
    )
    assert page.heading == "Choose an organization"
    form = page.follow("Create organization")
    assert "and continue to Acme Shop" in form.text
    assert form.follow("Go back").heading == "Choose an organization"
    refused = form.press("Create organization", name="")
    assert refused.status == 422
    code = form.press("Create organization", name="Hazel Labs").query["code"]
    assert organization_in(answered(app.redeem(code))["id_token"])["org_name"] == "Hazel Labs"
    expired = form.press("Create organization", name="Hazel Labs").query
    assert "code" in expired, "the second submit repeats the end of the interaction"


def test_non_member_is_refused_where_creation_is_off(company: Company, world: World, visitor: Visitor) -> None:
    app = world.application("Crm", organization_usage="require")
    page = visitor.authorize(app).press("Sign in", identifier=company.ada.email, password=company.ada.password)
    assert page.query["error"] == "access_denied"


@pytest.mark.both_databases
def test_owner_changes_settings(team: Team, new_visitor: NewVisitor) -> None:
    page = opened(team, new_visitor, "owner", "/settings")
    assert page.topic == "Settings for Globex"
    saved = page.press("Save changes", name="Globex", display_name="Globex Gardens")
    assert (saved.topic, "Saved" in saved.text) == ("Settings for Globex Gardens", True)
    team.company.business.create("Initech")
    assert "This name is taken." in saved.press("Save changes", name="initech").text
    wrong = saved.press("Save changes", display_name="Gl\u043ebex")
    assert 'id="display_name-problem"' in wrong.html


def test_manager_reads_who_changes_settings(team: Team, new_visitor: NewVisitor) -> None:
    page = opened(team, new_visitor, "manager", "/members")
    assert ">Settings<" not in page.html
    page = page.visitor.open(f"/organizations/settings?id={team.org}")
    assert "Only owners can change the organization’s settings." in page.text
    assert page.visitor.open(f"/organizations/delete?id={team.org}").topic == "Settings for Globex"


@pytest.mark.parametrize("path", ["/settings", "/delete"])
def test_others_see_their_own_organizations(team: Team, new_visitor: NewVisitor, path: str) -> None:
    assert opened(team, new_visitor, "editor", path).heading == "Organizations"
    assert opened(team, new_visitor, "outsider", path).heading == "Organizations"


@pytest.mark.both_databases
def test_owner_deletes_the_organization(team: Team, new_visitor: NewVisitor) -> None:
    page = opened(team, new_visitor, "owner", "/settings").follow("Delete…")
    assert page.heading == "Delete Globex?"
    assert "3 memberships" in page.text
    wrong = page.press("Delete organization", name="Globe")
    assert (wrong.status, "Type the name exactly as shown." in wrong.text) == (400, True)
    deleted = page.press("Delete organization", name="globex")
    assert (deleted.heading, "Organization deleted" in deleted.text) == ("Organizations", True)
    assert page.press("Delete organization", name="globex").heading == "Organizations", "a second submit is harmless"


def test_deletion_asks_for_the_password_later(team: Team, new_visitor: NewVisitor) -> None:
    page = opened(team, new_visitor, "owner", "/delete")
    pass_time(team.company.world.services, minutes=6)
    shown_page = page.press("Delete organization", name="Globex")
    assert (shown_page.status, "Enter your password to continue." in shown_page.text) == (401, True)
    password = team.people["owner"].password
    assert "Organization deleted" in shown_page.press("Delete organization", name="Globex", password=password).text


def test_owner_transfers_the_ownership(team: Team, new_visitor: NewVisitor) -> None:
    answered(team.company.business.assign(team.people["owner"].uid, team.org, team.roles["Manager"]))
    edit = opened(team, new_visitor, "owner", "/members/edit", key_of(team.people["editor"]))
    page = edit.follow("Transfer ownership")
    assert "You’ll stay a member as Manager ." in page.text
    done = page.press("Change ownership")
    assert (done.topic, "Ownership changed" in done.text) == ("Members of Globex", True)
    assert "editor@globex.test Role: Editor, Owner" in done.text
    assert page.press("Change ownership").topic == "Members of Globex", "a second submit is harmless"
    assert "Transfer ownership" not in page.visitor.open(edit.address).text


def test_both_stay_owners(team: Team, new_visitor: NewVisitor) -> None:
    page = opened(team, new_visitor, "owner", "/transfer", key_of(team.people["editor"]))
    assert "You’ll leave the organization because it has no other role for you." in page.text
    assert "Choose what happens to your role" in page.press("Change ownership", choice="").text
    done = page.press("Change ownership", choice="stay")
    assert "owner@globex.test You Role: Owner" in done.text
    again = page.visitor.open(page.address)
    assert "editor@globex.test already owns Globex with you." in again.text


def test_transfer_to_a_blocked_account_is_explained(team: Team, new_visitor: NewVisitor) -> None:
    page = opened(team, new_visitor, "owner", "/transfer", key_of(team.people["editor"]))
    team.people["editor"].close()
    refused = page.press("Change ownership")
    assert (refused.status, "This person can’t sign in" in refused.text) == (409, True)


@pytest.mark.parametrize("name", ["manager", "editor", "outsider"])
def test_only_owners_reach_the_transfer(team: Team, new_visitor: NewVisitor, name: str) -> None:
    page = opened(team, new_visitor, name, "/transfer", key_of(team.people["editor"]))
    assert page.topic in ("Members of Globex", "Organizations")
    assert "Transfer ownership" not in page.text
