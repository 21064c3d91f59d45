"""Run an installation and a shop as processes, and drive a browser tab through both."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.hub.locale import LANGUAGES
from tests.support.installation import SHOP_SECRET, Installation, eventually

OLD, NEW = "Zebra-kettle-91", "Quartz-lantern-58"
HOW = pytest.mark.parametrize(
    "how", [{}, {"java_script_enabled": False}, {"locale": "ar"}], ids=["script", "no script", "ar"]
)


def the_shop(home: str) -> dict[str, Any]:
    """Return the shop's entry in the configuration of a tenant."""
    return {
        "name": "shop",
        "client_name": "Acme Shop",
        "protocol": "openid",
        "client_id": "shop",
        "client_secret": SHOP_SECRET,
        "token_endpoint_auth_method": "client_secret_basic",
        "redirect_uris": [f"{home}/signed-in/acme"],
        "client_uri": f"{home}/",
    }


class Scenario:
    """The installation and the address of the shop; both run as processes."""

    def __init__(self, ours: Installation, shop: str) -> None:
        self.ours, self.shop = ours, shop

    def mails(self, address: str, what: str) -> list[str]:
        """Return the texts of the mails to an address that link to this page, oldest first."""
        texts = [mail.get_body(("plain",)).get_content() for mail in self.ours.mails_to(address)]
        return [text for text in texts if f"/{what}?" in text]


class Tab:
    """One browser tab and the email address that is typed into it."""

    def __init__(self, scenario: Scenario, page: Page, email: str) -> None:
        self.scenario, self.page, self.email = scenario, page, email

    def comes(self) -> None:
        """Press sign-in at the shop and wait for the tenant's login page."""
        self.page.goto(self.scenario.shop)
        self.page.locator("a[href*='sign-in']").click()
        self.page.wait_for_url(f"{self.scenario.ours.tenant_url}/login**")

    def signs_up(self) -> None:
        self.comes()
        self.page.locator("main a[href*='/register']").first.click()
        self.fills(email=self.email, password=OLD)
        self.sends("email")
        self.page.wait_for_url("**/verify?attempt=**")

    def forgets(self) -> None:
        self.comes()
        self.page.locator("main a[href*='/forgot-password']").first.click()
        self.fills(identifier=self.email)
        self.sends("identifier")
        self.page.wait_for_url("**/forgot-password/sent?**")

    def mail(self, what: str, count: int = 1) -> str:
        """Wait for `count` mails that link to this page and return the newest."""
        return str(eventually(lambda: (found := self.scenario.mails(self.email, what))[count - 1 :] and found)[-1])

    def confirms(self, count: int = 1, *, which: int = -1) -> None:
        self.mail("verify", count)
        self.page.goto(link_in(self.scenario.mails(self.email, "verify")[which]))
        self.page.locator("button[name=do][value=link]").click()

    def opens_reset(self, count: int = 1) -> None:
        self.page.goto(link_in(self.mail("reset-password", count)))

    def types_code(self, *, count: int = 1, is_arabic: bool = False) -> None:
        code = re.findall(r"\b[0-9]{6}\b", re.sub(r"https?://\S+", "", self.mail("reset-password", count)))[0]
        shown = "".join(chr(0x660 + int(digit)) for digit in code) if is_arabic else code
        self.fills(code=f"{shown[:3]} {shown[3:]}")
        self.sends("code")

    def sets_password(self) -> None:
        self.fills(password=NEW)
        self.sends("password")
        self.page.wait_for_url("**/login?**")

    def signs_in(self, password: str) -> None:
        expect(self.page.locator("[name=identifier]")).to_have_value(self.email)
        self.fills(password=password)
        self.sends("password")

    def is_welcome(self) -> None:
        self.page.wait_for_url(f"{self.scenario.shop}/")
        expect(self.page.get_by_role("heading", level=1)).to_contain_text("Welcome to the shop")
        expect(self.page.get_by_text(self.email).first).to_be_visible()

    def speaks(self, language: str) -> None:
        html = self.page.locator("html")
        assert (html.get_attribute("lang"), html.get_attribute("dir")) == (language, LANGUAGES[language].direction)

    def fills(self, **fields: str) -> None:
        for name, text in fields.items():
            self.page.locator(f"main input[name={name}]:visible").fill(text)

    def sends(self, name: str) -> None:
        self.page.locator(f"main form:has([name={name}]:visible) button[type=submit]").first.click()


def link_in(text: str) -> str:
    return str(re.findall(r"https?://\S+vtoken=\S+", text)[0])
