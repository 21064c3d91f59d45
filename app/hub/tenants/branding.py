"""A tenant's branding: its colour becomes the design tokens of the style sheet, with sufficient contrast.

The tokens of state (danger, ok, warn) and of type are in `static/css/tokens.css`; those that follow from the tenant's colour
are computed here, for light and dark, and rendered into the page as declarations.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from app.contract.tenants.branding import DEFAULT_LOGO_PATH
from app.hub.tenants.own_templates import NO_TEMPLATES, OwnTemplates
from app.kit.design.colour import Colour, NotAColour
from app.kit.design.fonts import named_fonts
from app.kit.design.palette import Pair, palette, scene
from app.kit.text.tenant_texts import NO_TEXTS, TenantTexts
from app.kit.web.assets import Asset

if TYPE_CHECKING:
    from app.contract.themes.theme_scripts import ScriptElement
    from app.kit.design.own_palette import OwnColours

DEFAULT_COLOUR: Final = "#3b4a6b"
_TONES: Final = {"green": 163, "rust": 37, "blue": 258, "plum": 325}
"""The colours of tiles, each with its hue in degrees (OKLCH)."""
_NEAR_HUE: Final = 60
"""Degrees within which two hues look alike; at least two tones are farther from any hue."""


@dataclass(frozen=True, slots=True)
class PageBranding:
    """A tenant's branding. Texts are keyed by language; `""` is the fallback."""

    name: str
    """In the tenant's default language, or as `in_language` returns it."""
    colour: str = DEFAULT_COLOUR
    logo: str = ""
    """Address of the tenant's logo; empty for the default logo."""
    logo_dark: str = ""
    """Address of the logo in dark mode; empty for `logo` in both."""
    icon_url: str = ""
    """Address of the tenant's own favicon; empty for the default icon in its colour."""
    scene: str = "dusk"
    """The scene beside the form: dusk, daylight, picture or none. Bright colours have no dusk."""
    drawing: str = "ribbons"
    """What the scene shows without a picture: one of the contract's `Drawing`."""
    picture: str = ""
    """Address of the picture of the scene `picture`."""
    background: str = ""
    """The page ground in light mode; empty for white."""
    background_dark: str = ""
    """The page ground in dark mode; empty for an almost black shade of the colour."""
    color_scheme: str = "auto"
    """`light` or `dark` on every device; `auto` follows the device."""
    colours: OwnColours = ()
    """Colors of the theme in place of computed ones."""
    font: str = ""
    """Value of `font-family`; empty for the device's font."""
    font_file: str = ""
    """Address of a woff2 file."""
    radius_pixels: int = 10
    button_shape: str = "rounded"
    """square, rounded (by the radius) or pill."""
    names: tuple[tuple[str, str], ...] = ()
    """Its name by language; empty if it has one for all."""
    sentence: tuple[tuple[str, str], ...] = ()
    signature: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = field(default=())
    """The footer's links: `privacy`, `terms`, `help`, each with its address."""
    texts: TenantTexts = NO_TEXTS
    """The tenant's own texts."""
    css: str = ""
    """The tenant's own style sheet, as browsers get it; empty for none."""
    css_folder: str = "/theme"
    """The path that serves the style sheet."""
    templates: OwnTemplates = NO_TEMPLATES
    """The tenant's own templates."""
    scripts: tuple[ScriptElement, ...] = ()
    """What the theme adds to the head of a few pages (`own_scripts.py`), where the operator allows it."""
    script_origins: tuple[str, ...] = ()
    """The origins that these pages may send to; empty without `scripts`."""
    theme_digest: str = ""
    """Names the version of its templates, style sheet and texts; empty if it has neither templates nor a style sheet."""
    left_out: tuple[tuple[str, str], ...] = ()
    """The files of the theme that this version of Gatehouse cannot use, each with the reason."""
    organization: str = ""
    """Name of the organization that the sign-in is for; the pages show it above the tenant's name."""
    organization_logo: str = ""
    """Address of its logo; empty for the initials of its name."""

    def for_organization(self, name: str, logo: str, colour: str) -> PageBranding:
        """Return the branding with the look of an organization over it; an invalid colour leaves the tenant's."""
        return replace(self, organization=name, organization_logo=logo, colour=valid_colour(colour, self.colour))

    def in_language(self, language: str) -> PageBranding:
        """Return the branding with its name in a language."""
        name = in_language(self.names, language) if self.names else self.name
        return self if name == self.name else replace(self, name=name)

    @property
    def tokens(self) -> str:
        """The tokens of the tenant's branding as CSS declarations, without quotes, which markup would escape."""
        return _tokens(self)

    @property
    def color_schemes(self) -> str:
        """The value of CSS `color-scheme`."""
        return "light dark" if self.color_scheme == "auto" else self.color_scheme

    @property
    def palette(self) -> Mapping[str, Pair]:
        """The tokens of color."""
        return _palette(self)

    def shades_for(self, selector: str, names: Collection[str]) -> str:
        """Return the tokens with these names as CSS rules for a part of a page, written as `tokens`."""
        shades = {name: shade for name, shade in _shades(self).items() if name in names}
        return _rules(selector, shades, scheme=self.color_scheme)

    @property
    def pictures(self) -> tuple[str, ...]:
        """Addresses of all pictures."""
        return tuple(filter(None, (self.logo, self.logo_dark, self.icon_url, self.picture, self.organization_logo)))

    @property
    def css_address(self) -> str:
        """The path of the tenant's style sheet, with a digest of its content."""
        return f"{self.css_folder}/{css_asset(self.css).name}"

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
        """The favicon's address; the computed one is a data: address, which saves a request."""
        return self.icon_url or _quoted(self.favicon)

    @property
    def has_scene(self) -> bool:
        """Whether the page shows a scene beside the form."""
        return self.scene != "none"

    @property
    def initials(self) -> str:
        """One or two letters of the name."""
        return initials(self.name)

    @property
    def organization_initials(self) -> str:
        return initials(self.organization)[:2]


