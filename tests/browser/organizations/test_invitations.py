"""An administrator invites by page and by link in Chromium, with and without scripts; new and existing people join."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.browsers.chromium import Opened
from tests.support.browsers.clipboard import copied
from tests.support.oauth.world import World
from tests.support.organizations.members import Company

PASSWORD, NEW_PASSWORD = "correct horse 7", "Zebra-kettle-91"
PHONE = {"width": 390, "height": 844}
GUEST = "guest@example.com"
HOWS: list[dict[str, Any]] = [{}, {"java_script_enabled": False, "viewport": PHONE}]


@pytest.fixture
def org(company: Company) -> str:
    """An organization that Ada manages, with two roles to give."""
    org = company.business.create("Globex Gardens")
    company.join(company.ada, org, "Manager", "org:manage")
    company.business.role("Editor", org=org, about="Changes plans.")
    company.business.role("Viewer", org=org, about="Reads plans.")
    return org


def sign_in(page: Page, served: str, email: str, password: str) -> None:
    page.goto(f"{served}/login")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/profile**")


def members(company: Company, org: str) -> list[str]:
    people = company.business.send("GET", f"/v2/manage/organizations/{org}/orgcontext").get_json()["Data"]
    return sorted({person["Email"] for person in people} - {company.ada.email})


def is_wider_than_its_window(page: Page) -> bool:
    return page.locator("body").evaluate("() => document.documentElement.scrollWidth > innerWidth") is True


@pytest.mark.parametrize("how", HOWS, ids=["plain", "no script"])
def test_administrator_invites_and_a_new_person_joins(
    world: World, company: Company, served: str, opened: Opened, org: str, how: dict[str, Any]
) -> None:
    page = opened(**how)
    sign_in(page, served, company.ada.email, company.ada.password)
    page.goto(f"{served}/organizations/members?id={org}")
    page.get_by_role("link", name="Invite people").click()
    page.get_by_label("Email addresses").fill(f"{GUEST}, {company.ada.email}")
    for role, shown, hidden in (
        ("Viewer", "Reads plans.", "Changes plans."),
        ("Editor", "Changes plans.", "Reads plans."),
    ):
        page.get_by_label("Role").select_option(role)
        expect(page.get_by_text(shown)).to_be_visible()
        expect(page.get_by_text(hidden)).to_be_hidden()
    page.get_by_role("button", name="Send invitations" if how else "Send 2 invitations").click()
    expect(page.get_by_text("1 invitation sent")).to_be_visible()
    expect(page.get_by_text(f"{company.ada.email}: Already a member")).to_be_visible()
    kept = page.get_by_role("listitem").filter(has=page.get_by_role("button", name=f"Remove {company.ada.email}"))
    if how:
        expect(page.get_by_label("Email addresses")).to_have_value(company.ada.email)
    else:
        expect(kept).to_have_class("wrong")
    assert not is_wider_than_its_window(page)
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_text(GUEST, exact=True)).to_be_visible()
    assert not is_wider_than_its_window(page)

    mail = mails_to(world.services, world.tenant_id, GUEST)[-1]
    guest = opened(**how)
    guest.goto(link_in(mail).replace(world.services.settings.hub_url(world.name), served))
    expect(guest.get_by_role("heading", level=1)).to_have_text("Join Globex Gardens")
    guest.get_by_role("button", name="Create account to join").click()
    guest.get_by_label("Password", exact=True).fill(NEW_PASSWORD)
    guest.get_by_role("button", name="Create account", exact=True).click()
    guest.wait_for_url("**/profile**")
    assert members(company, org) == [GUEST]


def test_addresses_become_chips(company: Company, served: str, opened: Opened, org: str) -> None:
    page = opened(viewport=PHONE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, served, company.ada.email, company.ada.password)
    page.goto(f"{served}/organizations/invitations/new?id={org}")
    field = page.get_by_label("Email addresses")
    chips = page.locator(".chips li")
    field.press_sequentially("one@example.com, Ada Byron <two@example.com>,bad ")
    expect(chips).to_have_text(["one@example.com", "two@example.com"])
    expect(field).to_have_value("bad ")
    field.press("Enter")
    expect(chips.nth(2)).to_have_class("wrong")
    page.evaluate(
        "navigator.clipboard.writeText('three@example.com\\nONE@example.com; four@example.com five@example.com')"
    )
    field.press("Control+v")
    expect(chips).to_have_count(6)
    page.get_by_role("button", name="Remove two@example.com").click()
    expect(field).to_be_focused()
    field.press("Backspace")
    expect(field).to_have_value("five@example.com")
    expect(chips).to_have_text(["one@example.com", "bad", "three@example.com", "four@example.com"])
    assert not is_wider_than_its_window(page)
    page.get_by_label("Role").select_option("Editor")
    page.get_by_role("button", name="Send 4 invitations").click()
    expect(page.get_by_text("4 invitations sent")).to_be_visible()
    expect(page.get_by_text("bad: Not a valid email")).to_be_visible()
    expect(chips).to_have_text(["bad"])


def test_menu_of_a_row_closes(company: Company, served: str, opened: Opened, org: str) -> None:
    page = opened()
    sign_in(page, served, company.ada.email, company.ada.password)
    page.goto(f"{served}/organizations/members?id={org}")
    menu = page.get_by_label("Actions for Ada Lovelace")
    item = page.get_by_role("link", name="Change roles for Ada Lovelace")
    menu.click()
    expect(item).to_be_visible()
    page.keyboard.press("Escape")
    expect(item).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    page.get_by_role("heading", level=1).click()
    expect(item).to_be_hidden()


@pytest.mark.parametrize("how", HOWS, ids=["plain", "no script"])
def test_link_admits_an_existing_person(
    world: World, company: Company, served: str, opened: Opened, org: str, how: dict[str, Any]
) -> None:
    has_script = how.get("java_script_enabled", True)
    page = opened(**how)
    sign_in(page, served, company.ada.email, company.ada.password)
    page.goto(f"{served}/organizations/invitations/new?id={org}")
    page.get_by_role("link", name="Invite with a link").click()
    page.get_by_label("Role").select_option("Editor")
    page.get_by_label("Maximum number of people").fill("1")
    page.get_by_role("button", name="Create link").click()
    field = page.get_by_label("Invitation link")
    address = field.input_value()
    copy = page.get_by_role("button", name="Copy link")
    if has_script:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        copy.click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert copied(page) == address
    else:
        expect(copy).to_be_hidden()
    assert not is_wider_than_its_window(page)

    eve = world.person("eve@example.com")
    guest = opened(**how)
    sign_in(guest, served, eve.email, eve.password)
    link = address.replace(world.services.settings.hub_url(world.name), served)
    guest.goto(link)
    expect(guest.get_by_role("heading", level=1)).to_have_text("Join Globex Gardens")
    assert not is_wider_than_its_window(guest)
    guest.get_by_role("button", name="Join organization").click()
    guest.wait_for_url("**/profile**")
    assert members(company, org) == [eve.email]
    guest.goto(link)
    expect(guest.get_by_role("heading", level=1)).to_have_text("You’re already a member")
    expired = opened(**how)
    expired.goto(link)
    expect(expired.get_by_role("heading", level=1)).to_have_text("Link limit reached")


def test_person_answers_the_own_invitation(
    world: World, company: Company, served: str, opened: Opened, org: str
) -> None:
    eve = world.person("eve@example.com")
    manager = opened()
    sign_in(manager, served, company.ada.email, company.ada.password)
    manager.goto(f"{served}/organizations/invitations/new?id={org}")
    manager.get_by_label("Email addresses").fill(eve.email)
    manager.get_by_label("Role").select_option("Editor")
    manager.get_by_role("button", name="Send 1 invitation").click()
    expect(manager.get_by_text("1 invitation sent")).to_be_visible()

    page = opened(viewport=PHONE)
    sign_in(page, served, eve.email, eve.password)
    page.goto(f"{served}/organizations")
    page.get_by_role("link", name="1 invitation").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your invitations")
    assert not is_wider_than_its_window(page)
    page.get_by_role("button", name="Join Globex Gardens").click()
    expect(page.get_by_text("You joined the organization")).to_be_visible()
    assert members(company, org) == [eve.email]
