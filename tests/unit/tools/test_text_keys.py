"""The keys of texts stay with their texts: a theme that names one finds it after our next release."""

from __future__ import annotations

from app.kit.text.source_texts import SourceText, TextKeys
from tools.text_keys import updated

FILE = frozenset({"templates/pages/sign_in/login.html"})
OTHER = frozenset({"app/hub/forms/pin.py"})
NOTHING = TextKeys({}, {})


def keys_of(*texts: SourceText) -> TextKeys:
    sources = dict.fromkeys(texts, FILE)
    return updated(NOTHING, {}, sources)


def test_key_is_made_of_the_first_words() -> None:
    found = keys_of(
        SourceText("Sign in to %(name)s"),
        SourceText("Don’t have an account yet? Create one"),
        SourceText("Don’t have an account yet? Ask us"),
        SourceText("Sign out"),
        SourceText("Sign out?"),
        SourceText(", ", context="between numbers"),
    )
    assert found.current == {
        "between_numbers.sign": SourceText(", ", context="between numbers"),
        "dont_have_an_account_yet_ask": SourceText("Don’t have an account yet? Ask us"),
        "dont_have_an_account_yet_create": SourceText("Don’t have an account yet? Create one"),
        "sign_in_to_name": SourceText("Sign in to %(name)s"),
        "sign_out": SourceText("Sign out"),
        "sign_out_question": SourceText("Sign out?"),
    }


def test_text_in_other_words_keeps_its_key() -> None:
    before, after = SourceText("Wrong password. Try again."), SourceText("Wrong password. Try again, or reset it.")
    found = updated(keys_of(before), {before: FILE}, {after: FILE})
    assert (found.current, found.retired) == ({"wrong_password_try_again": after}, {})


def test_key_of_a_text_that_is_gone_is_never_used_again() -> None:
    before, after = SourceText("Choose a method"), SourceText("Choose a method!")
    found = updated(keys_of(before), {before: FILE}, {after: OTHER})
    assert found.retired == {"choose_a_method": ""}
    assert list(found.current.values()) == [after]
    assert "choose_a_method" not in found.current


def test_texts_that_stay_keep_their_keys_beside_new_ones() -> None:
    stays, new = SourceText("Choose a method of sign-in, please"), SourceText("Choose a method of sign-in, now")
    before = keys_of(stays)
    found = updated(before, {stays: FILE}, {new: FILE, stays: FILE})
    assert before.current.items() <= found.current.items()
    assert found.retired == {}
