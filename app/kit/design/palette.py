"""Derives the design tokens of a brand colour, with measured contrast, for pages and emails.

All shades are computed in OKLCH. Up to the lightness `BRIGHT` a brand's button is dark with white text; above, it is the
brand itself with dark text. A bright brand is never darkened and never text on a light ground: yellow would turn brown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.kit.design.colour import WHITE, Colour

TEXT: Final = 4.5
"""Minimum contrast of text (WCAG 2.2, 1.4.3)."""
SHAPE: Final = 3.0
"""Minimum contrast of the edge of a control (WCAG 2.2, 1.4.11)."""
BRIGHT: Final = 0.68
"""OKLCH lightness above which a brand is bright."""
_FILL: Final = 0.53
"""Lightness of a filled button: white text on it has the contrast `TEXT` in every hue."""

_PAPER: Final = 0.95
"""Lightness above which a brand without colour would vanish on white: its button is ink there."""
DARKEST_LIGHT_GROUND: Final = 0.92
"""Lowest OKLCH lightness of a tenant's own page ground in light mode: state colours keep their contrast on it."""
LIGHTEST_DARK_GROUND: Final = 0.27
"""Highest OKLCH lightness of a tenant's own page ground in dark mode."""

Pair = tuple[Colour, Colour]
"""A colour in light and in dark mode."""


@lru_cache(maxsize=1024)
def palette(colour: str, ground: str = "", dark_ground: str = "") -> dict[str, Pair]:
    """Return the computed CSS tokens with their values in light and in dark mode.

    Args:
        colour: the brand.
        ground: the tenant's own page ground in light mode; empty for white.
        dark_ground: the same in dark mode; empty for an almost black shade of the brand.
    """
    shades = _neutrals(colour)
    shades["--canvas"] = (
        Colour.parse(ground) if ground else shades["--canvas"][0],
        Colour.parse(dark_ground) if dark_ground else shades["--canvas"][1],
    )
    shades |= _brand(Colour.parse(colour), shades["--ink"][0])
    grounds = tuple(zip(shades["--canvas"], shades["--raised"], shades["--surface"], strict=True))
    for name, ratio in (("--line", SHAPE), ("--muted", TEXT), ("--link", TEXT)):
        light, dark = shades[name]
        shades[name] = (light.reaching(ratio, *grounds[0]), dark.reaching(ratio, *grounds[1]))
    return shades


@dataclass(frozen=True, slots=True)
class ButtonContrast:
    """The text of a button in light mode, on a brand and on the shade of it that fills the button."""

    text: Colour
    fill: Colour
    on_brand: float
    """Contrast ratio of the text with the brand itself."""
    on_fill: float
    """The same with the fill: at least `TEXT`."""

    @property
    def is_brand_readable(self) -> bool:
        """Whether the brand itself could be the ground of the text (WCAG 2.2, 1.4.3)."""
        return self.on_brand >= TEXT


def button_contrast(colour: str) -> ButtonContrast:
    """Return how the text of a button contrasts with a brand. Raises NotAColour."""
    brand, tokens = Colour.parse(colour), palette(colour)
    text, fill = tokens["--on-brand"][0], tokens["--brand"][0]
    return ButtonContrast(text, fill, text.contrast(brand), text.contrast(fill))


def is_bright(colour: str) -> bool:
    """Return whether a brand is bright: its scene is always daylight."""
    return Colour.parse(colour).oklch[0] > BRIGHT


def _neutrals(colour: str) -> dict[str, Pair]:
    """Return grounds, lines and text: the brand's hue at almost no chroma."""
    _, chroma, hue = Colour.parse(colour).oklch

    def grey(lightness: float, max_chroma: float) -> Colour:
        return Colour.from_oklch(lightness, min(chroma, max_chroma), hue)

    return {
        "--canvas": (WHITE, grey(0.178, 0.012)),
        "--raised": (WHITE, grey(0.212, 0.012)),
        "--surface": (grey(0.976, 0.005), grey(0.25, 0.014)),
        "--hairline": (grey(0.92, 0.007), grey(0.3, 0.014)),
        "--edge": (grey(0.86, 0.01), grey(0.38, 0.016)),
        "--line": (grey(0.655, 0.014), grey(0.56, 0.016)),
        "--muted": (grey(0.49, 0.018), grey(0.75, 0.014)),
        "--ink": (grey(0.2, 0.018), grey(0.968, 0.004)),
    }


