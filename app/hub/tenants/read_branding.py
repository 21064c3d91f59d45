"""Reads the branding of pages from a brand of the configuration; what this version refuses is left out."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from app.contract.tenants import tenant_pages
from app.contract.tenants.branding import DRAWINGS, LINKS, Line, line_in, own_colours, theme_digest
from app.hub.tenants.branding import DEFAULT_COLOUR, PageBranding, valid_colour
from app.hub.tenants.own_templates import OwnTemplates, own_templates
from app.kit.caching.lru_cache import SharedCache
from app.kit.design import theme_file_names
from app.kit.design.colour import Colour, NotAColour
from app.kit.design.fonts import NotAFontStack, font_stack
from app.kit.templating.contract import NO_EFFECTS, ClassEffects
from app.kit.text.tenant_texts import compile_texts
from app.kit.web.urls import is_web_url, web_url

if TYPE_CHECKING:
    from app.contract.themes.theme_scripts import ScriptElement
    from app.kit.design.own_palette import OwnColours


def _drawing_of(tenant: str) -> str:
    """Return the drawing of a tenant that chose none: the same on every page, and often another than its neighbour's."""
    return DRAWINGS[zlib.crc32(tenant.encode()) % len(DRAWINGS)]


def page_branding(
    brand: tenant_pages.BrandView,
    tenant: str,
    name: Line,
    default_locale: str,
    css_files: Mapping[str, str] | None = None,
    script_origins: Sequence[str] = (),
) -> PageBranding:
    """Return the branding of pages. What this version refuses is left out.

    Args:
        css_files: of the theme that has the style sheet, if others are merged into those of the brand.
        script_origins: those from which the operator allows scripts at this host.
    """
    files = brand.files
    picture = _file(theme_file_names.address(brand.picture or "", files))
    sheet = style_sheet(brand.css, files if css_files is None else css_files, tenant)
    templates = own_templates(brand.templates, sheet.effects, brand.contract, files, tenant)
    return PageBranding(
        name=line_in(name, default_locale),
        names=() if isinstance(name, str) else _with_fallback(name, default_locale),
        colour=valid_colour(brand.color, DEFAULT_COLOUR),
        **_logos(_picture(brand.logo, files), _picture(brand.logo_dark, files), brand.color_scheme),
        icon_url=_picture(brand.favicon, files),
        scene=brand.scene if brand.scene != "picture" or picture else "dusk",
        drawing=brand.drawing or _drawing_of(tenant),
        picture=picture,
        background=_ground(brand.background),
        background_dark=_ground(brand.background_dark),
        color_scheme=brand.color_scheme,
        colours=_own_colours(brand.colors),
        font=_fonts(brand.font),
        font_file=_file(theme_file_names.address(brand.font_file or "", files)),
        radius_pixels=brand.radius_px,
        button_shape=brand.button_shape,
        sentence=_with_fallback(brand.sentence, default_locale),
        signature=_by_language(brand.signature or "", default_locale),
        texts=compile_texts(brand.texts),
        css=sheet.css,
        templates=templates,
        scripts=_scripts(brand.scripts, script_origins),
        script_origins=tuple(script_origins) if brand.scripts else (),
        theme_digest=theme_digest(brand),
        left_out=_left_out(templates, sheet),
        links=tuple((kind, brand.links[kind]) for kind in LINKS if web_url(brand.links.get(kind))),
    )


def _left_out(own: OwnTemplates, sheet: StyleSheet) -> tuple[tuple[str, str], ...]:
    templates = ((f"templates/{name}", reason) for name, reason in own.left_out)
    return (*templates, *([("static/css/theme.css", sheet.problem)] if sheet.problem else []))


def _scripts(scripts: Mapping[str, str], origins: Sequence[str]) -> tuple[ScriptElement, ...]:
    if not (scripts and origins):
        return ()
    from app.contract.themes import theme_scripts  # noqa: PLC0415 - few tenants have scripts

    return theme_scripts.elements(scripts, origins)


