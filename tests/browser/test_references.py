"""The ID that people tell support is one line that runs from left to right, on each page that shows it, in every look."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browsers import page_samples, theme_samples

SHOWN_ON = (
    ("LoginPage", "provider not verified"),
    ("IdentitiesPage", "after refused"),
    ("StartAgainPage", "after a provider"),
    ("CookiesBlockedPage", "after a provider"),
    ("ErrorPage", "403"),
)
LANGUAGES = ("en", "de", "ar")
WIDTHS = (390, 320)
LINES = """() => [...document.querySelectorAll('bdi[translate=no]')].map(shown => {
    const text = document.createRange();
    text.selectNodeContents(shown);
    const tops = [...text.getClientRects()].map(line => Math.round(line.top));
    return [shown.textContent, new Set(tops).size, getComputedStyle(shown).direction];
})"""
"""For each ID of a page: its text, the number of its lines and its direction."""


def faults(page: Page, addresses: dict[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, address in addresses.items():
        page.goto(address)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            lines = page.evaluate(LINES)
            if not lines or any(line[1:] != [1, "ltr"] for line in lines):
                found[f"{name} at {width}"] = lines
    return found


def test_pages_show_the_id_in_one_line(chromium: Browser, gallery_address: str) -> None:
    addresses = {
        f"{name} {language}": f"{gallery_address}{page_samples.address(name, state, language)}"
        for name, state in SHOWN_ON
        for language in LANGUAGES
    }
    page = chromium.new_page()
    assert faults(page, addresses) == {}
    page.close()


@pytest.mark.parametrize("theme", theme_samples.THEMES)
def test_themes_show_the_id_in_one_line(chromium: Browser, theme_address: Callable[[str], str], theme: str) -> None:
    addresses = {
        f"{name} {language}": f"{theme_address(theme)}{theme_samples.address(name, state, language)}"
        for name, state in SHOWN_ON
        for language in LANGUAGES
    }
    page = chromium.new_page()
    assert faults(page, addresses) == {}
    page.close()
