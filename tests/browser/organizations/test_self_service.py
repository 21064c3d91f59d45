"""People run their organizations in Chromium, with and without scripts."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.organizations.members import Company, Team, organization_in
from tests.support.organizations.open_organization import OpenOrganization
from tests.support.tenants.tenant_server import answered

SCRIPT = pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
PHONE = {"width": 390, "height": 844}


def sign_in(page: Page, person: Person) -> None:
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password", exact=True).fill(person.password)
    page.get_by_role("button", name="Sign in").click()


def heading_is(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def title_is(page: Page, text: str) -> None:
    expect(page).to_have_title(re.compile(f"^{text} · "))


def at_organizations(page: Page, served: str, person: Person) -> Page:
    """Sign in at the list of organizations."""
    page.goto(f"{served}/organizations")
    sign_in(page, person)
    heading_is(page, "Organizations")
    return page


@SCRIPT
def test_person_creates_an_organization(company: Company, served: str, opened: Opened, has_script: bool) -> None:
    company.world.change_settings(organizations={"self_service_creation": True})
    company.business.create("Initech")
    page = at_organizations(opened(java_script_enabled=has_script, viewport=PHONE), served, company.ada)
    page.get_by_role("link", name="Create organization").click()
    page.get_by_label("Organization name").fill("initech")
    page.get_by_label("Organization name").press("Enter")
    expect(page.get_by_text("This name is taken.")).to_be_visible()
    expect(page.get_by_label("Organization name")).to_have_value("initech")
    page.get_by_label("Organization name").fill("Globex Gardens")
    page.get_by_role("button", name="Create organization").click()
    title_is(page, "Members of Globex Gardens")
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_label("Display name").fill("Gardens")
    page.get_by_role("button", name="Save changes").click()
    title_is(page, "Settings for Gardens")
    page.get_by_role("link", name="Delete organization").click()
    page.get_by_label("Organization name").fill("gardens")
    page.get_by_role("button", name="Delete organization").click()
    expect(page.get_by_text("Organization deleted")).to_be_visible()


@SCRIPT
def test_owner_tries_a_color(team: Team, served: str, opened: Opened, has_script: bool) -> None:
    page = at_organizations(opened(java_script_enabled=has_script, viewport=PHONE), served, team.people["owner"])
    page.goto(f"{served}/organizations/settings?id={team.org}")
    button = page.locator(".preview u")
    before = button.evaluate("each => getComputedStyle(each).backgroundColor")
    save = page.get_by_role("button", name="Save changes")
    expect(save).to_be_disabled() if has_script else expect(save).to_be_enabled()
    page.get_by_label("Display name").fill("Gardens")
    expect(save).to_be_enabled()
    if has_script:
        expect(page.get_by_role("button", name="Default")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Rust").click()
        expect(page.get_by_role("button", name="Rust")).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("button", name="Preview")).to_be_hidden()
    else:
        expect(page.get_by_role("button", name="Rust")).to_be_hidden()
        page.get_by_label("Color", exact=True).fill("#c2410c")
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("White text on it reads well: contrast 5.1:1.")).to_be_visible()
    expect(page.locator(".preview b")).to_have_text("Sign in to Gardens")
    assert button.evaluate("each => getComputedStyle(each).backgroundColor") != before
    expect(page.get_by_label("Color", exact=True)).to_have_value("#c2410c")
    save.click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    title_is(page, "Settings for Gardens")


@SCRIPT
def test_person_creates_an_organization_at_sign_in(
    company: Company, world: World, served: str, opened: Opened, has_script: bool
) -> None:
    world.change_settings(organizations={"self_service_creation": True})
    shop = the_shop(world, served, organization_usage="require")
    page = opened(java_script_enabled=has_script, viewport=PHONE)
    page.goto(sign_in_address(served, shop))
    sign_in(page, company.ada)
    page.get_by_role("link", name="Create organization").click()
    page.get_by_label("Organization name").fill("Hazel Labs")
    page.get_by_role("button", name="Create organization").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    code = parse_qs(urlsplit(page.url).query)["code"][0]
    assert organization_in(answered(shop.redeem(code))["id_token"])["org_name"] == "Hazel Labs"


@SCRIPT
def test_owner_hands_over_an_organization(team: Team, served: str, opened: Opened, has_script: bool) -> None:
    page = at_organizations(opened(java_script_enabled=has_script, viewport=PHONE), served, team.people["owner"])
    page.get_by_role("link", name="Members of Globex").click()
    page.get_by_label("Actions for editor@globex.test").click()
    page.get_by_role("link", name="Change roles for editor@globex.test").click()
    page.get_by_role("link", name="Transfer ownership").click()
    expect(page.get_by_label("Step down")).to_be_checked()
    page.get_by_label("Stay an owner").check()
    page.get_by_role("button", name="Change ownership").click()
    title_is(page, "Members of Globex")
    row = page.get_by_role("listitem").filter(has_text="editor@globex.test")
    expect(row).to_contain_text("Editor, Owner")


@SCRIPT
def test_person_asks_and_manager_approves(
    open_org: OpenOrganization, served: str, opened: Opened, has_script: bool
) -> None:
    asking = at_organizations(opened(java_script_enabled=has_script, viewport=PHONE), served, open_org.ada)
    asking.get_by_role("button", name="Ask to join Globex").click()
    expect(asking.get_by_text("Request sent")).to_be_visible()
    expect(asking.get_by_text("Waiting for approval")).to_be_visible()
    page = at_organizations(
        opened(java_script_enabled=has_script, viewport=PHONE), served, open_org.team.people["owner"]
    )
    page.get_by_role("link", name="Members of Globex").click()
    page.get_by_role("link", name="Requests", exact=True).click()
    title_is(page, "Requests to join Globex")
    page.get_by_role("button", name=f"Approve {open_org.ada.email}").click()
    expect(page.get_by_text("Request approved")).to_be_visible()
    asking.goto(f"{served}/organizations")
    expect(asking.get_by_role("listitem").filter(has_text="Globex")).to_contain_text("Member")
