"""A theme places the digits of a code, with the marks under them, in their field; on pages from right to left, too."""

from __future__ import annotations

import pytest

from tests.support.browsers import page_samples
from tests.support.browsers.chromium import Opened

MARKS = """field => {
    const style = getComputedStyle(field), box = field.getBoundingClientRect();
    const width = parseFloat(style.backgroundSize.match(/[\\d.]+px/)[0]), start = parseFloat(style.paddingLeft);
    return [start, box.width - start - width].map(Math.round).concat(style.backgroundOrigin.split(",")[0]);
}"""
"""The space at the left and at the right of the marks of a code's digits, and the box that their picture begins in."""


@pytest.mark.parametrize("width", [1280, 320])
@pytest.mark.parametrize(
    ("place", "language"), [("", "en"), ("0", "en"), ("1", "en"), ("", "ar"), ("0", "ar"), ("1", "ar")]
)
def test_theme_places_the_digits_of_a_code(
    opened: Opened, gallery_address: str, place: str, language: str, width: int
) -> None:
    page = opened()
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(gallery_address + page_samples.address("EmailCodePage", "sent", language))
    page.evaluate(f"document.documentElement.style.setProperty('--code-place', '{place}')")
    left, right, begins = page.locator(".digits").first.evaluate(MARKS)
    is_at_left = (place == "0") == (language == "en")
    assert begins == "content-box"
    if place:
        assert (left == 16, 12 <= right <= 18) == (is_at_left, not is_at_left)
    else:
        assert abs(left - right) <= 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
