"""A tenant's own texts: checked against the source texts, and compiled to catalogues in front of those of the languages.

A text is plain: `<` and `&` stand for themselves. It has the placeholders of its source as `{name}`; a text with plural forms
has one by CLDR category: `{one: …, other: …}`.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from string import Formatter
from typing import Any, Final, Literal, get_args

from babel import Locale
from babel.support import NullTranslations

from app.kit.near_names import near_name
from app.kit.text.languages import SOURCE, catalogue
from app.kit.text.source_texts import SourceText, TextKeys, readable, text_keys

PluralCategory = Literal["zero", "one", "two", "few", "many", "other"]
Wording = str | Mapping[PluralCategory, str]
"""A text, or its plural forms."""
TextsByLanguage = Mapping[str, Mapping[str, Wording]]

MAX_TEXT_LENGTH: Final = 600
MAX_BYTES: Final = 64 * 1024
"""Of all texts of a theme as JSON: hubs and services have the texts of their tenants in memory."""
MAX_PROBLEMS: Final = 50
"""Reported at once: the near name of each strange key is looked for among all keys."""
OWN: Final = "own."
"""The beginning of keys of a theme's own texts, which its templates show."""
PLACEHOLDER: Final = "placeholder."
"""The beginning of keys of placeholders, before the key of the label of their fields. Fields have none unless a theme has one."""
MAX_PLACEHOLDER_LENGTH: Final = 60
"""A field on a phone shows about half of them."""
FIELD_LABELS: Final = (
    "email", "username", "phone_number",
    "email_or_phone_number", "email_or_username", "phone_number_or_username", "email_phone_number_or_username",
    "new_email", "password", "your_password", "current_password", "new_password",
    "title", "first_name", "middle_name", "last_name", "nickname", "gender",
    "company", "website", "address", "city", "state_or_region", "about_you",
)  # fmt: skip
"""Keys of the labels of fields that can have a placeholder: no codes, whose digits have marks, and no dates, which browsers draw."""
_OWN_KEY: Final = re.compile(r"own\.[a-z0-9_.]{1,60}")
_TURNING: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF"})
"""Embeddings and overrides; isolates and marks stay, which Arabic texts need."""
_KEPT: Final = frozenset({"code", "here", "link", "number", "privacy", "reset", "terms", "url"})
"""Placeholders that a text must keep, because people could not go on without them."""


class RefusedText(ValueError):
    """The text cannot replace its source; its message says why and what is expected."""


def problems(texts: TextsByLanguage) -> Iterator[tuple[str, str, str]]:
    """Yield (language, key, what is expected) for the first `MAX_PROBLEMS` texts that cannot be used.

    Language and key are empty for the texts as a whole: of texts that are too large, single ones are not checked.
    """
    if (size := len(json.dumps(texts, ensure_ascii=False).encode("utf-8", "replace"))) > MAX_BYTES:
        yield "", "", f"at most {MAX_BYTES // 1024} kB of texts in all languages; found {size / 1024:.0f} kB"
    else:
        yield from islice(_problems(texts), MAX_PROBLEMS)


def _problems(texts: TextsByLanguage) -> Iterator[tuple[str, str, str]]:
    for tag, wordings in texts.items():
        for key, wording in wordings.items():
            try:
                _compiled(key, wording, tag)
            except RefusedText as problem:
                yield tag, key, str(problem)


@dataclass(frozen=True)
class TenantTexts:
    """The compiled texts of a tenant."""

    digest: str = ""
    """Two objects with the same digest have the same texts."""
    catalogues: Mapping[str, NullTranslations] = field(default_factory=dict, compare=False)

    def text_of(self, key: str, tag: str, values: Mapping[str, str] | None = None) -> str:
        """Return the text of a key in a language; a theme's own text in any language that has it. Empty for an unknown key.

        Args:
            values: those of its placeholders.
        """
        if key.startswith(OWN):
            found = (str(each.pgettext(OWN, key)) for each in (self.catalogue(tag), *self.catalogues.values()))
            return next((text for text in found if text != key), "")
        source = text_keys().current.get(key)
        if source is None:
            return ""
        chosen = self.catalogue(tag)
        text = str(chosen.pgettext(source.context, source.text)) if source.context else chosen.gettext(source.text)
        return text % values if values else text

    def catalogue(self, tag: str) -> NullTranslations:
        """Return the catalogue of a language: the tenant's texts, and ours for all others."""
        return self.catalogues.get(tag) or catalogue(tag)


