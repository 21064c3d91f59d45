"""Checks the type of a theme's style sheet, and its colors on those of our style sheets and of its own palette."""

from __future__ import annotations

from typing import Final

from app.hub.rendering.assets import SHEETS, in_scheme
from app.hub.tenants.branding import PageBranding
from app.kit.design.theme_css.contrast import AlwaysAround, StyleProblem, contrast_problems
from app.kit.design.theme_css.fixed_type import fixed_type
from app.kit.package_files import STATIC

NOTHING: Final[AlwaysAround] = {}


def style_problems(css: str, brand: PageBranding, always_around: AlwaysAround = NOTHING) -> list[StyleProblem]:
    """Return what of a theme's style sheet is hard to read, by line: colors, and sizes of type that do not grow.

    Args:
        css: as it is written, because problems have its lines.
        brand: the theme, whose colors the style sheet can name.
        always_around: of its pages.
    """
    if not css:
        return []
    names = dict.fromkeys(name for sheet in SHEETS.values() for name in sheet)
    ours, shades = "\n".join((STATIC / "css" / f"{name}.css").read_text("utf-8") for name in names), brand.palette
    if brand.color_scheme != "auto":
        at = int(brand.color_scheme == "dark")
        shades = {name: (pair[at], pair[at]) for name, pair in shades.items()}
        ours = in_scheme(ours.replace("prefers-color-scheme: ", "prefers-color-scheme:"), brand.color_scheme)
    return sorted([*contrast_problems(css, ours, shades, always_around), *fixed_type(css)])
