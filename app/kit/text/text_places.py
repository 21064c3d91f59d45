"""The pages and messages that have each source text, for people who look for one.

`translations/places.json` has them; `python -m tools.translations update` keeps it true to the sources.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Final

from app.kit.package_files import TRANSLATIONS

PLACES_FILE: Final = TRANSLATIONS / "places.json"
OTHER: Final = "other"
"""The place of texts that several pages share."""
PLACES: Final = (
    "sign_in", "registration", "recovery", "account", "security", "organizations", "consent", "device", "mails", "text_messages", OTHER,
)  # fmt: skip


@cache
def text_places() -> Mapping[str, frozenset[str]]:
    """Return the keys of the texts of each place; a text can have several."""
    return {place: frozenset(keys) for place, keys in json.loads(PLACES_FILE.read_bytes()).items()}
