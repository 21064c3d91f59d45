"""Sign-up with a passkey or a password in Chromium: one way at a time, the password alone where no passkey can be used."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers import page_samples
from tests.support.browsers.chromium import Opened
from tests.support.oauth.world import NewWorld, World

EMAIL, PASSWORD = "grace@example.test", "Zebra-kettle-91"
NO_WEBAUTHN = "delete window.PublicKeyCredential"
SAMPLE = ("PasskeyRegisterPage", "with a passkey", "en")


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passkeys=True)


def filled_buttons(page: Page) -> list[str]:
    """Return the names of the visible filled buttons, of which a page has one."""
    return [
        button.inner_text() for button in page.locator("main .button:not(.button--plain)").all() if button.is_visible()
    ]


def send_password(page: Page, password: str) -> None:
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Create account").click()


def test_password_takes_the_place_of_the_passkey(world: World, served: str, opened: Opened) -> None:
    page = opened()
    page.goto(f"{served}/register")
    assert filled_buttons(page) == ["Continue with a passkey"]
    expect(page.locator("#password")).to_be_hidden()
    page.get_by_text("Use a password instead").click()
    expect(page.locator("#password")).to_be_focused()
    assert filled_buttons(page) == ["Create account"]
    send_password(page, "short")
    expect(page.locator("#password-problem")).to_be_visible()
    assert filled_buttons(page) == ["Create account"], "a refused password stays open"
    send_password(page, PASSWORD)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")


def test_passkey_comes_back(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address(*SAMPLE))
    page.get_by_text("Use a password instead").click()
    page.get_by_text("Use a passkey instead").click()
    assert filled_buttons(page) == ["Continue with a passkey"]


def test_password_is_there_without_scripts(world: World, served: str, opened: Opened) -> None:
    page = opened(java_script_enabled=False)
    page.goto(f"{served}/register")
    assert filled_buttons(page) == ["Create account"]
    expect(page.get_by_text("instead")).to_have_count(2)
    for text in page.get_by_text("instead").all():
        expect(text).to_be_hidden()
    send_password(page, PASSWORD)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")


def test_password_is_there_without_webauthn(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.add_init_script(NO_WEBAUTHN)
    page.goto(gallery_address + page_samples.address(*SAMPLE))
    expect(page.get_by_label("Password", exact=True)).to_be_visible()
    assert filled_buttons(page) == ["Create account"]
    expect(page.locator("main summary")).to_be_hidden()
