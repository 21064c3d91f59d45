"""What a page copied."""

from __future__ import annotations

from playwright.sync_api import Page

_FIELD = "document.body.appendChild(document.createElement('textarea')).focus()"


def copied(page: Page) -> str:
    """Return the text of the clipboard, pasted by the keyboard: Chromium sometimes refuses scripts to read it, permitted or not."""
    page.evaluate(_FIELD)
    page.keyboard.press("Control+V")
    return str(page.evaluate("document.activeElement.value"))