NO_TEXTS: Final = TenantTexts()


def placeholders_of(key: str) -> frozenset[str]:
    """Return the placeholders of the text of a key; none for an unknown key."""
    source = text_keys().current.get(key)
    return source.placeholders if source is not None else frozenset()


def compile_texts(texts: TextsByLanguage) -> TenantTexts:
    """Return the catalogues of a tenant's texts. Texts that `problems` would name are left out: an upgrade may have retired a key."""
    return _compile(json.dumps(texts, sort_keys=True, ensure_ascii=False), text_keys()) if texts else NO_TEXTS


@cache
def texts_of_keys() -> TenantTexts:
    """Return texts that show their keys in English, for designers who look for the key of what they see."""
    placeholders = (f"{PLACEHOLDER}{label}" for label in FIELD_LABELS)
    sources = {**text_keys().current, **{key: _source(key) for key in placeholders}}
    own = {(source.context, source.text): {"other": key} if source.plural else key for key, source in sources.items()}
    return TenantTexts("keys", {SOURCE.tag: _TenantCatalogue(SOURCE.tag, own)})


@lru_cache(maxsize=128)
def _compile(texts: str, _: TextKeys) -> TenantTexts:
    by_language: TextsByLanguage = json.loads(texts)
    digest = hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()
    return TenantTexts(digest, {tag: _catalogue(tag, wordings) for tag, wordings in by_language.items()})


def _catalogue(tag: str, wordings: Mapping[str, Wording]) -> NullTranslations:
    own: dict[tuple[str, str], Any] = {}
    for key, wording in wordings.items():
        try:
            source, compiled = _compiled(key, wording, tag)
        except RefusedText:
            continue
        own[source.context, source.text] = compiled
    return _TenantCatalogue(tag, own)


class _TenantCatalogue(NullTranslations):
    """The catalogue of a language with a tenant's texts before its own."""

    def __init__(self, tag: str, own: Mapping[tuple[str, str], Any]) -> None:
        super().__init__()
        self._own, self._ours = own, catalogue(tag)
        self._category: Callable[[int], str] = Locale.parse(tag, sep="-").plural_form

    def gettext(self, message: str) -> str:
        return self._own.get(("", message)) or self._ours.gettext(message)

    def pgettext(self, context: str, message: str) -> str:
        return self._own.get((context, message)) or str(self._ours.pgettext(context, message))

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self._form("", msgid1, n) or self._ours.ngettext(msgid1, msgid2, n)

    def npgettext(self, context: str, singular: str, plural: str, num: int) -> str:
        return self._form(context, singular, num) or str(self._ours.npgettext(context, singular, plural, num))

    # Flask-Babel calls the methods by these names.
    ugettext, ungettext, upgettext, unpgettext = gettext, ngettext, pgettext, npgettext

    def _form(self, context: str, singular: str, count: int) -> str | None:
        forms = self._own.get((context, singular))
        return forms.get(self._category(count), forms["other"]) if forms is not None else None


def our_wording(source: SourceText, tag: str) -> Wording:
    """Return our text in a language as a theme writes it, to start from."""
    ours = catalogue(tag)
    if not source.plural:
        found = ours.pgettext(source.context, source.text) if source.context else ours.gettext(source.text)
        return readable(str(found))
    category, forms = Locale.parse(tag, sep="-").plural_form, {}
    for count in range(200):
        if (name := category(count)) not in forms:
            parts = source.text, source.plural, count
            found = ours.npgettext(source.context, *parts) if source.context else ours.ngettext(*parts)
            forms[name] = readable(str(found))
    return {name: forms[name] for name in _categories(tag)}


def _compiled(key: str, wording: Wording, tag: str) -> tuple[SourceText, Any]:
    """Return the source of a key, and the wording as format strings. Raises RefusedText."""
    source = _source(key)
    if isinstance(wording, str):
        if source.plural:
            raise RefusedText(f"one text for each plural form ({', '.join(_categories(tag))}); found one for all")
        return source, _format_string(source, wording)
    if not source.plural:
        raise RefusedText("a text, because it has no plural forms")
    expected = _categories(tag)
    if (missing := [name for name in expected if name not in wording]) or len(wording) > len(expected):
        strange = [name for name in wording if name not in expected]
        found = f"missing: {', '.join(missing)}" if missing else f"not a form of {tag}: {', '.join(strange)}"
        raise RefusedText(f"a text for each of {', '.join(expected)}; {found}")
    return source, {name: _format_string(source, form, is_form=True) for name, form in wording.items()}


