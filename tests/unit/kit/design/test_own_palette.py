"""Colors that a theme sets itself: refused where they are hard to see, and readable whatever levels are merged."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kit.design.colour import Colour
from app.kit.design.colour_tokens import COLOUR_TOKENS
from app.kit.design.own_palette import MODES, OWN_NAMES, OwnColours, colour_problems, own_palette
from app.kit.design.palette import palette

BRAND = "#3b49d9"
COLOURS = st.builds(lambda *channels: str(Colour(*channels)), *(st.integers(0, 255),) * 3)
OWN = st.lists(
    st.tuples(st.sampled_from(MODES), st.sampled_from(OWN_NAMES), COLOURS), max_size=8, unique_by=lambda each: each[:2]
)
_WRITE = re.compile(r"found .*?(#[0-9a-f]{6}): write (#[0-9a-f]{6})")


def weak_pairs(shades: dict[str, tuple[Colour, Colour]]) -> list[str]:
    """Return the texts of a palette below their contrast, beside those of states that the style sheet has."""
    return [
        f"{MODES[at]}: {name} on {on}"
        for name, token in COLOUR_TOKENS.items()
        for on in token.on
        for at in (0, 1)
        if {f"--{name}", f"--{on}"} <= shades.keys()
        and shades[f"--{name}"][at].contrast(shades[f"--{on}"][at]) < token.least
    ]


@settings(max_examples=40)
@given(COLOURS, OWN)
def test_texts_are_readable_whatever_is_set(brand: str, own: list[tuple[str, str, str]]) -> None:
    computed = {*weak_pairs(palette(brand))}
    assert {*weak_pairs(own_palette(brand, "", "", tuple(own)))} <= computed


@settings(max_examples=40)
@given(COLOURS, OWN)
def test_palette_has_the_colors_of_a_theme_without_problems(brand: str, own: list[tuple[str, str, str]]) -> None:
    found = own_palette(brand, "", "", tuple(own))
    if not [*colour_problems(brand, "", "", tuple(own))]:
        for mode, name, value in own:
            if f"--{name}" in found:  # a color of states that is as in the style sheet is not
                assert str(found[f"--{name}"][MODES.index(mode)]) == value


@settings(max_examples=40)
@given(st.sampled_from(MODES), st.sampled_from(OWN_NAMES), COLOURS)
def test_written_color_passes(mode: str, name: str, value: str) -> None:
    for problem in colour_problems(BRAND, "", "", ((mode, name, value),)):
        match = _WRITE.search(problem.expected)
        assert match
        assert match[1] == value
        assert [*colour_problems(BRAND, "", "", ((mode, name, match[2]),))] == []


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ((("light", "link", "#88aaff"),), "at least 4.5:1 with surface (#f6f7fb); found 2.12:1 for #88aaff"),
        ((("dark", "line", "#222222"),), "at least 3:1 with surface"),
        ((("dark", "brand", "#27e8d5"), ("dark", "on-brand", "#ffffff")), "with brand (#27e8d5)"),
        (
            (("light", "raised", "#222222"),),
            "a color on which texts can be readable as on the other backgrounds; found #222222",
        ),
        ((("light", "danger", "#ff9999"),), "with"),
    ],
)
def test_weak_color_is_named_with_the_nearest_that_passes(own: OwnColours, words: str) -> None:
    (problem,) = colour_problems(BRAND, "", "", own)
    assert words in problem.expected
    assert (problem.mode, problem.name) == own[-1][:2]


def test_theme_without_own_colors_has_the_computed_ones() -> None:
    assert own_palette(BRAND, "#faf6ee", "#17130f", ()) == palette(BRAND, "#faf6ee", "#17130f")


def test_other_mode_stays_as_computed() -> None:
    found = own_palette(BRAND, "", "", (("dark", "raised", "#1c2030"),))
    computed = palette(BRAND)
    assert {name: pair[0] for name, pair in found.items()} == {name: pair[0] for name, pair in computed.items()}
    assert str(found["--raised"][1]) == "#1c2030"
