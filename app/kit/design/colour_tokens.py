"""The tokens of color: what each is for, and the contrast that it needs with what it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from app.kit.design.palette import SHAPE, TEXT


class ColourToken(NamedTuple):
    """A custom property with a color; its name in CSS begins with `--`."""

    meaning: str
    least: float = 0
    """Minimum contrast with each of `on` (WCAG 2.2, 1.4.3 and 1.4.11)."""
    on: tuple[str, ...] = ()
    """The tokens of what it stands on."""


_PAGE: Final = ("canvas", "raised", "surface")
COLOUR_TOKENS: Final[Mapping[str, ColourToken]] = {
    "canvas": ColourToken("The background of the page."),
    "raised": ColourToken("The background of cards, fields, plain buttons and the head of the account."),
    "surface": ColourToken("The background of quiet boxes, of rows under the pointer, and of the account in light mode."),
    "tint": ColourToken("The background of symbols, and of a form in the place of a row."),
    "face": ColourToken("The background of initials."),
    "hairline": ColourToken("The lines between rows and around cards."),
    "edge": ColourToken("The border of plain buttons."),
    "tint-line": ColourToken("The border of a tag in your color."),
    "line": ColourToken("The border of fields and checkboxes.", SHAPE, _PAGE),
    "ink": ColourToken("Texts.", TEXT, (*_PAGE, "tint", "face")),
    "muted": ColourToken("Quiet texts, such as hints.", TEXT, _PAGE),
    "link": ColourToken("Links and the focus ring.", TEXT, _PAGE),
    "brand": ColourToken("The background of the main button."),
    "brand-hover": ColourToken("The background of the main button under the pointer."),
    "on-brand": ColourToken("The text of the main button.", TEXT, ("brand", "brand-hover")),
    "danger-ground": ColourToken("The background of an error."),
    "danger": ColourToken("Errors, and buttons that delete.", TEXT, (*_PAGE, "danger-ground")),
    "ok-ground": ColourToken("The background of a message that something worked."),
    "ok": ColourToken("What is good.", TEXT, (*_PAGE, "ok-ground")),
    "warn-ground": ColourToken("The background of a warning."),
    "warn": ColourToken("Warnings.", TEXT, (*_PAGE, "warn-ground")),
}  # fmt: skip
"""By their names in a theme, where CSS has `--` before them."""