def _source(key: str) -> SourceText:
    keys = text_keys()
    if key.startswith(PLACEHOLDER):
        return _placeholder_source(key, keys)
    source = keys.current.get(key) or (SourceText(key, context=OWN) if _OWN_KEY.fullmatch(key) else None)
    if source is not None:
        return source
    if key in keys.retired:
        successor = keys.retired[key]
        raise RefusedText(f"no text: no page has it any more{f'; see {successor}' if successor else ''}")
    near = near_name(key, keys.current)
    raise RefusedText(f"a key of a text{f'; did you mean {near}?' if near else ''}")


def _placeholder_source(key: str, keys: TextKeys) -> SourceText:
    label = key.removeprefix(PLACEHOLDER)
    if label in FIELD_LABELS and label in keys.current:
        return SourceText(placeholder_text(keys.current[label].text))
    near = near_name(label, FIELD_LABELS)
    hint = f"; did you mean {PLACEHOLDER}{near}?" if near else ""
    raise RefusedText(f"{PLACEHOLDER} and the label of a field: {', '.join(FIELD_LABELS)}{hint}")


def placeholder_text(label: str) -> str:
    """Return what stands for the placeholder of fields with a label in catalogues: that of a theme has a text for it."""
    return f"{PLACEHOLDER}{label}"


def _categories(tag: str) -> tuple[PluralCategory, ...]:
    """Return the plural categories of a language (CLDR), in their usual order."""
    tags = Locale.parse(tag, sep="-").plural_form.tags | {"other"}
    return tuple(name for name in get_args(PluralCategory) if name in tags)


def has_visible_text(text: str) -> bool:
    """Return whether people see something of a text: letters, digits or signs, not only spaces and unseen characters."""
    return any(unicodedata.category(letter)[0] not in "CZ" for letter in text)


def is_line(text: str) -> bool:
    """Return whether a text is one line, without control characters and those that turn the direction of what follows."""
    return not any(
        unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(letter) in _TURNING
        for letter in text
    )


def _format_string(source: SourceText, text: str, *, is_form: bool = False) -> str:
    """Return the text with `%(name)s` for `{name}`, as the source has it. Raises RefusedText."""
    if not has_visible_text(text):
        raise RefusedText("a text that isn’t empty")
    longest = MAX_PLACEHOLDER_LENGTH if source.text.startswith(PLACEHOLDER) else MAX_TEXT_LENGTH
    if len(text) > longest:
        raise RefusedText(f"at most {longest} characters; found {len(text)}")
    if not is_line(text):
        raise RefusedText("one line without control characters")
    parts, used = [], set()
    for literal, name in _parsed(text):
        parts.append(literal.replace("%", "%%") if source.placeholders else literal)
        if name is not None:
            used.add(name)
            parts.append(f"%({name})s")
    _require_placeholders(source, used, is_form=is_form)
    return "".join(parts)


def _parsed(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the literal parts, each with the placeholder after it. Raises RefusedText."""
    try:
        for literal, name, form, conversion in Formatter().parse(text):
            if form or conversion:
                raise RefusedText(f"placeholders with a name alone, such as {{{name}}}")
            yield literal, name
    except ValueError as problem:
        if isinstance(problem, RefusedText):
            raise
        raise RefusedText("each { with its }; write {{ or }} for a brace itself") from None


def _require_placeholders(source: SourceText, used: set[str], *, is_form: bool) -> None:
    allowed = source.placeholders
    named = ", ".join(f"{{{name}}}" for name in sorted(allowed))
    if strange := sorted(used - allowed):
        expected = f"only the placeholders {named}" if allowed else "no placeholders"
        raise RefusedText(f"{expected}; found {{{strange[0]}}}")
    if not is_form and (lost := sorted((allowed & _KEPT) - used)):
        raise RefusedText(f"the placeholder {{{lost[0]}}}, which people need here")
