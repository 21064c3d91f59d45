"""A theme's style sheet, as browsers get it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from app.kit.design import theme_file_names
from app.kit.templating.contract import NO_EFFECTS, ClassEffects

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


def style_sheet(text: str, files: Mapping[str, str]) -> StyleSheet:
    """Return the style sheet of a theme with these files; an empty one if this version refuses it."""
    return _style_sheet(text, tuple(files.items())) if text else StyleSheet()


@lru_cache(maxsize=128)
def _style_sheet(text: str, files: tuple[tuple[str, str], ...]) -> StyleSheet:
    from app.kit.design.theme_css.check import checked

    sheet = checked(text, theme_file_names.addresses(dict(files)))
    if not sheet.css:
        return StyleSheet(problem=next((f"line {found.line}: {found.sentence}" for found in sheet.problems), "empty"))
    return StyleSheet(sheet.css + _ABOVE, ClassEffects(sheet.hiding, sheet.placing, sheet.causes))
