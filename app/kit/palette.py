"""Derives the shades of a brand colour, with measured contrast, for pages and emails."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from app.kit.colour import WHITE, Colour

TEXT: Final = 4.5
"""Minimum contrast of text (WCAG 2.2, 1.4.3)."""
SHAPE: Final = 3.0
"""Minimum contrast of the edge of a control (WCAG 2.2, 1.4.11)."""

INK: Final = Colour.parse("#15171c")
LIGHT_GROUNDS: Final = (Colour.parse("#ffffff"), Colour.parse("#f5f6f8"))
"""Canvas and surface in light mode, as in `static/css/tokens.css`; a page test keeps the two together."""
DARK_GROUNDS: Final = (Colour.parse("#171920"), Colour.parse("#20232c"))
"""Canvas and surface in dark mode."""


@lru_cache(maxsize=1024)
def palette(colour: str) -> dict[str, tuple[Colour, Colour]]:
    """Return the computed CSS tokens with their values in light and in dark mode."""
    brand = Colour.parse(colour)
    on_brand = WHITE if brand.contrast(WHITE) >= TEXT else INK
    if brand.contrast(on_brand) < TEXT:  # a middle grey: neither black nor white text is readable on it
        brand = brand.reaching(TEXT, WHITE)
        on_brand = WHITE
    edge = (brand.reaching(SHAPE, *LIGHT_GROUNDS), brand.reaching(SHAPE, *DARK_GROUNDS))
    link = (brand.reaching(TEXT, *LIGHT_GROUNDS), brand.reaching(TEXT, *DARK_GROUNDS))
    hover = _hover(brand, on_brand)
    return {
        "--brand": (brand, brand),
        "--brand-hover": (hover, hover),
        "--on-brand": (on_brand, on_brand),
        "--edge": edge,
        "--link": link,
        **{name: (shade, shade) for name, shade in scene(brand).items()},
    }


def _hover(brand: Colour, on_brand: Colour) -> Colour:
    """Return the hover shade: away from the text's lightness, or towards it if there is no room."""
    step = -0.055 if on_brand == WHITE else 0.055
    room = 0.1 < brand.lightness + step < 0.97
    return brand.with_lightness(brand.lightness + (step if room else -step)).reaching(TEXT, on_brand)


def scene(brand: Colour) -> dict[str, Colour]:
    """Return the four shades of the illustration beside the form; white text is readable on all but the glow."""
    return {
        "--sky": brand.with_lightness(0.39, chroma=0.95).reaching(7.0, WHITE),
        "--floor": brand.with_lightness(0.12, chroma=0.4),
        "--glow": brand.with_lightness(0.72, turn=-10, chroma=1.1),
        "--ember": brand.with_lightness(0.43, turn=32, chroma=0.62).reaching(6.0, WHITE),
    }
