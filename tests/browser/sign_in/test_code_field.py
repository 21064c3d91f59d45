"""The code field in Chromium, on pages of the gallery, which answers a post with 204: the page stays."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsers import page_samples
from tests.support.browsers.chromium import Opened

PASTE = """(field, text) => {
  const data = new DataTransfer()
  data.setData("text", text)
  field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}))
}"""


@pytest.fixture
def page(opened: Opened, gallery_address: str) -> Page:
    page = opened()
    page.goto(gallery_address + page_samples.address("SecondFactorPage", "totp, enrolled", "en"))
    return page


@pytest.fixture
def field(page: Page) -> Locator:
    return page.get_by_label("6-digit code")


@pytest.fixture
def sent(page: Page) -> list[str]:
    """The bodies of the forms that the page sent."""
    bodies: list[str] = []
    page.on("request", lambda request: bodies.append(request.post_data or "") if request.method == "POST" else None)
    return bodies


def test_last_digit_submits_a_code_once(page: Page, field: Locator, sent: list[str]) -> None:
    field.press_sequentially("12345")
    assert sent == []
    field.press_sequentially("6")
    expect(page.get_by_role("button", name="Verifying…")).to_be_visible()
    field.press_sequentially("7")
    field.press("Backspace")
    page.get_by_role("button", name="Verifying…").click()
    assert len(sent) == 1
    assert "code=123456" in sent[0]
    assert "do=prove" in sent[0]


@pytest.mark.parametrize("text", ["123 456", " 123-456\n", "Your code: 123456"])
def test_pasted_code_is_submitted_without_the_rest(page: Page, field: Locator, sent: list[str], text: str) -> None:
    field.evaluate(PASTE, text)
    expect(page.get_by_role("button", name="Verifying…")).to_be_visible()
    assert ["code=123456" in body for body in sent] == [True]


def test_caps_lock_is_named_at_the_password(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("LoginPage", "fresh", "en"))
    field, hint = page.locator("main [name=password]"), page.get_by_text("Caps lock is on")
    expect(hint).to_be_hidden()
    field.dispatch_event("keyup", {"modifierCapsLock": True})
    expect(hint).to_be_visible()
    field.dispatch_event("keyup", {"modifierCapsLock": False})
    expect(hint).to_be_hidden()
