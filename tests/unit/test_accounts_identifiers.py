"""The one form in which identifiers are compared: no two owners of one mailbox, no takeover by a look-alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.identity.accounts.identifiers import is_uid, normal, normal_email, normal_phone, normal_username

PRECOMPOSED, COMBINED = "jos\u00e9@example.test", "jose\u0301@example.test"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada@Example.TEST", " ada@example.test "),
        (PRECOMPOSED, COMBINED),
        ("a@b\u00fccher.example", "a@xn--bcher-kva.example"),
        ("A@B\u00dcCHER.example", "a@b\u00fccher.example"),
    ],
)
def test_spellings_of_one_mailbox_have_one_form(one: str, other: str) -> None:
    assert normal_email(one) == normal_email(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@example.test", "\u0430da@example.test"),  # Cyrillic
        ("stra\u00dfe@example.test", "strasse@example.test"),
        ("mi\u017fs@example.test", "miss@example.test"),  # long s
        ("i@example.test", "\u0131@example.test"),  # dotless i
        ("a.da@example.test", "ada@example.test"),
        ("ada+x@example.test", "ada@example.test"),
    ],
)
def test_mailboxes_that_look_alike_stay_apart(one: str, other: str) -> None:
    assert normal_email(one) != normal_email(other)


@pytest.mark.parametrize(
    "text",
    ["", "ada", "@example.test", "ada@", "a b@example.test", "ada@localhost", "ada@exa mple.test", "a@b@example.test",
     "ada@example..test", f"{'x' * 65}@example.test", f"a@{'x' * 250}.test", "ada@example.test\n.evil", "<a@b.example>"],
)  # fmt: skip
def test_what_is_no_address_has_no_form(text: str) -> None:
    assert normal_email(text) is None


@given(st.text(max_size=40))
def test_the_form_of_a_form_is_itself(text: str) -> None:
    for find in (normal_email, normal_username, normal_phone):
        form = find(text)
        assert form is None or find(form) == form


@given(st.text(max_size=400), st.sampled_from(["email", "username", "phone"]))
def test_every_text_has_a_form_that_the_store_can_keep(text: str, kind: str) -> None:
    assert 0 < len(normal(kind, text)) <= 320


@pytest.mark.parametrize(("one", "other"), [("Ada", "ada"), ("\uff21\uff24\uff21", "ada"), ("STRASSE", "stra\u00dfe")])
def test_usernames_ignore_letter_case_and_width(one: str, other: str) -> None:
    assert normal_username(one) == normal_username(other) is not None


@pytest.mark.parametrize("text", ["", "a b", "a\tb", "a@b", "x" * 33, "a\u200bb", "a\u202eb", "a\u00a0b", "a\x00"])
def test_what_is_no_username_has_no_form(text: str) -> None:
    assert normal_username(text) is None


def test_letters_of_two_scripts_are_two_usernames() -> None:
    assert normal_username("\u0430da") != normal_username("ada")


@pytest.mark.parametrize("text", ["+44 20 7946 0123", "+44(0)20 7946 0123", "+442079460123", " +44-20-7946-0123"])
def test_spellings_of_one_line_have_one_form(text: str) -> None:
    assert normal_phone(text) == "+442079460123"


@pytest.mark.parametrize(
    "text", ["", "020 7946 0123", "+", "+1", "+44 20 7946 0123 ext 5", "+99999999999999999", "call me"]
)
def test_what_is_no_international_number_has_no_form(text: str) -> None:
    assert normal_phone(text) is None


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("ada", True), ("A_d-a9", True), ("x" * 50, True), ("x" * 51, False), ("", False), ("a/b", False), ("ada\n", False),
     ("identities", False), ("ROLE", False), ("\u0430da", False)],
)  # fmt: skip
def test_an_id_of_ones_own_has_the_interfaces_form(text: str, is_one: bool) -> None:
    assert is_uid(text) is is_one
