"""The whole journey in Chromium, between processes: from the example shop to its "Welcome", by mails that a mail server took."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.hub.locale import LANGUAGES
from tests.support.hub_in_browser import Opened
from tests.support.installation import SHOP_SECRET, Installation, eventually, installed

OLD, NEW = "Zebra-kettle-91", "Quartz-lantern-58"
HOW = pytest.mark.parametrize(
    "how", [{}, {"java_script_enabled": False}, {"locale": "ar"}], ids=["script", "no script", "ar"]
)
ORDERS = pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["the first first", "the second first"])
_PEOPLE = itertools.count()


class Town:
    """The installation and the shop, each processes of their own."""

    def __init__(self, ours: Installation, shop: str) -> None:
        self.ours, self.shop = ours, shop

    def mails(self, address: str, what: str) -> list[str]:
        """The text of every mail to an address that leads to a page of this name, the oldest first."""
        texts = [mail.get_body(("plain",)).get_content() for mail in self.ours.mails_to(address)]
        return [text for text in texts if f"/{what}?" in text]


class Tab:
    """One tab of a person."""

    def __init__(self, town: Town, page: Page, email: str) -> None:
        self.town, self.page, self.email = town, page, email

    def comes(self) -> None:
        """Press the shop's button, and stand at our sign-in."""
        self.page.goto(self.town.shop)
        self.page.locator("a[href*='sign-in']").click()
        self.page.wait_for_url(f"{self.town.ours.tenant_url}/login**")

    def signs_up(self) -> None:
        self.comes()
        self.page.locator("main a[href*='/register']").first.click()
        self._type(email=self.email, password=OLD)
        self._send("email")
        self.page.wait_for_url("**/verify?attempt=**")

    def forgets(self) -> None:
        self.comes()
        self.page.locator("main a[href*='/forgot-password']").first.click()
        self._type(identifier=self.email)
        self._send("identifier")
        self.page.wait_for_url("**/forgot-password/sent?**")

    def mail(self, what: str, count: int = 1) -> str:
        """The newest mail, once so many are there."""
        return str(eventually(lambda: (found := self.town.mails(self.email, what))[count - 1 :] and found)[-1])

    def confirms(self, count: int = 1, *, which: int = -1) -> None:
        self.mail("verify", count)
        self.page.goto(link_in(self.town.mails(self.email, "verify")[which]))
        self.page.locator("button[name=do][value=link]").click()

    def opens_reset(self, count: int = 1) -> None:
        self.page.goto(link_in(self.mail("reset-password", count)))

    def types_code(self, *, count: int = 1, is_arabic: bool = False) -> None:
        code = re.findall(r"\b[0-9]{6}\b", re.sub(r"https?://\S+", "", self.mail("reset-password", count)))[0]
        shown = "".join(chr(0x660 + int(digit)) for digit in code) if is_arabic else code
        self._type(code=f"{shown[:3]} {shown[3:]}")
        self._send("code")

    def sets_password(self) -> None:
        self._type(password=NEW)
        self._send("password")
        self.page.wait_for_url("**/login?**")

    def signs_in(self, password: str) -> None:
        expect(self.page.locator("[name=identifier]")).to_have_value(self.email)
        self._type(password=password)
        self._send("password")

    def is_welcome(self) -> None:
        self.page.wait_for_url(f"{self.town.shop}/")
        expect(self.page.get_by_role("heading", level=1)).to_contain_text("Welcome to the shop")
        expect(self.page.get_by_text(self.email).first).to_be_visible()

    def speaks(self, language: str) -> None:
        html = self.page.locator("html")
        assert (html.get_attribute("lang"), html.get_attribute("dir")) == (language, LANGUAGES[language].direction)

    def _type(self, **fields: str) -> None:
        for name, text in fields.items():
            self.page.locator(f"main input[name={name}]:visible").fill(text)

    def _send(self, name: str) -> None:
        self.page.locator(f"main form:has([name={name}]:visible) button[type=submit]").first.click()


