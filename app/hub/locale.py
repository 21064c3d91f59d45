"""In which language a page speaks, and where its sentences come from.

Sentences live in `translations/<locale>/LC_MESSAGES/messages.po` and are read from there on first use: there is no
compiled file that could be stale or forgotten.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from babel import Locale as BabelLocale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from flask import Flask, g, has_app_context  # noqa: TID251 - gettext takes no argument, so the language has to stand somewhere
from flask_babel import Babel, Domain

from app.settings import ROOT

TRANSLATIONS: Final = ROOT / "translations"
COOKIE: Final = "gatehouse-language"


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


def lookup(wanted: str, offered: Iterable[str]) -> str | None:
    """Return the offered tag that serves a wanted one (RFC 4647 §3.4: `de-CH-1996`, then `de-CH`, then `de`)."""
    table = {tag.lower(): tag for tag in offered}
    parts = wanted.strip().replace("_", "-").lower().split("-")
    while parts and parts[0]:
        if found := table.get("-".join(parts)):
            return found
        parts.pop()
        if parts and len(parts[-1]) == 1:
            parts.pop()
    return None


_QUALITY: Final = re.compile(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$")


@lru_cache(maxsize=1024)
def accepted(header: str) -> tuple[str, ...]:
    """Return the tags of an `Accept-Language` header, the most wanted first; what is refused (`q=0`) is left out."""
    weighted: list[tuple[float, int, str]] = []
    for position, part in enumerate(header[:400].split(",")):
        match = _QUALITY.search(part)
        quality = float(match[1]) if match else 1.0
        tag = part.partition(";")[0].strip()
        if quality > 0 and tag and tag != "*":
            weighted.append((-quality, position, tag))
    return tuple(tag for _, _, tag in sorted(weighted))


def negotiate(wishes: Iterable[Sequence[str]], offered: Sequence[str]) -> Language:
    """Return the language for a page.

    Args:
        wishes: wanted tags, the strongest source first; the order of the sources is `visit.wishes`.
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


class _Sentences(Domain):  # type: ignore[misc]  # Flask-Babel ships no types
    """Flask-Babel's domain, reading our catalogues; remembers the choice for the request."""

    def get_translations(self) -> NullTranslations:
        if not has_app_context():
            return catalogue(SOURCE.tag)
        chosen: NullTranslations = catalogue(current().tag)
        return chosen


class _Babel(Babel):  # type: ignore[misc]  # Flask-Babel ships no types
    domain_instance = _Sentences()


def current() -> Language:
    """Return the language of the page being drawn."""
    language: Language = g.get("language", SOURCE)
    return language


def speak(language: Language) -> None:
    """Let the rest of this request speak a language."""
    g.language = language
    if hasattr(g, "_flask_babel"):
        del g._flask_babel


@cache
def _babel_locale(tag: str) -> BabelLocale:
    return BabelLocale.parse(tag, sep="-")


def install(app: Flask) -> None:
    """Teach an application the languages; its templates get gettext."""
    _Babel(app, default_locale=SOURCE.tag, locale_selector=lambda: _babel_locale(current().tag))
    # Flask-Babel's own go through four look-ups for each sentence, and a page has fifty.
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        gettext=lambda text: catalogue(current().tag).gettext(text),
        ngettext=lambda one, many, count: catalogue(current().tag).ngettext(one, many, count),
        newstyle=True,
        pgettext=lambda context, text: catalogue(current().tag).pgettext(context, text),
        npgettext=lambda context, one, many, count: catalogue(current().tag).npgettext(context, one, many, count),
    )
