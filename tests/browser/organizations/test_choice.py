"""Choosing an organization in Chromium."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.world import World
from tests.support.organizations.members import Company, organization_in
from tests.support.tenants.tenant_server import answered


@pytest.mark.parametrize("has_script", [True, False])
def test_member_chooses_an_organization(
    world: World, company: Company, served: str, opened: Opened, has_script: bool
) -> None:
    shop = the_shop(world, served, organization_usage="require")
    for name in ("Globex Gardens", "Initech"):
        company.join(company.ada, company.business.create(name), "Editor")
    page = opened(java_script_enabled=has_script, viewport={"width": 390, "height": 844})
    page.goto(sign_in_address(served, shop))
    page.get_by_label("Email").fill(company.ada.email)
    page.get_by_label("Password", exact=True).fill(company.ada.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose an organization")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Initech").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    code = parse_qs(urlsplit(page.url).query)["code"][0]
    assert organization_in(answered(shop.redeem(code))["id_token"])["org_name"] == "Initech"
    page.goto(sign_in_address(served, shop))
    expect(page.get_by_role("button").filter(has_text="Last used")).to_contain_text("Initech")