def _brand(brand: Colour, ink: Colour) -> dict[str, Pair]:
    """Return the tokens of buttons, links and tinted grounds."""
    lightness, chroma, hue = brand.oklch
    fresh = lightness > BRIGHT
    on_brand = Colour.from_oklch(0.2, 0, 0) if fresh else WHITE
    is_paper = lightness > _PAPER and chroma < 0.03
    fill = ink if is_paper else brand if fresh else Colour.from_oklch(min(lightness, _FILL), chroma, hue)
    light_text = WHITE if is_paper else on_brand
    dark_fill = brand if fresh else Colour.from_oklch(_FILL, chroma, hue)
    link = (
        Colour.from_oklch(0.22, chroma * 0.1, hue)
        if fresh
        else Colour.from_oklch(max(0.22, min(lightness, 0.5)), chroma, hue)
    )
    return {
        "--brand": (fill, dark_fill),
        "--on-brand": (light_text, on_brand),
        "--brand-hover": (hover(fill, light_text), hover(dark_fill, on_brand)),
        "--link": (link, Colour.from_oklch(max(lightness, 0.78), min(chroma, 0.13), hue)),
        "--tint": (WHITE.mixed(brand, 0.06), Colour.from_oklch(0.255, min(chroma, 0.014 if fresh else 0.035), hue)),
        "--tint-line": (WHITE.mixed(brand, 0.34), Colour.from_oklch(0.48, min(chroma, 0.014 if fresh else 0.09), hue)),
        "--face": (WHITE.mixed(brand, 0.15), Colour.from_oklch(0.38, min(chroma, 0.014 if fresh else 0.09), hue)),
    }


def hover(fill: Colour, text: Colour) -> Colour:
    """Return the fill moved away from its text."""
    return fill.mixed(Colour.from_oklch(1.1 - text.oklch[0], 0, 0), 0.11)


@lru_cache(maxsize=1024)
def scene(colour: str, *, is_daylight: bool = False) -> dict[str, tuple[str, str]]:
    """Return the tokens of the drawing beside the form as CSS colours: its text, and seven shades from the ground to the brightest.

    Args:
        colour: the brand.
        is_daylight: a pale ground with the brand in the drawing, instead of a dark one. Bright brands have no other.
    """
    return _daylight(Colour.parse(colour)) if is_daylight or is_bright(colour) else _dusk(Colour.parse(colour))


def _dusk(brand: Colour) -> dict[str, tuple[str, str]]:
    """A dark ground with light in the drawing; the same in both modes."""
    lightnesses = (0.265, 0.33, 0.405, 0.52, 0.69, 0.84, 0.95)
    shares, turns = (0.6, 0.72, 0.86, 1, 0.76, 0.42, 0.16), (4, 2, 0, -4, -12, -20, -26)
    _, chroma, hue = brand.oklch
    shades = [
        Colour.from_oklch(lightness, chroma * share, hue + turn).short
        for lightness, share, turn in zip(lightnesses, shares, turns, strict=True)
    ]
    return {f"--g{number}": (shade, shade) for number, shade in enumerate(shades)} | {"--s-ink": ("#fff", "#fff")}


def _daylight(brand: Colour) -> dict[str, tuple[str, str]]:
    """A pale ground with the brand in the drawing; in dark mode a dark ground. The brand is never mixed with black."""
    lightness, chroma, hue = brand.oklch
    fresh = lightness > BRIGHT
    least, away, share = (0.97, 0.945, 0.91, 0.87, 0.8), (0.1, 0.22, 0.38, 0.56, 0.76), (0.17, 0.32, 0.5, 0.7, 0.9)
    shown = min(lightness, 0.86) if chroma < 0.03 else lightness  # the shades of white would be white
    light = [
        Colour.from_oklch(max(floor, 1 - (1 - shown) * part), chroma * strength, hue)
        for floor, part, strength in zip(least, away, share, strict=True)
    ]
    grounds = ((0.215, 0.02), (0.262, 0.03), (0.32, 0.045), (0.4, 0.065), (0.52, 0.09))
    # A bright hue at little lightness would be brown.
    dark = [Colour.from_oklch(item, min(chroma, 0.012 if fresh else most), hue) for item, most in grounds]
    light += [brand, Colour.from_oklch(lightness + (-0.06 if fresh else 0.05), chroma, hue - 16)]
    dark += [Colour.from_oklch(max(lightness, floor), chroma, hue) for floor in (0.72, 0.8)]
    ink = _neutrals(str(brand))["--ink"]
    return {
        **{f"--g{number}": (item.short, two.short) for number, (item, two) in enumerate(zip(light, dark, strict=True))},
        "--s-ink": (ink[0].short, ink[1].short),
    }
