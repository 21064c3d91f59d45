"""The sign-up page in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def type_new_account(page: Page, email: str, password: str) -> None:
    """Type an email and a password, which a script hides where a passkey can take its place."""
    expect(page.get_by_role("heading", level=1)).to_have_text("Create your account")
    page.locator("main [name=email]").fill(email)
    switch = page.get_by_text("Use a password instead")
    if switch.is_visible():
        switch.click()
    page.locator("main [name=password]").fill(password)
