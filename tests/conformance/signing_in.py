"""A person at a relying party in Chromium, who signs in on the provider's pages."""

from playwright.sync_api import Page

from tests.conformance.provider import PASSWORD

EMAIL = "ada@example.com"


def sign_in(page: Page) -> None:
    """Fill in the login page that the relying party opened."""
    page.wait_for_url("**/login**")
    page.locator("main input[name=identifier]").fill(EMAIL)
    password = page.locator("main input[name=password]")
    password.fill(PASSWORD)
    password.press("Enter")
