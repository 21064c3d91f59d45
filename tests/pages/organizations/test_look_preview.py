"""The settings of an organization show its look before it is saved, and whether text on its color is readable."""

from __future__ import annotations

import pytest

from tests.support.journeys.organization_members import Members
from tests.support.visitors.visitor import VisitedPage

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # nothing is stored


def settings(members: Members) -> VisitedPage:
    return members.open("/settings", id=members.org)


def test_preview_shows_what_is_not_saved(members: Members) -> None:
    typed = {"name": "gardens", "display_name": "Gardens & Sons", "color": "#c2410c"}
    page = settings(members).press("Preview", **typed)
    assert (page.status, page.topic) == (200, "Settings for Globex Gardens")
    assert "Sign in to Gardens & Sons" in page.text
    assert ".preview figure,.upload .tile{--canvas:" in page.html
    assert all(f'value="{value}"' in page.html.replace("&amp;", "&") for value in typed.values()), (
        "what was typed is kept"
    )
    assert "Gardens & Sons" not in settings(members).text


@pytest.mark.parametrize(("color", "sentence"), [
    ("#c2410c", "White text on it reads well: contrast 5.1:1."),
    (" #F2B705 ", "Dark text on it reads well: contrast 9.9:1."),
    ("#3f9f6f", "White text is hard to read on it (3.2:1). Buttons use #158052 instead (4.9:1)."),
    ("#777777", "White text is hard to read on it (4.4:1)."),
    ("#ffffff", "White text is hard to read on it (1.0:1)."),
    ("", "Default: the color of"),
])  # fmt: skip
def test_preview_judges_text_on_the_color(members: Members, color: str, sentence: str) -> None:
    assert sentence in settings(members).press("Preview", color=color).text


def test_preview_of_a_wrong_color_explains_it(members: Members) -> None:
    page = settings(members).press("Preview", color="green")
    assert (page.status, "Enter a color such as #0b7a5b." in page.text) == (422, True)
    assert "Sign in to Globex Gardens" in page.text


def test_script_cannot_leave_the_style_of_the_head(members: Members) -> None:
    for name in ("}</style><script>", "%(css)s{{ 7*7 }}"):
        page = settings(members).press("Preview", display_name=name, color="#123456")
        assert "<script>" not in page.html
        assert page.html.count("<style") == 1


def test_color_like_the_tenants_own_is_not_offered_twice(members: Members) -> None:
    page = settings(members)
    assert 'data-color="#0a7d55"' in page.html
    assert 'data-color="#3f4bdc"' not in page.html
