"""The tab of the present page is in sight on a phone, also in browsers without `scroll-initial-target`."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.support.browsers import page_samples
from tests.support.browsers.chromium import Opened

PAGES = [("ApplicationsPage", "two", ".tabs"), ("OrganizationDomainsPage", "some", ".subtabs")]


def _without_initial_target(route: Route) -> None:
    response = route.fetch()
    assert "scroll-initial-target" in response.text()
    route.fulfill(response=response, body=response.text().replace("scroll-initial-target", "--unknown"))


@pytest.mark.parametrize("language", ["de", "ar"])
@pytest.mark.parametrize("has_target", [True, False])
@pytest.mark.parametrize(("name", "state", "row"), PAGES)
def test_present_tab_is_in_sight(
    opened: Opened, gallery_address: str, name: str, state: str, row: str, has_target: bool, language: str
) -> None:
    page = opened(java_script_enabled=not has_target, viewport={"width": 320, "height": 640})
    if not has_target:
        page.route("**/*.css", _without_initial_target)
    page.goto(gallery_address + page_samples.address(name, state, language))
    expect(page.locator(f"{row} [aria-current]")).to_be_in_viewport(ratio=0.9)
    assert page.evaluate("scrollY") == 0
