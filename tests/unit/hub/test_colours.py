"""Text keeps its contrast on any brand colour of a tenant."""

import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.hub.tenants.branding import PageBranding, tone_of
from app.kit.design.colour import BLACK, WHITE, Colour, NotAColour
from app.kit.design.palette import SHAPE, TEXT
from app.kit.package_files import HOME as ROOT

COLOURS = st.builds(Colour, *(st.integers(0, 255),) * 3)
HUES = [
    Colour.from_oklch(lightness / 20, chroma, hue)
    for lightness in range(2, 20)
    for chroma, hue in [(0, 0), *((0.25, hue) for hue in range(0, 360, 24))]
]
"""288 brands: every hue at every lightness, as colourful as sRGB is, and the greys."""
MODES = pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
SCENES = pytest.mark.parametrize("scene", ["dusk", "daylight"])
YELLOW = Colour.parse("#ffd400")


def tokens(colour: Colour, scene: str = "dusk", mode: int = 0) -> dict[str, Colour]:
    """The tokens as a browser would read them in a mode."""
    light, dark = PageBranding("X", str(colour), scene=scene).tokens.split("@media(prefers-color-scheme:dark)")
    found = re.findall(r"(--[\w-]+):(#[0-9a-f]{3,8})", light + dark * mode)
    return {name: Colour.parse(value[:7]) for name, value in found}


def check_contrast(colour: Colour, scene: str, mode: int) -> None:
    drawn = tokens(colour, scene, mode)
    pairs = [("--on-brand", ground, TEXT) for ground in ("--brand", "--brand-hover")]
    pairs += [(text, ground, TEXT) for text in ("--ink", "--muted", "--link") for ground in GROUNDS]
    pairs += [("--line", ground, SHAPE) for ground in ("--canvas", "--raised")]
    pairs += [("--ink", "--face", TEXT), ("--s-ink", "--g0", TEXT)]
    for text, ground, least in pairs:
        found = drawn[text].contrast(drawn[ground])
        assert found >= least, f"{text} on {ground} for {colour}: {found:.2f}"


GROUNDS = ("--canvas", "--raised", "--surface", "--tint")


@MODES
@SCENES
def test_every_hue_and_lightness_has_contrast(scene: str, mode: int) -> None:
    assert len(HUES) >= 260
    for colour in HUES:
        check_contrast(colour, scene, mode)


@given(COLOURS, st.sampled_from(["dusk", "daylight"]), st.sampled_from([0, 1]))
@example(WHITE, "dusk", 0)
@example(BLACK, "daylight", 1)
@example(Colour.parse("#777777"), "dusk", 0)
@example(YELLOW, "dusk", 1)
def test_any_brand_has_contrast(colour: Colour, scene: str, mode: int) -> None:
    check_contrast(colour, scene, mode)


@MODES
def test_bright_brand_is_its_own_button_with_dark_text(mode: int) -> None:
    drawn = tokens(YELLOW, mode=mode)
    assert drawn["--brand"] == YELLOW
    assert drawn["--on-brand"].luminance < 0.02


@MODES
@pytest.mark.parametrize("text", ["#ffd400", "#ffff00", "#ffb000", "#f5c518"])
def test_yellow_never_turns_brown(text: str, mode: int) -> None:
    """Brown is yellow's hue, dark and colourful."""
    for name, shade in tokens(Colour.parse(text), "dusk", mode).items():
        lightness, chroma, hue = shade.oklch
        is_brown = 0.22 < lightness < 0.72 and chroma > 0.045 and 40 < hue % 360 < 120
        assert not is_brown, f"{name}: {shade} {lightness:.2f} {chroma:.3f}"


def test_bright_brand_is_always_in_daylight() -> None:
    assert tokens(YELLOW, "dusk")["--g0"] == tokens(YELLOW, "daylight")["--g0"]
    assert tokens(YELLOW)["--g5"] == YELLOW


def test_white_brand_has_a_button_and_rings_that_are_seen() -> None:
    drawn = tokens(WHITE)
    assert drawn["--brand"].contrast(WHITE) > 10
    assert drawn["--g4"].contrast(WHITE) > 1.2
    assert tokens(WHITE, mode=1)["--brand"] == WHITE


def test_dark_brand_may_choose_daylight() -> None:
    indigo = Colour.parse("#3c4bdc")
    assert tokens(indigo, "dusk")["--g0"].luminance < 0.05
    assert tokens(indigo, "daylight")["--g0"].luminance > 0.8


def test_colour_with_enough_contrast_is_unchanged() -> None:
    drawn = tokens(Colour.parse("#3c4bdc"))
    assert str(drawn["--brand"]) == str(drawn["--link"]) == "#3c4bdc"


@pytest.mark.parametrize("text", ["red", "#12", "#12345g", "3c4bdc", "#3c4bdc;}body{", "url(x)", ""])
def test_invalid_colour_is_refused(text: str) -> None:
    with pytest.raises(NotAColour):
        Colour.parse(text)


@pytest.mark.parametrize("colour", [WHITE, BLACK, YELLOW, Colour.parse("#3c4bdc")])
def test_mix_starts_at_one_colour_and_ends_at_the_other(colour: Colour) -> None:
    assert colour.mixed(BLACK, 0) == colour
    assert colour.mixed(BLACK, 1) == BLACK
    assert math.isclose(colour.mixed(BLACK, 0.5).oklch[0], colour.oklch[0] / 2, abs_tol=0.01)


@MODES
def test_state_colours_have_contrast_on_every_ground(mode: int) -> None:
    css = (ROOT / "static/css/tokens.css").read_text()
    light, dark = css.split("@media (prefers-color-scheme: dark)")
    found = re.findall(r"(--[\w-]+): (#\w+);", light + dark * mode)
    state = {name: Colour.parse(value) for name, value in found}
    for name in ("--danger", "--ok", "--warn"):
        assert state[name].contrast(state[f"{name}-ground"]) >= TEXT
        for colour in HUES[::7]:
            drawn = tokens(colour, mode=mode)
            assert all(state[name].contrast(drawn[ground]) >= TEXT for ground in ("--canvas", "--raised", "--surface"))


TILES = {
    tone: Colour.parse(colour)
    for tone, colour in re.findall(
        r"^\.tile--(\w+) { background: (#\w+)", (ROOT / "static/css/parts.css").read_text(), flags=re.MULTILINE
    )
}
"""The colours of tiles without a logo, by the name of their class."""


@pytest.mark.parametrize("brand", [colour for colour in HUES if colour.oklch[1] > 0.05], ids=str)
def test_tile_beside_a_brand_has_another_hue(brand: Colour) -> None:
    tones = {tone_of(f"App {number}", beside=str(brand)) for number in range(40)}
    assert len(tones) > 1
    for tone in tones:
        assert abs((TILES[tone].oklch[2] - brand.oklch[2] + 180) % 360 - 180) > 50, tone


def test_tile_has_the_colour_of_its_text_alone() -> None:
    assert {tone_of(f"App {number}") for number in range(40)} == set(TILES)
