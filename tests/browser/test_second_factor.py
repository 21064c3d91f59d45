"""From the shop through a second factor and back, in Chromium: enrolled on the way, asked from then on, and by no reset gone around."""

from __future__ import annotations

import re

import pyotp
import pytest
from playwright.sync_api import Page, expect

from tests.support.hub_in_browser import Opened, sign_in_address, the_shop
from tests.support.letterbox import link_in, mailed_to
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import RelyingParty

ADA, PASSWORD, NEW = "ada@example.com", "correct horse 7", "Quartz-lantern-58"
AT_THE_SHOP = "http://127.0.0.1:*/cb?**code=**"
HOW = pytest.mark.parametrize(
    "how", [{}, {"java_script_enabled": False}, {"locale": "ar"}], ids=["script", "no script", "ar"]
)


@pytest.fixture
def world(new_world: NewWorld) -> World:
    alone = {"email": False, "passkey": False}
    return new_world(two_factor="required", second_factors=alone, login_on_password_reset=True)


class Ada:
    """A person with an authenticator app, in browser after browser."""

    def __init__(self, world: World, served: str) -> None:
        self.world, self.served, self.shop = world, served, the_shop(world, served)
        self.app: pyotp.TOTP | None = None
        world.person(ADA)

    def comes(self, page: Page, shop: RelyingParty | None = None) -> Page:
        page.goto(sign_in_address(self.served, shop or self.shop))
        return page

    def signs_in(self, page: Page) -> None:
        self.comes(page)
        page.locator("[name=identifier]").fill(ADA)
        page.locator("main [name=password]").fill(PASSWORD)
        send(page, "password")

    def scans(self, page: Page) -> None:
        """Type the key into the app: it stands below the picture, for whoever cannot scan."""
        page.locator("details.more summary").click()
        expect(page.locator(".qr svg path")).to_be_visible()
        self.app = pyotp.TOTP(page.locator(".key").inner_text().replace(" ", ""))

    def types_code(self, page: Page) -> None:
        assert self.app is not None
        page.locator("[name=code]").fill(self.app.at(self.world.house.clock.now()))
        send(page, "code")

    def enrols(self, page: Page) -> list[str]:
        """Sign in for the first time; return the codes on paper."""
        self.signs_in(page)
        self.scans(page)
        self.types_code(page)
        page.wait_for_url("**/backup-codes?**")
        page.locator("main button[type=submit]").click()
        codes = page.locator(".paper code").all_inner_texts()
        page.locator(".actions a").click()
        page.wait_for_url(AT_THE_SHOP)
        self.world.house.clock.advance(seconds=30)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
        return codes


def send(page: Page, name: str) -> None:
    page.locator(f"main form:has([name={name}]:visible) button[type=submit]").last.click()


@pytest.fixture
def ada(world: World, served: str) -> Ada:
    return Ada(world, served)


@HOW
def test_it_is_enrolled_on_the_way_and_asked_from_then_on(ada: Ada, opened: Opened, how: dict[str, object]) -> None:
    codes = ada.enrols(opened(**how))
    assert len(codes) == 10
    page = opened(**how)
    ada.signs_in(page)
    ada.types_code(page)
    page.wait_for_url(AT_THE_SHOP)


@HOW
def test_whoever_lost_the_phone_takes_a_code_from_the_paper(ada: Ada, opened: Opened, how: dict[str, object]) -> None:
    codes = ada.enrols(opened(**how))
    page = opened(**how)
    ada.signs_in(page)
    page.locator(".aside a[href*=choose]").click()
    page.locator("button[value=backup_code]").click()
    page.locator("[name=backup_code]").fill(codes[3])
    send(page, "backup_code")
    page.wait_for_url(AT_THE_SHOP)


def test_a_reset_does_not_go_around_it(ada: Ada, opened: Opened) -> None:
    ada.enrols(opened())
    page = opened()
    ada.comes(page).locator("main a[href*='/forgot-password']").first.click()
    page.locator("main [name=identifier]").fill(ADA)
    send(page, "identifier")
    page.wait_for_url("**/forgot-password/sent?**")
    mail = mailed_to(ada.world.house, ada.world.tenant_id, ADA)[-1]
    page.goto(link_in(mail).replace(ada.world.house.settings.hub_url(ada.world.name), ada.served))
    page.locator("main [name=password]").fill(NEW)
    send(page, "password")
    page.wait_for_url(re.compile("/second-factor"))
    ada.types_code(page)
    page.wait_for_url(AT_THE_SHOP)
