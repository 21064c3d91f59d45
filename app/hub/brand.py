"""A tenant's branding: its colour becomes the design tokens of the style sheet, with sufficient contrast.

The tokens of state (danger, ok, warn) and of type are in `static/css/tokens.css`; those that follow from the tenant's colour
are computed here, for light and dark, and rendered into the page as declarations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from app.kit.palette import palette, scene

DEFAULT_COLOUR: Final = "#3b4a6b"
DEFAULT_LOGO_PATH: Final = "M8 22v-8a6 6 0 0 1 12 0v8h-3.5v-8a2.5 2.5 0 0 0-5 0v8z"
"""SVG path of the logo of a tenant without one, a gate, on a tile of 28 by 28."""


@dataclass(frozen=True, slots=True)
class Brand:
    """A tenant's branding. Texts are keyed by language; `""` is the fallback."""

    name: str
    colour: str = DEFAULT_COLOUR
    logo: str = ""
    """Address of the tenant's logo; empty for the default logo."""
    radius_pixels: int = 10
    scene: str = "dusk"
    """The picture beside the form: dusk or daylight. Bright colours are always in daylight."""
    sentence: tuple[tuple[str, str], ...] = ()
    signature: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = field(default=())
    """The footer's links: `privacy`, `terms`, `help`, each with its address."""

    @property
    def tokens(self) -> str:
        """The tokens of the tenant's colour as CSS declarations."""
        return _tokens(self.colour, self.radius_pixels, self.scene)

    @property
    def favicon(self) -> str:
        """The favicon as an SVG document, in the tenant's colour."""
        tile, gate = (palette(self.colour)[name][0] for name in ("--brand", "--on-brand"))
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28">'
            f'<rect width="28" height="28" rx="8" fill="{tile}"/><path fill="{gate}" d="{DEFAULT_LOGO_PATH}"/></svg>'
        )

    @property
    def icon(self) -> str:
        """The favicon as a data: address, which saves a request."""
        return "data:image/svg+xml," + quote(self.favicon, safe="='/:")

    @property
    def initials(self) -> str:
        """One or two letters of the name."""
        return initials(self.name)


def initials(name: str) -> str:
    """Return the first letters of the first and the last word; the first letter of an email address."""
    words = [word for word in name.split("@")[0].replace(".", " ").split() if word]
    picked = [words[0], words[-1]] if len(words) > 1 else words
    return "".join(word[0] for word in picked).upper()


def in_language(texts: tuple[tuple[str, str], ...], language: str) -> str:
    """Return the text in a language, else the fallback, else an empty string."""
    table = dict(texts)
    return table.get(language, table.get("", ""))


@lru_cache(maxsize=1024)
def _tokens(colour: str, radius_pixels: int, scene_name: str) -> str:
    """Dark mode repeats only what differs; a media query, since older browsers do not know `light-dark()`."""
    shades = {name: (light.short, dark.short) for name, (light, dark) in palette(colour).items()}
    shades |= scene(colour, is_daylight=scene_name == "daylight")
    light = "".join(f"{name}:{value};" for name, (value, _) in shades.items())
    dark = "".join(f"{name}:{value};" for name, (other, value) in shades.items() if other != value)
    radius = f"--radius:{min(max(radius_pixels, 0), 24)}px"
    return f":root{{{light}{radius}}}@media(prefers-color-scheme:dark){{:root{{{dark.removesuffix(';')}}}}}"
