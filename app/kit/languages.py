"""The languages that pages, mails and messages speak, and where their sentences come from.

Sentences live in `translations/<locale>/LC_MESSAGES/messages.po` and are read from there on first use: there is no
compiled file that could be stale or forgotten.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

TRANSLATIONS: Final = Path(__file__).resolve().parents[2] / "translations"


@dataclass(frozen=True, slots=True)
class Language:
    """A language that the pages speak."""

    tag: str
    """BCP 47."""
    name: str
    """What its speakers call it."""
    direction: str = "ltr"


LANGUAGES: Final = {
    language.tag: language
    for language in (Language("en", "English"), Language("de", "Deutsch"), Language("ar", "العربية", "rtl"))
}
SOURCE: Final = LANGUAGES["en"]
"""The language that the sentences in the code are written in."""
_MOST_LETTERS: Final = 100  # RFC 5646 section 4.4.1 wants 35 to be taken


def lookup(wanted: str, offered: Iterable[str]) -> str | None:
    """Return the offered tag that serves a wanted one (RFC 4647 §3.4: `de-CH-1996`, then `de-CH`, then `de`).

    What follows in a longer tag than any is cut off: addresses and cookies bring it, and each part costs a try.
    """
    table = {tag.lower(): tag for tag in offered}
    parts = wanted.strip()[:_MOST_LETTERS].replace("_", "-").lower().split("-")
    while parts and parts[0]:
        if found := table.get("-".join(parts)):
            return found
        parts.pop()
        if parts and len(parts[-1]) == 1:
            parts.pop()
    return None


def negotiate(wishes: Iterable[Sequence[str]], offered: Sequence[str]) -> Language:
    """Return the language for a page or a letter.

    Args:
        wishes: wanted tags, the strongest source first; in a page the order of `visit.choose_language`.
        offered: what the tenant offers, its default first.
    """
    spoken = [tag for tag in offered if tag in LANGUAGES] or [SOURCE.tag]
    for source in wishes:
        for wanted in filter(None, source):
            if found := lookup(wanted, spoken):
                return LANGUAGES[found]
    return LANGUAGES[spoken[0]]


@cache
def catalogue(tag: str) -> NullTranslations:
    """Return the sentences of one language; the source language speaks as it is written."""
    if tag == SOURCE.tag:
        return NullTranslations()
    path = TRANSLATIONS / tag / "LC_MESSAGES" / "messages.po"
    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file, locale=tag))
    compiled.seek(0)
    return Translations(compiled)
