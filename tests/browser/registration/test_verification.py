"""Email verification in Chromium, started and finished at the relying party."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from app.hub.locale import LANGUAGES
from tests.support.accounts.mailbox import code_in, link_in
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.browsers.shop_user import HOW, enter_code
from tests.support.journeys.verification import ADA, PASSWORD, is_verified, unverified, verification_mails, wait
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.processes.installation import eventually

AT_THE_SHOP = "http://127.0.0.1:*/cb?**"
WORDS = {
    "en": ("Email", "Password", "Sign in", "Check your email", "Verify", "6-digit code"),
    "ar": ("البريد الإلكتروني", "كلمة المرور", "تسجيل الدخول", "تفقّد بريدك الإلكتروني", "تأكيد", "رمز من 6 أرقام"),
}


class VerificationVisit:
    """A sign-in with an unverified address in one browser page."""

    def __init__(self, world: World, served: str, page: Page, language: str = "en") -> None:
        self.world, self.served, self.page = world, served, page
        self.email, self.password, self.sign_in, self.heading, self.confirm, self.code = WORDS[language]

    def sign_in_unverified(self, address: str) -> None:
        self.page.goto(address)
        self.page.get_by_label(self.email).fill(ADA)
        self.page.get_by_label(self.password, exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name=self.sign_in).click()
        expect(self.page.get_by_role("heading", level=1)).to_have_text(self.heading)

    @property
    def link(self) -> str:
        """Return the link of the last mail, rewritten to the served port."""
        hub_url = self.world.services.settings.hub_url(self.world.name)
        return link_in(verification_mails(self.world)[-1]).replace(hub_url, self.served)

    @property
    def code_to_type(self) -> str:
        return code_in(verification_mails(self.world)[-1])


@pytest.fixture
def ada(world: World) -> Person:
    return unverified(world)


@HOW
def test_link_returns_to_the_shop(world: World, served: str, opened: Opened, ada: Person, how: dict[str, Any]) -> None:
    language = how.get("locale", "en")
    visit = VerificationVisit(world, served, opened(**how), language)
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    expect(visit.page.get_by_text(ADA)).to_be_visible()
    assert visit.page.locator("html").get_attribute("dir") == LANGUAGES[language].direction
    visit.page.goto(visit.link)
    if how.get("java_script_enabled") is False:
        assert not is_verified(world, ada), "the GET spends nothing"
        visit.page.get_by_role("button", name=visit.confirm).click()
    visit.page.wait_for_url(AT_THE_SHOP)  # with scripts the page continues by itself
    expect(visit.page.get_by_role("heading")).to_have_text("Welcome to the shop")
    assert is_verified(world, ada)


@HOW
def test_code_returns_to_the_shop(world: World, served: str, opened: Opened, ada: Person, how: dict[str, Any]) -> None:
    visit = VerificationVisit(world, served, opened(**how), how.get("locale", "en"))
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    field = visit.page.get_by_label(visit.code)
    assert field.get_attribute("autocomplete") == "one-time-code"
    code = visit.code_to_type
    enter_code(visit.page, f"{code[:3]} {code[3:]}")
    visit.page.wait_for_url(AT_THE_SHOP)


def test_link_in_another_tab_lets_the_first_continue(world: World, served: str, opened: Opened, ada: Person) -> None:
    first = VerificationVisit(world, served, opened())
    first.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    other = first.page.context.new_page()
    other.goto(first.link)
    other.wait_for_url(AT_THE_SHOP)
    first.page.wait_for_url("http://127.0.0.1:*/**")  # the page continues by itself, to the application's home
    assert first.page.context.cookies()


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_number_typed_in_another_browser_continues(
    world: World, served: str, opened: Opened, ada: Person, has_script: bool
) -> None:
    """With scripts the waiting page continues by itself; without them the button does it."""
    first = VerificationVisit(world, served, opened(java_script_enabled=has_script))
    first.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    first.page.get_by_text("Opening the link on another device?").click()
    number = first.page.locator(".number-shown").text_content() or ""
    other = opened()
    other.goto(first.link)
    other.get_by_label("Number shown on the other device").fill(number)
    other.get_by_role("button", name="Verify").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Email verified")
    expect(first.page.get_by_role("button", name="Continue")).to_be_visible(visible=not has_script)
    if not has_script:
        first.page.get_by_role("button", name="Continue").click()
    first.page.wait_for_url(AT_THE_SHOP)


def test_click_in_another_browser_alone_does_not_continue(
    world: World, served: str, opened: Opened, ada: Person
) -> None:
    first = VerificationVisit(world, served, opened(java_script_enabled=False))
    first.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    other = opened()
    other.goto(first.link)
    other.get_by_role("button", name="Verify").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Email verified")
    first.page.get_by_role("button", name="Continue").click()
    expect(first.page.get_by_role("heading", level=1)).to_have_text("Email verified")
    first.page.goto(f"{served}/profile")
    expect(first.page.get_by_label("Password", exact=True)).to_be_visible()


def test_resend_wait_counts_down_without_scripts(world: World, served: str, opened: Opened, ada: Person) -> None:
    visit = VerificationVisit(world, served, opened(java_script_enabled=False))
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    left = "Number(getComputedStyle(document.querySelector('.count')).getPropertyValue('--left'))"
    first = visit.page.evaluate(left)
    assert 0 < first <= 30
    eventually(lambda: visit.page.evaluate(left) < first, "the page counts down")
    assert visit.page.locator("time[datetime]").count() == 1


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_back_and_reload_after_verification_are_harmless(
    world: World, served: str, opened: Opened, ada: Person, has_script: bool
) -> None:
    """A page that continued by itself leaves no entry in the history: Back leads before it."""
    visit = VerificationVisit(world, served, opened(java_script_enabled=has_script))
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    visit.page.reload()
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("Check your email")
    visit.page.goto(visit.link)
    if not has_script:
        visit.page.get_by_role("button", name="Verify").click()
    visit.page.wait_for_url(AT_THE_SHOP)
    visit.page.go_back()
    after = "Profile" if has_script else "Email verified"
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(after)
    visit.page.reload()
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(after)


def test_scanner_with_scripts_verifies_nothing(world: World, served: str, opened: Opened, ada: Person) -> None:
    visit = VerificationVisit(world, served, opened())
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    scanner = opened(user_agent="Mozilla/5.0 (compatible; SafeLinks preview)")
    scanner.goto(visit.link)
    scanner.wait_for_timeout(500)
    url = urlsplit(visit.link)
    head = httpx.head(
        f"http://127.0.0.1:{url.port}{url.path}?{url.query}", headers={"Host": url.netloc, "User-Agent": "scan"}
    )
    assert head.status_code == 200
    assert not is_verified(world, ada)


def test_resend_button_is_enabled_after_cool_down(world: World, served: str, opened: Opened, ada: Person) -> None:
    visit = VerificationVisit(world, served, opened())
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    again = visit.page.get_by_role("button", name="Resend email")
    expect(again).to_be_hidden()
    wait(world, seconds=31)
    visit.page.reload()
    expect(again).to_be_enabled()
    again.click()
    expect(visit.page.get_by_text("Email resent")).to_be_visible()
    assert len(verification_mails(world)) == 2


SEEN_BY_NAME = "Object.defineProperty(document, 'visibilityState', {get: () => window.name || 'hidden'})"


def test_page_seen_later_continues_only_then(world: World, served: str, opened: Opened, ada: Person) -> None:
    """A page that the browser opened in the background waits until it is visible."""
    visit = VerificationVisit(world, served, opened())
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    visit.page.add_init_script(SEEN_BY_NAME)
    visit.page.goto(visit.link)
    visit.page.wait_for_timeout(500)
    assert not is_verified(world, ada)
    visit.page.evaluate("window.name = 'visible'; document.dispatchEvent(new Event('visibilitychange'))")
    visit.page.wait_for_url(AT_THE_SHOP)


def test_reload_and_back_do_not_press_the_button(world: World, served: str, opened: Opened, ada: Person) -> None:
    visit = VerificationVisit(world, served, opened())
    visit.sign_in_unverified(sign_in_address(served, the_shop(world, served)))
    waiting = visit.page.url
    visit.page.add_init_script(SEEN_BY_NAME)
    visit.page.goto(visit.link)
    visit.page.evaluate("window.name = 'visible'")
    visit.page.goto(waiting)
    for again in (visit.page.go_back, visit.page.reload):
        again()
        expect(visit.page.get_by_role("button", name="Verify")).to_be_visible()
        visit.page.wait_for_timeout(500)
        assert not is_verified(world, ada)
    visit.page.get_by_role("button", name="Verify").click()
    visit.page.wait_for_url(AT_THE_SHOP)