@lru_cache(maxsize=128)
def css_asset(css: str) -> Asset:
    """Return a tenant's style sheet as a file."""
    return Asset("theme", "css", css.encode())


def valid_colour(text: str, default: str) -> str:
    """Return a colour as #rrggbb, or the default for anything that is none."""
    try:
        return str(Colour.parse(text))
    except NotAColour:
        return default


def initials(name: str) -> str:
    """Return the first letters of the first and the last word; the first letter of an email address."""
    words = [word for word in name.split("@")[0].replace(".", " ").split() if word]
    picked = [words[0], words[-1]] if len(words) > 1 else words
    return "".join(word[0] for word in picked).upper()


def tone_of(text: str, *, beside: str = "") -> str:
    """Return the colour of a tile without a logo, which its text decides: `green` of the class `tile--green`.

    Args:
        beside: the #rrggbb of what stands beside it; the tile's hue is another one.
    """
    tones = list(_TONES)
    if beside:
        _, _, hue = Colour.parse(beside).oklch
        tones = [tone for tone in tones if abs((_TONES[tone] - hue + 180) % 360 - 180) > _NEAR_HUE]
    return tones[zlib.crc32(text.encode()) % len(tones)]


def in_language(texts: tuple[tuple[str, str], ...], language: str) -> str:
    """Return the text in a language, else the fallback, else an empty string."""
    table = dict(texts)
    return table.get(language, table.get("", ""))


_FONT_NAME: Final = "Brand"
_DEVICE_FONT: Final = "system-ui,Segoe UI,Roboto,sans-serif"
_BUTTON_RADIUS: Final = {"square": "0px", "pill": "99px"}


@lru_cache(maxsize=1024)
def _quoted(picture: str) -> str:
    """Return an SVG document as a data: address."""
    return "data:image/svg+xml," + quote(picture, safe="='/:")


@lru_cache(maxsize=1024)
def _tokens(brand: PageBranding) -> str:
    return _font_face(brand) + _rules(":root", _shades(brand), _shape(brand), brand.color_scheme) + _arabic(brand)


def _palette(brand: PageBranding) -> Mapping[str, Pair]:
    if not brand.colours:
        return palette(brand.colour, brand.background, brand.background_dark)
    from app.kit.design.own_palette import own_palette

    return own_palette(brand.colour, brand.background, brand.background_dark, brand.colours)


def _shades(brand: PageBranding) -> dict[str, tuple[str, str]]:
    """Return the tokens of the colour, for light and dark."""
    shades = {name: (light.short, dark.short) for name, (light, dark) in brand.palette.items()}
    if brand.scene != "none":
        shades |= scene(brand.colour, is_daylight=brand.scene == "daylight")
    return shades


def _rules(selector: str, shades: Mapping[str, tuple[str, str]], shape: str = "", scheme: str = "auto") -> str:
    """Dark mode repeats only what differs; a media query, since older browsers do not know `light-dark()`."""
    if scheme != "auto":
        at = int(scheme == "dark")
        return f"{selector}{{{''.join(f'{name}:{pair[at]};' for name, pair in shades.items())}{shape}}}"
    light = "".join(f"{name}:{value};" for name, (value, _) in shades.items()) + shape
    dark = "".join(f"{name}:{value};" for name, (other, value) in shades.items() if other != value)
    dark = dark.removesuffix(";")
    return f"{selector}{{{light}}}@media(prefers-color-scheme:dark){{{selector}{{{dark}}}}}"


def _shape(brand: PageBranding) -> str:
    """Return the tokens of radius, buttons and font."""
    shape = f"--radius:{min(max(brand.radius_pixels, 0), 24)}px"
    if brand.button_shape in _BUTTON_RADIUS:
        shape += f";--button-radius:{_BUTTON_RADIUS[brand.button_shape]}"
    fonts = _font_names(brand)
    return f"{shape};--font:{fonts}" if fonts else shape


def _font_names(brand: PageBranding) -> str:
    fonts = brand.font or (_DEVICE_FONT if brand.font_file else "")
    return f"{_FONT_NAME},{fonts}" if brand.font_file else fonts


def _arabic(brand: PageBranding) -> str:
    """Return the rule of the tenant's font on Arabic pages: our fonts with Arabic letters are behind it."""
    names = named_fonts(_font_names(brand))
    return f"[lang=ar]{{--font:{names},var(--ar)}}" if names else ""


def _font_face(brand: PageBranding) -> str:
    """Return the rule that loads the tenant's font; text shows in another until it has arrived."""
    if not brand.font_file:
        return ""
    address = quote(brand.font_file, safe="/:?=%@~+,;!*$[]&").replace("&", r"\26 ")
    return f"@font-face{{font-family:{_FONT_NAME};font-weight:100 900;font-display:swap;src:url({address})}}"