def link_in(text: str) -> str:
    return re.findall(r"https?://\S+vtoken=\S+", text)[0]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with installed(tmp_path_factory.mktemp("town")) as ours:
        ours.start()
        shop = ours.open_shop()
        client = {"name": "shop", "client_name": "Acme Shop", "protocol": "openid", "client_id": "shop"}
        client |= {"client_secret": SHOP_SECRET, "token_endpoint_auth_method": "client_secret_basic"}
        sending = {"mails": {"amount": 0, "minutes": 60}, "mails_by_type": {}}
        addresses = {"redirect_uris": [f"{shop}/signed-in/acme"], "client_uri": f"{shop}/"}
        ours.tenant({**client, **addresses}, email_login=True, reset_password_codes=True, sending=sending)
        eventually(ours.knows_the_tenant, "the tenant is there")
        yield Town(ours, shop)


@pytest.fixture
def email() -> str:
    return f"person{next(_PEOPLE)}@example.test"


@pytest.fixture
def known(town: Town, email: str) -> str:
    """The address of somebody who has an account, proved."""
    created = {"Email": [{"Type": "Primary", "Value": email}], "Password": OLD, "EmailVerified": True}
    answer = town.ours.send("POST", "/identity/v2/manage/account", created, with_secret=True)
    assert answer.status_code == 200, answer.text
    return email


@HOW
def test_who_signs_up_is_welcome_at_the_shop(town: Town, opened: Opened, email: str, how: dict[str, Any]) -> None:
    tab = Tab(town, opened(**how), email)
    tab.signs_up()
    expect(tab.page.get_by_text(email)).to_be_visible()
    tab.speaks(how.get("locale", "en"))
    tab.confirms()
    tab.is_welcome()


@HOW
def test_a_forgotten_password_is_reset_by_the_link(town: Town, opened: Opened, known: str, how: dict[str, Any]) -> None:
    tab = Tab(town, opened(**how), known)
    tab.forgets()
    tab.opens_reset()
    tab.speaks(how.get("locale", "en"))
    tab.sets_password()
    tab.signs_in(NEW)
    tab.is_welcome()


@HOW
def test_a_forgotten_password_is_reset_by_the_code(town: Town, opened: Opened, known: str, how: dict[str, Any]) -> None:
    tab = Tab(town, opened(**how), known)
    tab.forgets()
    tab.types_code(is_arabic="locale" in how)
    tab.sets_password()
    tab.signs_in(NEW)
    tab.is_welcome()


@ORDERS
def test_who_signs_up_in_two_tabs_is_welcome_in_both(
    town: Town, opened: Opened, email: str, order: tuple[int, int]
) -> None:
    first = Tab(town, opened(), email)
    first.signs_up()
    first.mail("verify")
    second = Tab(town, first.page.context.new_page(), email)
    second.signs_up()
    first.mail("verify", 2)
    tabs = (first, second)
    tabs[order[0]].confirms(2, which=order[0])
    tabs[order[0]].is_welcome()
    other = tabs[order[1]]
    other.page.locator("button[name=do][value=opened]").click()
    other.page.wait_for_load_state()
    if not other.page.url.startswith(town.shop):  # the same person typed another registration there: they sign in
        other.page.locator("main a[href]").first.click()
    other.is_welcome()


@ORDERS
def test_who_forgets_in_two_tabs_is_welcome_in_both(
    town: Town, opened: Opened, known: str, order: tuple[int, int]
) -> None:
    first = Tab(town, opened(), known)
    first.forgets()
    first.mail("reset-password")
    second = Tab(town, first.page.context.new_page(), known)
    second.forgets()
    first.mail("reset-password", 2)
    tabs = (first, second)
    done, other = tabs[order[0]], tabs[order[1]]
    done.types_code(count=2)
    done.sets_password()
    done.signs_in(NEW)
    done.is_welcome()
    other.page.reload()
    other.is_welcome()
