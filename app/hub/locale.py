"""The language of a page: `Accept-Language`, and gettext for Flask and Jinja."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Final

from babel import Locale as BabelLocale
from babel.support import NullTranslations
from flask import Flask, g, has_app_context  # noqa: TID251 - gettext takes no argument, so the request holds the language
from flask_babel import Babel, Domain
from flask_babel.speaklater import LazyString
from markupsafe import Markup  # noqa: TID251 - texts of templates may have markup

from app.kit.caching.bounded_cache import bounded_cache
from app.kit.text.languages import LANGUAGES, SOURCE, Language, catalogue, lookup, negotiate
from app.kit.text.tenant_texts import NO_TEXTS, TenantTexts, placeholder_text

COOKIE: Final = "gatehouse-language"


_QUALITY: Final = re.compile(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$")


@bounded_cache(max_entries=1024, length=400)
def parse_accept_language(header: str) -> tuple[str, ...]:
    """Return the tags of an `Accept-Language` header, the preferred first; without those of `q=0` (RFC 9110 §12.5.4)."""
    weighted: list[tuple[float, int, str]] = []
    for position, part in enumerate(header[:400].split(",")):
        match = _QUALITY.search(part)
        quality = float(match[1]) if match else 1.0
        tag = part.partition(";")[0].strip()
        if quality > 0 and tag and tag != "*":
            weighted.append((-quality, position, tag))
    return tuple(tag for _, _, tag in sorted(weighted))


class PageTexts:
    """The texts of a language for pages, with a tenant's own ones; as they are, and as HTML."""

    def __init__(self, chosen: NullTranslations) -> None:
        self.catalogue = chosen
        # Both are bounded: the texts are constants of the code and the templates.
        self._plain: dict[tuple[str, str], str] = {}
        self._html: dict[str, Markup] = {}

    def text(self, text: str, context: str = "") -> str:
        """Return the translation of a text without plural forms."""
        key = context, text
        found = self._plain.get(key)
        if found is None:
            chosen = self.catalogue
            found = self._plain[key] = str(chosen.pgettext(context, text)) if context else chosen.gettext(text)
        return found

    def html(self, text: str) -> Markup:
        """Return the translation of a text as HTML."""
        found = self._html.get(text)
        if found is None:
            found = self._html[text] = Markup.escape(self.catalogue.gettext(text))
        return found

    def placeholder(self, label: str) -> str:
        """Return the tenant's placeholder of fields with a label; empty without one."""
        source = placeholder_text(label)
        found = self.text(source)
        return found if found != source else ""

    def plural(self, one: str, many: str, count: int, context: str = "") -> str:
        """Return the translation of a text in the form of a count."""
        chosen = self.catalogue
        return str(chosen.npgettext(context, one, many, count)) if context else chosen.ngettext(one, many, count)


@lru_cache(maxsize=256)
def _page_texts(own: TenantTexts, tag: str) -> PageTexts:
    return PageTexts(own.catalogue(tag))


def current_texts() -> PageTexts:
    """Return the texts of the current request; those of the source language outside of one."""
    try:
        texts: PageTexts = g._get_current_object().texts  # each access through the proxy costs a look-up
    except (AttributeError, RuntimeError):
        return _page_texts(NO_TEXTS, current_language().tag if has_app_context() else SOURCE.tag)
    return texts


class _Domain(Domain):  # type: ignore[misc]  # Flask-Babel ships no types
    """Flask-Babel's domain with the catalogues of this package."""

    def get_translations(self) -> NullTranslations:
        return current_texts().catalogue


class _Babel(Babel):  # type: ignore[misc]  # Flask-Babel ships no types
    domain_instance = _Domain()


def current_language() -> Language:
    """Return the language of the current request."""
    context = g._get_current_object()  # each access through the proxy costs a look-up
    language: Language = context.get("language", SOURCE)
    return language


def use_language(language: Language, own: TenantTexts = NO_TEXTS) -> None:
    """Set the language and the tenant's own texts for the rest of this request."""
    context = g._get_current_object()
    context.language, context.texts = language, _page_texts(own, language.tag)
    context.pop("_flask_babel", None)


@cache
def _babel_locale(tag: str) -> BabelLocale:
    return BabelLocale.parse(tag, sep="-")


class LazyText(LazyString):  # type: ignore[misc]  # Flask-Babel ships no types
    """A text in the language of the page that shows it. In HTML, its variables are escaped; `str` returns it as plain text.

    Args:
        text: the source text; in a plural, that of one.
        variables: values of its placeholders.
        plural: the source text of other counts; `variables["num"]` is the count.
        context: distinguishes texts with the same words.
    """

    def __init__(self, text: str, variables: dict[str, Any], plural: str = "", context: str = "") -> None:
        super().__init__(None)
        self._text, self._variables, self._plural, self._context = text, variables, plural, context

    @property
    def placeholder(self) -> str:
        """The tenant's placeholder of fields with this label, in the language of the page; empty without one."""
        return "" if self._context or self._variables else current_texts().placeholder(self._text)

    def __str__(self) -> str:
        found = self._translation()
        return found % self._variables if self._variables else found

    def __html__(self) -> Markup:
        return Markup.escape(self._translation()) % self._variables if self._variables else Markup.escape(str(self))

    def _translation(self) -> str:
        texts = current_texts()
        if self._plural:
            return texts.plural(self._text, self._plural, self._variables["num"], self._context)
        return texts.text(self._text, self._context)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyText):
            return self._parts == other._parts
        return str(self) == other

    def __hash__(self) -> int:
        return hash(self._text)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self._text, self._plural, self._context, self._variables


def lazy_gettext(text: str, **variables: Any) -> LazyText:
    """Return a lazily translated text."""
    return LazyText(text, variables)


def lazy_ngettext(one: str, many: str, num: int, **variables: Any) -> LazyText:
    """Return a lazily translated text whose form depends on a count, the value of `%(num)d`."""
    return LazyText(one, {"num": num, **variables}, many)


def lazy_pgettext(context: str, text: str, **variables: Any) -> LazyText:
    """Return a lazily translated text that needs a context."""
    return LazyText(text, variables, context=context)


def template_text(text: str, **variables: Any) -> Markup:
    """Return a text of a template in the current language, as HTML."""
    found = current_texts().html(text)
    return found % variables if variables else found


def _format_string(source: str, found: str) -> Markup:
    """Return a text as HTML for Jinja, which formats every text; one without placeholders may have a `%`."""
    return Markup.escape(found if "%(" in source else found.replace("%", "%%"))


def install(app: Flask) -> None:
    """Install gettext into an application and its templates."""
    _Babel(app, default_locale=SOURCE.tag, locale_selector=lambda: _babel_locale(current_language().tag))
    # Flask-Babel's own functions take four look-ups per text, and a page has fifty texts.
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        gettext=template_text,
        ngettext=lambda one, many, count: Markup.escape(current_texts().plural(one, many, count)),
        newstyle=True,
        pgettext=lambda context, text: _format_string(text, current_texts().text(text, context)),
        npgettext=lambda context, one, many, count: Markup.escape(current_texts().plural(one, many, count, context)),
    )
    # Most texts are looked up by one string: without the extension's wrapper, which does more than the look-up.
    app.jinja_env.globals["_"] = app.jinja_env.globals["gettext"] = template_text


__all__ = [
    "COOKIE",
    "LANGUAGES",
    "SOURCE",
    "Language",
    "parse_accept_language",
    "template_text",
    "catalogue",
    "current_language",
    "install",
    "lazy_gettext",
    "lazy_ngettext",
    "lazy_pgettext",
    "lookup",
    "negotiate",
    "use_language",
]
