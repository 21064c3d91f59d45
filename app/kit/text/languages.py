"""The supported languages, and their translations.

Translations are read from `translations/<locale>/LC_MESSAGES/messages.po` on first use; there is no compiled file that
could be stale.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

from app.kit.package_files import TRANSLATIONS


@dataclass(frozen=True, slots=True)
class Language:
    """A supported language."""

    tag: str
    """BCP 47."""
    name: str
    """Its native name."""
    direction: str = "ltr"


LANGUAGES: Final = {
    language.tag: language
    for language in (Language("en", "English"), Language("de", "Deutsch"), Language("ar", "العربية", "rtl"))
}
SOURCE: Final = LANGUAGES["en"]
"""The language of the source texts in the code."""
_BETWEEN_TAGS: Final = re.compile(r"[\s,]+")
_TAG: Final = re.compile(r"[A-Za-z0-9-]{1,40}")  # RFC 5646; another one is no language of ours
_MAX_TAG_LENGTH: Final = 100  # RFC 5646 section 4.4.1 requires at least 35


def tags_in(text: str, most: int = 5) -> tuple[str, ...]:
    """Return the first tags of a list such as `ui_locales`, by blanks or commas; `de_DE` as `de-DE`. Invalid tags are left out."""
    tags = (part.replace("_", "-") for part in _BETWEEN_TAGS.split(text))
    return tuple(tag for tag in tags if _TAG.fullmatch(tag))[:most]


def lookup(requested: str, offered: Iterable[str]) -> str | None:
    """Return the offered tag for a wanted one (RFC 4647 section 3.4: `de-CH-1996`, then `de-CH`, then `de`).

    Longer tags than any real one are truncated, because they are client input and each part costs a lookup.
    """
    return _best(requested, {tag.lower(): tag for tag in offered})


def _best(requested: str, table: Mapping[str, str]) -> str | None:
    """As `lookup`; the offered tags by their spelling in lower case."""
    tag, _, _ = requested.strip()[:_MAX_TAG_LENGTH].partition(".")  # POSIX: `de_DE.UTF-8`
    parts = tag.replace("_", "-").lower().split("-")
    while parts and parts[0]:
        if found := table.get("-".join(parts)):
            return found
        parts.pop()
        if parts and len(parts[-1]) == 1:
            parts.pop()
    return None


def negotiate(wishes: Iterable[Sequence[str]], offered: Sequence[str]) -> Language:
    """Return the language for a page or a message.

    Args:
        wishes: wanted tags, the strongest source first.
        offered: available tags, the default first.
    """
    available = _available(tuple(offered))
    for source in wishes:
        for item in source:
            if item and (found := _best(item, available)):
                return LANGUAGES[found]
    return LANGUAGES[next(iter(available.values()))]


@lru_cache(maxsize=256)
def _available(offered: tuple[str, ...]) -> Mapping[str, str]:
    """Return the supported ones of a tenant's tags by their spelling in lower case, the default first."""
    return {tag.lower(): tag for tag in offered if tag in LANGUAGES} or {SOURCE.tag.lower(): SOURCE.tag}


@cache
def catalogue(tag: str) -> NullTranslations:
    """Return the translations of a language; none for the source language."""
    if tag == SOURCE.tag:
        return NullTranslations()
    path = TRANSLATIONS / tag / "LC_MESSAGES" / "messages.po"
    compiled = io.BytesIO()
    text = path.read_text(encoding="utf-8").replace("E-Mail", "E\u2011Mail")  # no line may end after its hyphen
    write_mo(compiled, read_po(io.StringIO(text), locale=tag))
    compiled.seek(0)
    return Translations(compiled)
