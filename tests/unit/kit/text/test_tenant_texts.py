"""A tenant's own texts: what is refused, and what stands in place of ours."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from app.kit.text import tenant_texts
from app.kit.text.languages import catalogue
from app.kit.text.source_texts import SourceText, TextKeys
from app.kit.text.tenant_texts import NO_TEXTS, PluralCategory, compile_texts, problems

SIGN_IN = SourceText("Sign in to %(name)s")
CODE = SourceText("%(code)s is your %(tenant)s code.")
LEFT = SourceText("%(num)d left", "%(num)d left")
ERROR = SourceText("Error: %(title)s", context="page title")
KEYS = TextKeys(
    {"sign_in_to_name": SIGN_IN, "code": CODE, "num_left": LEFT, "page_title.error": ERROR, "save": SourceText("Save")},
    {"old_title": "sign_in_to_name", "gone": ""},
)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenant_texts, "text_keys", lambda: KEYS)


@pytest.mark.parametrize(
    ("key", "wording", "expected"),
    [
        ("sign_in_to_nam", "x", "a key of a text; did you mean sign_in_to_name?"),
        ("zzz", "x", "a key of a text"),
        ("old_title", "x", "no text: no page has it any more; see sign_in_to_name"),
        ("gone", "x", "no text: no page has it any more"),
        ("save", " ", "a text that isn’t empty"),
        ("save", "a\nb", "one line without control characters"),
        ("save", "a\x00b", "one line without control characters"),
        ("save", "x" * 601, "at most 600 characters; found 601"),
        ("save", "{name}", "no placeholders; found {name}"),
        ("save", "a } b", "each { with its }; write {{ or }} for a brace itself"),
        ("save", "{", "each { with its }; write {{ or }} for a brace itself"),
        ("sign_in_to_name", "{nam}", "only the placeholders {name}; found {nam}"),
        ("sign_in_to_name", "{}", "only the placeholders {name}; found {}"),
        ("sign_in_to_name", "{name.__class__}", "only the placeholders {name}; found {name.__class__}"),
        ("sign_in_to_name", "{name[0]}", "only the placeholders {name}; found {name[0]}"),
        ("sign_in_to_name", "{name!r}", "placeholders with a name alone, such as {name}"),
        ("sign_in_to_name", "{name:>9999999}", "placeholders with a name alone, such as {name}"),
        ("code", "Your code", "the placeholder {code}, which people need here"),
        ("num_left", "x", "one text for each plural form (one, other); found one for all"),
        ("num_left", {"one": "x"}, "a text for each of one, other; missing: other"),
        ("num_left", {"one": "x", "other": "y", "few": "z"}, "a text for each of one, other; not a form of en: few"),
        ("num_left", {"one": "x", "other": "{n}"}, "only the placeholders {num}; found {n}"),
        ("save", {"one": "x", "other": "y"}, "a text, because it has no plural forms"),
    ],
)
def test_unusable_text_is_refused_with_what_is_expected(key: str, wording: Any, expected: str) -> None:
    assert list(problems({"en": {key: wording}})) == [("en", key, expected)]
    assert compile_texts({"en": {key: wording}}).catalogue("en").gettext("Save") == "Save", "it is left out at run time"


def test_texts_are_bounded() -> None:
    texts = {tag: {f"{key}": "ä" * 600 for key in ("save", "sign_in_to_name")} for tag in ("en", "de", "ar")}
    assert not list(problems(texts))
    many = {"en": {f"key_{number}": "ä" * 500 for number in range(70)}}
    assert list(problems(many))[-1] == ("", "", "at most 64 kB of texts in all languages; found 69 kB")


def test_text_stands_in_place_of_ours_in_its_language_alone() -> None:
    texts = compile_texts({"de": {"sign_in_to_name": "Zu {name}, 100 %"}})
    assert texts.catalogue("de").gettext(SIGN_IN.text) % {"name": "Hazel"} == "Zu Hazel, 100 %"
    assert texts.catalogue("en").gettext(SIGN_IN.text) == SIGN_IN.text
    assert texts.catalogue("de").gettext("Save") == catalogue("de").gettext("Save")


def test_signs_of_formats_stand_for_themselves() -> None:
    chosen = compile_texts({"en": {"save": "100 % {{now}} <b>&", "sign_in_to_name": "{name}: 5%s {{x}}"}}).catalogue(
        "en"
    )
    assert chosen.gettext("Save") == "100 % {now} <b>&"
    assert chosen.gettext(SIGN_IN.text) % {"name": "H"} == "H: 5%s {x}"


def test_text_may_leave_a_name_out() -> None:
    chosen = compile_texts({"en": {"sign_in_to_name": "Welcome", "code": "{code}"}}).catalogue("en")
    assert chosen.gettext(SIGN_IN.text) % {"name": "Hazel"} == "Welcome"


def test_plural_forms_are_those_of_the_language() -> None:
    forms = {name: f"{name} {{num}}" for name in get_args(PluralCategory)}
    chosen = compile_texts({"ar": {"num_left": forms}}).catalogue("ar")
    shown = [chosen.ngettext(LEFT.text, LEFT.plural, count) % {"num": count} for count in (0, 1, 2, 3, 11, 100)]
    assert shown == ["zero 0", "one 1", "two 2", "few 3", "many 11", "other 100"]


def test_texts_of_two_contexts_are_two() -> None:
    chosen = compile_texts({"en": {"page_title.error": "Oops: {title}"}}).catalogue("en")
    assert chosen.pgettext("page title", ERROR.text) == "Oops: %(title)s"
    assert chosen.gettext(ERROR.text) == ERROR.text


def test_equal_texts_are_one_key_of_caches() -> None:
    first, second = (compile_texts({"en": {"save": "Keep"}}) for _ in range(2))
    other = compile_texts({"en": {"save": "Store"}})
    assert (first, hash(first)) == (second, hash(second))
    assert first != other
    assert compile_texts({}) is NO_TEXTS
