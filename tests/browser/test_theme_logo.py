"""A tenant's logo in Chromium: it has one height in light and dark mode, even if its file states no size."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.support.browsers.chromium import Opened
from tests.support.oauth.world import World


def logo(colour: str, width: int) -> str:
    """An SVG that has only a viewBox."""
    shape = f"<rect width='{width}' height='65' fill='{colour}'/>"
    return "data:image/svg+xml," + quote(
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} 65'>{shape}</svg>"
    )


@pytest.mark.parametrize(("width", "has_dark"), [(300, True), (300, False), (3000, True)])
def test_logo_without_a_size_is_28_pixels_high(
    world: World, served: str, opened: Opened, width: int, has_dark: bool
) -> None:
    dark = {"logo_dark": logo("orange", width)} if has_dark else {}
    world.change_brand(display_name="Hazel Gardens", logo=logo("teal", width), **dark)
    page = opened(color_scheme="dark")
    for screen in (1280, 320):
        page.set_viewport_size({"width": screen, "height": 800})
        page.goto(f"{served}/login")
        box = page.locator(".mark img").bounding_box()
        assert box is not None
        assert box["height"] == pytest.approx(28, abs=0.5)
        assert box["width"] == pytest.approx(min(28 * width / 65, 200, screen * 0.4), abs=1)
        assert page.evaluate("document.documentElement.scrollWidth") <= screen
