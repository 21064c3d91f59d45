"""Password reset in Chromium, started and finished at the relying party."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.hub.locale import LANGUAGES
from tests.support.accounts.mailbox import code_in, link_in, mails_to
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.browsers.shop_user import HOW, enter_code
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World

ADA, NEW = "ada@example.com", "Quartz-lantern-58"
AT_THE_SHOP = "http://127.0.0.1:*/cb?**"
WORDS = {
    "en": (
        "Forgot password?", "Email", "Send reset link", "6-digit code", "Verify", "New password", "Save password", "Password",
        "Sign in",
    ),
    "ar": (
        "نسيت كلمة المرور؟", "البريد الإلكتروني", "إرسال الرابط", "رمز من 6 أرقام", "تأكيد", "كلمة المرور الجديدة", "حفظ كلمة المرور",
        "كلمة المرور", "تسجيل الدخول",
    ),
}  # fmt: skip


class RecoveryVisit:
    """A password reset in one browser page."""

    def __init__(self, world: World, served: str, page: Page, language: str = "en") -> None:
        self.world, self.served, self.page = world, served, page
        (
            self.forgot,
            self.email,
            self.send,
            self.code,
            self.verify,
            self.new,
            self.save,
            self.password,
            self.sign_in,
        ) = WORDS[language]

    def request_reset(self) -> None:
        self.page.goto(sign_in_address(self.served, the_shop(self.world, self.served)))
        self.page.get_by_role("button", name=self.forgot).click()
        self.page.get_by_label(self.email).fill(ADA)
        self.page.get_by_role("button", name=self.send, exact=True).click()
        expect(self.page.get_by_label(self.code, exact=True)).to_be_visible()

    @property
    def mail(self) -> dict[str, Any]:
        return mails_to(self.world.services, self.world.tenant_id, ADA)[-1]

    @property
    def link(self) -> str:
        """Return the link of the last mail, rewritten to the served port."""
        return link_in(self.mail).replace(self.world.services.settings.hub_url(self.world.name), self.served)

    def set_password(self, password: str = NEW) -> None:
        field = self.page.get_by_label(self.new, exact=True)
        assert field.get_attribute("autocomplete") == "new-password"
        field.fill(password)
        self.page.get_by_role("button", name=self.save).click()

    def expect_shop(self) -> None:
        self.page.wait_for_url(AT_THE_SHOP)
        expect(self.page.get_by_role("heading")).to_have_text("Welcome to the shop")


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA)


@HOW
def test_reset_by_link_returns_to_the_shop(
    world: World, served: str, opened: Opened, ada: Person, how: dict[str, Any]
) -> None:
    language = how.get("locale", "en")
    visit = RecoveryVisit(world, served, opened(**how), language)
    visit.request_reset()
    visit.page.goto(visit.link)
    assert visit.page.locator("html").get_attribute("dir") == LANGUAGES[language].direction
    visit.set_password()
    visit.expect_shop()


@HOW
def test_reset_by_code_returns_to_the_shop(
    world: World, served: str, opened: Opened, ada: Person, how: dict[str, Any]
) -> None:
    language = how.get("locale", "en")
    visit = RecoveryVisit(world, served, opened(**how), language)
    visit.request_reset()
    code = code_in(visit.mail)
    field = visit.page.get_by_label(visit.code, exact=True)
    assert field.get_attribute("autocomplete") == "one-time-code"
    enter_code(visit.page, f"{code[:3]} {code[3:]}")
    visit.set_password()
    visit.expect_shop()


def test_password_rules_are_ticked_while_typing(world: World, served: str, opened: Opened, ada: Person) -> None:
    visit = RecoveryVisit(world, served, opened())
    visit.request_reset()
    visit.page.goto(visit.link)
    field = visit.page.get_by_label("New password", exact=True)
    field.press_sequentially("abc")
    assert visit.page.locator(".rules .kept").count() == 0
    field.press_sequentially("defghijk-1")
    assert visit.page.locator(".rules .kept").count() == 3


def test_first_tab_continues_after_reset_in_second(world: World, served: str, opened: Opened, ada: Person) -> None:
    visit = RecoveryVisit(world, served, opened())
    visit.request_reset()
    other = RecoveryVisit(world, served, visit.page.context.new_page())
    other.page.goto(visit.link)
    other.set_password()
    other.expect_shop()
    visit.page.wait_for_url("http://127.0.0.1:*/**")  # the page continues by itself


def test_reload_and_reused_link_are_harmless(world: World, served: str, opened: Opened, ada: Person) -> None:
    visit = RecoveryVisit(world, served, opened())
    visit.request_reset()
    visit.page.reload()
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("Check your email")
    link = visit.link
    visit.page.goto(link)
    visit.set_password("short")
    expect(visit.page.get_by_text("Doesn’t meet the requirements yet.")).to_be_visible()
    visit.set_password()
    visit.expect_shop()
    visit.page.goto(link)
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("Link already used")
