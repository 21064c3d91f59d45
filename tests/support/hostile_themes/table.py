"""The table of hostile themes: each is refused with file, line and a sentence, or renders harmlessly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import HostileTheme
from tests.support.hostile_themes.insides import INSIDES
from tests.support.hostile_themes.markup import MARKUP
from tests.support.hostile_themes.parts import PARTS
from tests.support.hostile_themes.scripts import SCRIPTS
from tests.support.hostile_themes.sheets import STYLE_SHEETS
from tests.support.hostile_themes.templates import TEMPLATES
from tests.support.hostile_themes.texts import MAILS, TEXTS
from tests.support.hostile_themes.values import VALUES
from tests.support.hostile_themes.values_of_sheets import MORE_SHEETS

_KINDS: Final = {
    "template": TEMPLATES,
    "markup": MARKUP,
    "parts": {**PARTS, **INSIDES},
    "css": {**STYLE_SHEETS, **MORE_SHEETS},
    "text": TEXTS,
    "mail": MAILS,
    "value": VALUES,
    "script": SCRIPTS,
}
HOSTILE: Final[Mapping[str, HostileTheme]] = {
    f"{kind}: {name}": theme for kind, themes in _KINDS.items() for name, theme in themes.items()
}
"""By their kind and name."""
MAX_MEMORY: Final = 16 * 1024 * 1024
"""Bytes that the check of a theme, and the rendering of a page, may take at most."""