def _logos(light: str, dark: str, scheme: str) -> dict[str, str]:
    """Return the logo and that of dark mode; the one that pages of a single mode show."""
    if scheme == "auto":
        return {"logo": light, "logo_dark": dark}
    return {"logo": (dark or light) if scheme == "dark" else light}


def _picture(reference: str | None, files: Mapping[str, str]) -> str:
    """Return a data: image, the address of a file of the theme, or what `_file` accepts; empty for any other."""
    address = theme_file_names.address(reference or "", files)
    return address if address.startswith("data:image/") else _file(address)


def _file(address: str | None) -> str:
    """Return a path of this host or an https address; empty for any other."""
    if not address or any(letter in address for letter in '"\\<>\n'):
        return ""
    is_here = address.startswith("/") and not address.startswith("//")
    return address if is_here or (address.startswith("https://") and is_web_url(address)) else ""


def _fonts(names: str | None) -> str:
    try:
        return font_stack(names) if names else ""
    except NotAFontStack:
        return ""


def _own_colours(colors: Mapping[str, Mapping[str, str]]) -> OwnColours:
    """Return the theme's own colors; those that this version does not know are left out."""
    if not colors:
        return ()
    from app.kit.design.own_palette import MODES, OWN_NAMES

    return tuple(
        (mode, name, value)
        for mode, name, text in own_colours(colors)
        if mode in MODES and name in OWN_NAMES and (value := _ground(text))
    )


def _ground(colour: str | None) -> str:
    try:
        return str(Colour.parse(colour)) if colour else ""
    except NotAColour:
        return ""


def _by_language(line: Line, default: str) -> tuple[tuple[str, str], ...]:
    if isinstance(line, str):
        return (("", line),) if line else ()
    return _with_fallback(line, default)


def _with_fallback(texts: Mapping[str, str], default: str) -> tuple[tuple[str, str], ...]:
    """Return the texts by language; `""` holds the text of the default language for all others."""
    fallback = line_in(texts, default)
    return (*((tag, text) for tag, text in texts.items() if text), ("", fallback)) if fallback else ()


_ABOVE: Final = (
    ".main,form,.methods,.bar,.foot{position:relative!important;z-index:1!important}.bar,.foot{z-index:2!important}"
    ".tabs{z-index:1!important}@media(max-width:859px){.tabs{position:relative!important;inset:auto!important}}"
)
"""Lifts the page above the theme's own elements, whose `z-index` is at most 0: none covers the form. Wide tabs are sticky."""


class StyleSheet(NamedTuple):
    """A theme's style sheet as browsers get it."""

    css: str = ""
    effects: ClassEffects = NO_EFFECTS
    """The classes whose elements it may hide or cover."""
    problem: str = ""
    """Why this version refuses it; empty for one that it takes."""


STYLE_SHEETS: Final[SharedCache[tuple[str, tuple[tuple[str, str], ...]], StyleSheet]] = SharedCache(128)
"""By tenant, and by text and files of a theme."""


def style_sheet(text: str, files: Mapping[str, str], tenant: str) -> StyleSheet:
    """Return the style sheet of a tenant's theme with these files; an empty one if this version refuses it."""
    if not text:
        return StyleSheet()
    return STYLE_SHEETS.get_or_make(tenant, (text, tuple(files.items())), partial(_checked, text, files))


def _checked(text: str, files: Mapping[str, str]) -> StyleSheet:
    from app.kit.design.theme_css.check import checked

    sheet = checked(text, theme_file_names.addresses(files))
    if not sheet.css:
        return StyleSheet(problem=next((f"line {found.line}: {found.sentence}" for found in sheet.problems), "empty"))
    return StyleSheet(sheet.css + _ABOVE, ClassEffects(sheet.hiding, sheet.placing, sheet.causes))
