"""Run an installation and a shop as processes, and drive a browser tab through both."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from app.hub.locale import LANGUAGES
from tests.support.accounts.mailbox import link_in, links_to
from tests.support.browsers.shop_user import enter_code
from tests.support.processes.installation import SHOP_SECRET, Installation, eventually

OLD, NEW = "Zebra-kettle-91", "Quartz-lantern-58"


def shop_client(home: str) -> dict[str, Any]:
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

    def __init__(self, installation: Installation, shop: str) -> None:
        self.installation, self.shop = installation, shop

    def mails(self, address: str, what: str) -> list[str]:
        """Return the texts of the mails to an address that link to this page, oldest first."""
        texts = [mail.get_body(("plain",)).get_content() for mail in self.installation.mails_to(address)]
        return [text for text in texts if links_to(text, f"/{what}")]


class SignInTab:
    """One browser tab and the email address that is typed into it."""

    def __init__(self, scenario: Scenario, page: Page, email: str) -> None:
        self.scenario, self.page, self.email = scenario, page, email

    def open_login(self) -> None:
        """Press sign-in at the shop and wait for the tenant's login page."""
        self.page.goto(self.scenario.shop)
        self.page.locator("a[href*='sign-in']").click()
        self.page.wait_for_url(f"{self.scenario.installation.tenant_url}/login**")

    def register(self) -> None:
        self.open_login()
        self.page.locator("main button[value=register]").first.click()
        self.fill(email=self.email, password=OLD)
        self.submit("email")
        self.page.wait_for_url("**/verify?attempt=**")

    def request_reset(self) -> None:
        self.open_login()
        self.page.locator("main button[value=forgot]").first.click()
        self.fill(identifier=self.email)
        self.submit("identifier")
        self.page.wait_for_url("**/forgot-password/sent?**")

    def mail(self, what: str, count: int = 1) -> str:
        """Wait for `count` mails that link to this page and return the newest."""
        return str(eventually(lambda: (found := self.scenario.mails(self.email, what))[count - 1 :] and found)[-1])

    def confirm(self, count: int = 1, *, which: int = -1, has_script: bool = True) -> None:
        """Open the link of a mail; with scripts its page continues by itself."""
        self.mail("verify", count)
        self.page.goto(link_in(self.scenario.mails(self.email, "verify")[which]))
        if not has_script:
            self.page.locator("button[name=do][value=link]").click()

    def open_reset_link(self, count: int = 1) -> None:
        self.page.goto(link_in(self.mail("reset-password", count)))

    def type_code(self, *, count: int = 1) -> None:
        code = re.findall(r"\b[0-9]{6}\b", re.sub(r"https?://\S+", "", self.mail("reset-password", count)))[0]
        enter_code(self.page, f"{code[:3]} {code[3:]}")

    def set_password(self) -> None:
        self.fill(password=NEW)
        self.submit("password")

    def expect_shop(self) -> None:
        self.page.wait_for_url(f"{self.scenario.shop}/")
        expect(self.page.get_by_role("heading", level=1)).to_contain_text("Welcome to the shop")
        expect(self.page.get_by_text(self.email).first).to_be_visible()

    def expect_language(self, language: str) -> None:
        html = self.page.locator("html")
        assert (html.get_attribute("lang"), html.get_attribute("dir")) == (language, LANGUAGES[language].direction)

    def fill(self, **fields: str) -> None:
        for name, text in fields.items():
            self.page.locator(f"main input[name={name}]:visible").fill(text)

    def submit(self, name: str) -> None:
        self.page.locator(f"main form:has([name={name}]:visible) button.button[type=submit]").first.click()
