"""Mails follow the look of a tenant: radius, fonts and grounds, with contrast in light and in dark mode."""

from __future__ import annotations

import re
from itertools import cycle

import pytest

from app.commands.theme.folder import read_theme
from app.contract.tenants.branding import Brand
from app.identity.messaging import gallery, rendering
from app.identity.messaging.message import Branding, RenderedMessage
from app.identity.messaging.rendering import element_styles
from app.identity.messaging.samples import EMAIL_SAMPLES
from app.kit.design.colour import Colour
from app.kit.package_files import HOME
from app.kit.text.languages import LANGUAGES
from tests.support.browsers.page_checkers import html_problems

THEMES = sorted(path.parent for path in (HOME / "examples" / "themes").glob("*/theme.yaml"))
OF_PAGES = ("no-inline-style", "no-deprecated-attr", "prefer-native-element", "presentation-role-style", "prefer-tbody")
"""Rules for pages alone: mail programs ignore style sheets and new elements, and Outlook reads attributes such as `bgcolor`."""


def mail(**brand: object) -> RenderedMessage:
    return gallery.mail(Branding("Acme", Brand.model_validate(brand)), LANGUAGES["en"], "reset", "link and code")


def radii(message: RenderedMessage) -> dict[str, int]:
    """Return the radius in px by the class of the element."""
    found = re.findall(r'class="(\w+)"[^>]*?border-radius:(\d+)px', message.html)
    return {name: int(radius) for name, radius in found if name != "gate"}


@pytest.mark.parametrize(
    ("brand", "expected"),
    [
        ({}, {"tile": 9, "card": 16, "fill": 10, "code": 12}),
        ({"radius_px": 0}, {"tile": 0, "card": 0, "fill": 0, "code": 0}),
        ({"radius_px": 24}, {"tile": 18, "card": 32, "fill": 24, "code": 24}),
        ({"radius_px": 20, "button_shape": "pill"}, {"tile": 18, "card": 32, "fill": 99, "code": 24}),
    ],
)
def test_corners_follow_the_radius(brand: dict[str, object], expected: dict[str, int]) -> None:
    assert radii(mail(**brand)) == expected
    styles = element_styles(Branding("Acme", Brand.model_validate(brand)))
    assert f"border-radius:{expected['code']}px" in styles["code"]
    assert f"border-radius:{expected['fill']}px" in styles["button"]


@pytest.mark.parametrize(("colour", "has_line"), [("#14442f", False), ("#b3261e", False), ("#ffd400", True)])
def test_button_has_a_line_only_where_its_fill_is_hard_to_see(colour: str, has_line: bool) -> None:
    (style,) = re.findall(r'class="fill"[^>]*style="([^"]*)"', mail(color=colour).html)
    fill, line = re.findall(r"#[0-9a-f]{6}", style)
    assert (fill != line) == has_line


def test_text_has_the_fonts_of_the_theme() -> None:
    message = mail(font="C059, 'Century Schoolbook', Georgia, serif")
    assert set(re.findall(r"font-family:([^;]+);", message.html)) == {"C059,Century Schoolbook,Georgia,serif"}
    assert (
        "font-family:C059,Century Schoolbook"
        in element_styles(Branding("Acme", Brand(font="C059, 'Century Schoolbook'")))["p"]
    )


def test_text_of_an_own_layout_has_the_fonts_too() -> None:
    layout = {"mails/layout.html": "<p>Own words</p>{{ content() }}{{ reason() }}"}
    html = mail(font="Georgia, serif", templates=layout).html
    around = html.partition("Own words")[0].rpartition('<div class="ground ink"')[2]
    assert "font-family:Georgia,serif;" in around


def test_ground_is_that_of_the_pages() -> None:
    html = mail(background="#faf7f0", background_dark="#101511").html
    assert re.search(r'<body class="ground" style="[^"]*background:#faf7f0"', html)
    assert ".ground { background: #101511 !important }" in html
    assert "#faf7f0" not in mail().html


@pytest.mark.parametrize(("scheme", "ground"), [("dark", "#101511"), ("light", "#faf7f0")])
def test_mail_of_one_mode_has_its_colors_in_both(scheme: str, ground: str) -> None:
    html = mail(background="#faf7f0", background_dark="#101511", color_scheme=scheme).html
    assert f'<meta name="color-scheme" content="{scheme}">' in html
    assert re.search(rf'<body class="ground" style="[^"]*background:{ground}"', html)
    assert f".ground {{ background: {ground} !important }}" in html


def test_single_colors_are_those_of_the_pages() -> None:
    html = mail(colors={"light": {"raised": "#fff8e6"}, "dark": {"link": "#ffd27a"}}).html
    assert 'class="card" style="background:#fff8e6' in html
    assert ".link { color: #ffd27a !important }" in html


@pytest.mark.parametrize(("scheme", "logo"), [("auto", "light"), ("light", "light"), ("dark", "dark")])
def test_logo_is_that_of_the_mode(scheme: str, logo: str) -> None:
    html = mail(color_scheme=scheme, logo="https://a.example/light.png", logo_dark="https://a.example/dark.png").html
    assert f'<img src="https://a.example/{logo}.png"' in html
    assert ("<picture>" in html) == (scheme == "auto")


@pytest.mark.parametrize("colour", ["#3b49d9", "#ffd400", "#7fdb3c", "#000000", "#ffffff", "#c8102e"])
@pytest.mark.parametrize("grounds", [("#ffffff", "#000000"), ("#f4e8d0", "#2b1d14"), ("#e4eefc", "#101a2b")])
def test_text_has_contrast_on_own_grounds(colour: str, grounds: tuple[str, str]) -> None:
    shades = rendering._shades(rendering._Colours(colour, *grounds))
    for text, ground in (
        ("ink", "card"),
        ("muted", "card"),
        ("muted", "ground"),
        ("ink", "note"),
        ("on_brand", "brand"),
    ):
        for mode in (0, 1):
            contrast = Colour.parse(shades[text][mode]).contrast(Colour.parse(shades[ground][mode]))
            assert contrast >= 4.5, (text, ground, mode)


def test_mails_of_the_example_themes_are_valid() -> None:
    documents, tags = {}, cycle(LANGUAGES.values())
    for folder in THEMES:
        brand = read_theme(folder).brand
        branding = Branding(brand.display_name or "Acme", brand, "https://login.example")
        for kind, states in EMAIL_SAMPLES.items():
            language, state = next(tags), next(iter(states))
            message = gallery.mail(branding, language, kind.name.lower(), state)
            assert message.failure is None, (folder, kind)
            documents[f"{folder.name} {kind} {language.tag}"] = message.html
    found = html_problems(documents)
    assert not [problem for problem in found if not any(f" {rule}: " in problem for rule in OF_PAGES)]
