"""Checks the colors of a theme's style sheet on those of our style sheets and of its own palette."""

from __future__ import annotations

from app.hub.rendering.assets import SHEETS
from app.hub.tenants.branding import PageBranding
from app.kit.design.theme_css.contrast import ContrastProblem, contrast_problems
from app.kit.package_files import STATIC


def style_problems(css: str, brand: PageBranding) -> list[ContrastProblem]:
    """Return the colors of a theme's style sheet that are hard to see, by line.

    Args:
        css: as it is written, because problems have its lines.
        brand: the theme, whose colors the style sheet can name.
    """
    names = dict.fromkeys(name for sheet in SHEETS.values() for name in sheet)
    ours = "\n".join((STATIC / "css" / f"{name}.css").read_text("utf-8") for name in names)
    return contrast_problems(css, ours, brand.palette) if css else []
