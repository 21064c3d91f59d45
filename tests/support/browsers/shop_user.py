"""A person who signs in from the shop in browser tests."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time

ADA, PASSWORD, NEW = "ada@example.com", "correct horse 7", "Quartz-lantern-58"
AT_THE_SHOP = "http://127.0.0.1:*/cb?**code=**"
BARE = {"java_script_enabled": False, "locale": "ar"}
"""A browser without scripts, in Arabic."""
HOW = pytest.mark.parametrize("how", [{}, BARE], ids=["script", "no script, ar"])
_ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


class Ada:
    """Ada, an account with a password, and a shop."""

    def __init__(self, world: World, served: str, **profile: Any) -> None:
        self.world, self.served, self.shop = world, served, the_shop(world, served)
        world.person(ADA, **profile)

    def advance_clock(self, **by: float) -> None:
        pass_time(self.world.services, **by)

    def mails(self) -> list[dict[str, Any]]:
        return mails_to(self.world.services, self.world.tenant_id, ADA)

    def served_address(self, address: str) -> str:
        """Return an address of the hub, rewritten to the served port."""
        return address.replace(self.world.services.settings.hub_url(self.world.name), self.served)

    def open_login(self, page: Page, shop: RelyingParty | None = None) -> Page:
        page.goto(sign_in_address(self.served, shop or self.shop))
        return page

    def type_password(self, page: Page, password: str = PASSWORD) -> None:
        """Type the identifier and the password."""
        page.locator("[name=identifier]").fill(ADA)
        page.locator("main [name=password]").fill(password)
        send(page, "password")

    def sign_in(self, page: Page) -> None:
        self.open_login(page)
        self.type_password(page)

    def reset_password(self, page: Page) -> None:
        """Reset the password by the mailed link."""
        self.open_login(page).locator("main button[value=forgot]").first.click()
        page.locator("main [name=identifier]").fill(ADA)
        send(page, "identifier")
        page.wait_for_url("**/forgot-password/sent?**")
        page.goto(self.served_address(link_in(self.mails()[-1])))
        page.locator("main [name=password]").fill(NEW)
        send(page, "password")


def send(page: Page, name: str) -> None:
    """Press the submit button of the form with this field."""
    page.locator(f"main form:has([name={name}]:visible) button[type=submit]").last.click()


def enter_code(page: Page, digits: str) -> None:
    """Type a code, in the script of the page's language; without scripts press the button, too."""
    has_scripts = page.evaluate("matchMedia('(scripting: enabled)').matches")
    page.locator("[name=code]").fill(typed(page, digits))
    if not has_scripts:
        send(page, "code")


def typed(page: Page, digits: str) -> str:
    """Return digits in the script of the page's language."""
    return digits.translate(_ARABIC) if page.locator("html").get_attribute("lang") == "ar" else digits
