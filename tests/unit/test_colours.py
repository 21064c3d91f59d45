"""Text keeps its contrast on any brand colour of a tenant."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.hub.brand import Brand
from app.kit.colour import BLACK, WHITE, Colour, NotAColour
from app.kit.palette import DARK_GROUNDS, LIGHT_GROUNDS, SHAPE, TEXT, scene
from app.settings import ROOT

COLOURS = st.builds(Colour, *(st.integers(0, 255),) * 3)


def tokens(colour: Colour) -> dict[str, tuple[Colour, Colour]]:
    """The tokens as a browser would read them: (light, dark)."""
    css = Brand("X", str(colour)).tokens
    plain = dict(re.findall(r"(--[\w-]+):(#[0-9a-f]{6});", css))
    paired = {name: (light, dark) for name, light, dark in re.findall(r"(--[\w-]+):light-dark\((#\w+),(#\w+)\)", css)}
    both = {name: paired.get(name, (value, value)) for name, value in plain.items()}
    return {name: (Colour.parse(light), Colour.parse(dark)) for name, (light, dark) in both.items()}


@given(COLOURS)
@example(WHITE)
@example(BLACK)
@example(Colour.parse("#777777"))
@example(Colour.parse("#ffd400"))
def test_every_brand_has_contrast_in_light_and_dark(colour: Colour) -> None:
    drawn = tokens(colour)
    for mode, grounds in enumerate((LIGHT_GROUNDS, DARK_GROUNDS)):
        on_brand = drawn["--on-brand"][mode]
        assert on_brand.contrast(drawn["--brand"][mode]) >= TEXT
        assert on_brand.contrast(drawn["--brand-hover"][mode]) >= TEXT
        for ground in grounds:
            assert drawn["--link"][mode].contrast(ground) >= TEXT
            assert drawn["--edge"][mode].contrast(ground) >= SHAPE


@given(COLOURS)
def test_white_text_has_contrast_on_the_scene(colour: Colour) -> None:
    shades = scene(colour)
    assert shades["--sky"].contrast(WHITE) >= 7
    assert shades["--ember"].contrast(WHITE) >= 6
    assert shades["--floor"].contrast(WHITE) >= 12


def test_light_brand_colour_gets_dark_text_in_both_modes() -> None:
    light, dark = tokens(Colour.parse("#ffd400"))["--on-brand"]
    assert light == dark
    assert light.luminance < 0.02


def test_colour_with_enough_contrast_is_unchanged() -> None:
    drawn = tokens(Colour.parse("#3c4bdc"))
    assert str(drawn["--brand"][0]) == str(drawn["--link"][0]) == "#3c4bdc"


@pytest.mark.parametrize("text", ["red", "#12", "#12345g", "3c4bdc", "#3c4bdc;}body{", "url(x)", ""])
def test_invalid_colour_is_refused(text: str) -> None:
    with pytest.raises(NotAColour):
        Colour.parse(text)


def test_contrast_is_measured_against_the_style_sheet() -> None:
    css = (ROOT / "static/css/tokens.css").read_text()
    pairs = {name: (light, dark) for name, light, dark in re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\)", css)}
    assert tuple(str(ground) for ground in LIGHT_GROUNDS) == (pairs["--canvas"][0], pairs["--surface"][0])
    assert tuple(str(ground) for ground in DARK_GROUNDS) == (pairs["--canvas"][1], pairs["--surface"][1])


def test_neutral_tokens_have_contrast() -> None:
    css = (ROOT / "static/css/tokens.css").read_text()
    found = re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\)", css)
    for mode in (0, 1):
        shade = {name: Colour.parse((light, dark)[mode]) for name, light, dark in found}
        for ground in (shade["--canvas"], shade["--surface"]):
            assert shade["--ink"].contrast(ground) >= 7
            assert shade["--muted"].contrast(ground) >= TEXT
            assert shade["--line"].contrast(ground) >= SHAPE
            assert shade["--danger"].contrast(ground) >= TEXT
        assert shade["--danger"].contrast(shade["--danger-ground"]) >= TEXT
        assert shade["--ok"].contrast(shade["--ok-ground"]) >= TEXT
        assert shade["--ink"].contrast(shade["--note-ground"]) >= 7
