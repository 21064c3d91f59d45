"""A tenant's colour becomes the tokens of the stylesheet, each one measured.

The stylesheet knows only tokens. What is neutral stands in `static/css/tokens.css`; what follows from the tenant's
colour is computed here, for light and dark, and given to the page as a few declarations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from app.hub.colour import WHITE, Colour

TEXT: Final = 4.5
"""Contrast that text needs (WCAG 2.2, 1.4.3)."""
SHAPE: Final = 3.0
"""Contrast that the edge of a control needs (WCAG 2.2, 1.4.11)."""

INK: Final = Colour.parse("#15171c")
LIGHT_GROUNDS: Final = (Colour.parse("#ffffff"), Colour.parse("#f5f6f8"))
"""Canvas and surface in light mode, as in `static/css/tokens.css`; a page test keeps the two together."""
DARK_GROUNDS: Final = (Colour.parse("#171920"), Colour.parse("#20232c"))
"""Canvas and surface in dark mode."""

HOUSE_COLOUR: Final = "#3b4a6b"
MARK: Final = "M12 1 2 6.6V23h6.4v-7.2a3.6 3.6 0 0 1 7.2 0V23H22V6.6z"
"""The gate: the mark of a tenant that brings no logo, in a box of 24."""


@dataclass(frozen=True, slots=True)
class Brand:
    """What a tenant looks and sounds like. Texts are keyed by language; `""` is the one for all others."""

    name: str
    colour: str = HOUSE_COLOUR
    logo: str = ""
    """Address of the tenant's own mark on this host; empty for the gate."""
    radius_pixels: int = 12
    sentence: tuple[tuple[str, str], ...] = ()
    signature: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = field(default=())
    """What stands in the footer: `privacy`, `terms`, `help`, each with its address."""

    @property
    def tokens(self) -> str:
        """The declarations that the tenant's colour gives, for a style element of the page."""
        return _tokens(self.colour, self.radius_pixels)

    @property
    def icon(self) -> str:
        """The favicon as a data address, so that it costs no request."""
        fill = _palette(self.colour)["--brand"][0]
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="{fill}" d="{MARK}"/></svg>'
        return "data:image/svg+xml," + quote(drawing, safe=" ='/:")

    @property
    def initials(self) -> str:
        """One or two letters that stand for the name."""
        return initials(self.name)


def initials(name: str) -> str:
    """The first letters of the first and the last word; of an address, its first letter."""
    words = [word for word in name.split("@")[0].replace(".", " ").split() if word]
    picked = [words[0], words[-1]] if len(words) > 1 else words
    return "".join(word[0] for word in picked).upper()


def in_language(texts: tuple[tuple[str, str], ...], language: str) -> str:
    """The text for this language, else the one for all, else nothing."""
    table = dict(texts)
    return table.get(language, table.get("", ""))


@lru_cache(maxsize=1024)
def _palette(colour: str) -> dict[str, tuple[Colour, Colour]]:
    """Every computed token with its value in light and in dark mode."""
    brand = Colour.parse(colour)
    on_brand = WHITE if brand.contrast(WHITE) >= TEXT else INK
    if brand.contrast(on_brand) < TEXT:  # a middle grey: neither black nor white can be read on it
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
    """The button under the pointer: away from its text, or towards it where there is no room left."""
    step = -0.055 if on_brand == WHITE else 0.055
    room = 0.1 < brand.lightness + step < 0.97
    return brand.with_lightness(brand.lightness + (step if room else -step)).reaching(TEXT, on_brand)


def scene(brand: Colour) -> dict[str, Colour]:
    """The four shades of the picture beside the form. White text can be read on all but the glow, which lies above it."""
    return {
        "--sky": brand.with_lightness(0.39, chroma=0.95).reaching(7.0, WHITE),
        "--floor": brand.with_lightness(0.12, chroma=0.4),
        "--glow": brand.with_lightness(0.72, turn=-10, chroma=1.1),
        "--ember": brand.with_lightness(0.43, turn=32, chroma=0.62).reaching(6.0, WHITE),
    }


@lru_cache(maxsize=1024)
def _tokens(colour: str, radius_pixels: int) -> str:
    """Plain values first: a browser that does not know `light-dark()` keeps the light page."""
    palette = _palette(colour)
    plain = "".join(f"{name}:{light};" for name, (light, _) in palette.items())
    paired = "".join(f"{n}:light-dark({light},{dark});" for n, (light, dark) in palette.items() if light != dark)
    radius = f"--radius:{min(max(radius_pixels, 0), 24)}px;"
    return f":root{{{plain}{radius}}}@supports(color:light-dark(#000,#fff)){{:root{{{paired}}}}}"
