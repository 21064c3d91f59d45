"""Normalized identifiers: spellings of one mailbox share one form, and similar characters never take over an account."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contract import errors
from app.contract.tenants.settings import TenantSettings
from app.identity.authentication.sign_in.sign_in_identifiers import guess
from app.identity.directory.accounts.identifiers import (
    is_allowed_uid,
    mask_email_for_owner,
    normalize,
    normalize_email,
    normalize_phone,
    normalize_username,
    to_international,
)
from app.identity.directory.accounts.input_checks import username

PRECOMPOSED, COMBINED = "jos\u00e9@example.test", "jose\u0301@example.test"


@pytest.mark.parametrize(
    ("spelling", "other"),
    [
        ("Ada@Example.TEST", " ada@example.test "),
        (PRECOMPOSED, COMBINED),
        ("a@b\u00fccher.example", "a@xn--bcher-kva.example"),
        ("A@B\u00dcCHER.example", "a@b\u00fccher.example"),
    ],
)
def test_spellings_of_one_mailbox_normalize_to_one_form(spelling: str, other: str) -> None:
    assert normalize_email(spelling) == normalize_email(other) is not None


@pytest.mark.parametrize(
    ("spelling", "other"),
    [
        ("ada@example.test", "\u0430da@example.test"),  # Cyrillic
        ("stra\u00dfe@example.test", "strasse@example.test"),
        ("mi\u017fs@example.test", "miss@example.test"),  # long s
        ("i@example.test", "\u0131@example.test"),  # dotless i
        ("a.da@example.test", "ada@example.test"),
        ("ada+x@example.test", "ada@example.test"),
    ],
)
def test_similar_mailboxes_stay_distinct(spelling: str, other: str) -> None:
    assert normalize_email(spelling) != normalize_email(other)


@pytest.mark.parametrize(
    "text",
    ["", "ada", "@example.test", "ada@", "a b@example.test", "ada@localhost", "ada@exa mple.test", "a@b@example.test",
     "ada@example..test", f"{'x' * 65}@example.test", f"a@{'x' * 250}.test", "ada@example.test\n.evil", "<a@b.example>"],
)  # fmt: skip
def test_invalid_email_does_not_normalize(text: str) -> None:
    assert normalize_email(text) is None


@given(st.text(max_size=40))
def test_normalization_is_idempotent(text: str) -> None:
    for find in (normalize_email, normalize_username, normalize_phone):
        form = find(text)
        assert form is None or find(form) == form


@given(st.text(max_size=400), st.sampled_from(["email", "username", "phone"]))
def test_normalized_form_of_any_text_fits_the_column(text: str, kind: str) -> None:
    assert 0 < len(normalize(kind, text)) <= 320


@pytest.mark.parametrize(
    ("spelling", "other"), [("Ada", "ada"), ("\uff21\uff24\uff21", "ada"), ("STRASSE", "stra\u00dfe")]
)
def test_usernames_ignore_case_and_width(spelling: str, other: str) -> None:
    assert normalize_username(spelling) == normalize_username(other) is not None


@pytest.mark.parametrize("text", ["", "a b", "a\tb", "a@b", "x" * 33, "a\u200bb", "a\u202eb", "a\u00a0b", "a\x00"])
def test_invalid_username_does_not_normalize(text: str) -> None:
    assert normalize_username(text) is None


def test_same_glyphs_of_two_scripts_are_two_usernames() -> None:
    assert normalize_username("\u0430da") != normalize_username("ada")


@pytest.mark.parametrize(
    "text",
    ["+44 20 7946 0123", "+44(0)20 7946 0123", "+442079460123", " +44-20-7946-0123",
     "+44\u0662\u0660\u0667\u0669\u0664\u0666\u0660\u0661\u0662\u0663",  # Arabic-Indic
     "\uff0b\uff14\uff14 20 7946 0123",
     "\uff0b44\uff08\uff10\uff0920\uff0d7946\u22120123", "0044 20 7946 0123", "+0044 20 7946 0123", "\u2066+44 20 7946 0123\u2069"],
)  # fmt: skip
def test_spellings_of_one_number_normalize_to_e164(text: str) -> None:
    assert normalize_phone(text) == "+442079460123"


@pytest.mark.parametrize(
    "text",
    ["", "020 7946 0123", "+", "+1", "+44 20 7946 0123 ext 5", "+99999999999999999", "call me",
     "+44 2O 7946 O123", "+44 20 7946 \u2160\u216023", "+44 20 7946 012\u00b3", "+1 800 FLOWERS", "++442079460123"],
)  # fmt: skip
def test_invalid_phone_number_does_not_normalize(text: str) -> None:
    assert normalize_phone(text) is None


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("020 7946 0123", "GB", "+442079460123"),
        ("(020) 7946-0123", "GB", "+442079460123"),
        ("+49 30 123456", "GB", "+49 30 123456"),
        ("020 7946 0123", None, "020 7946 0123"),
        ("12", "GB", "12"),
        ("ada", "GB", "ada"),
    ],
)
def test_national_number_is_read_with_the_country_given(text: str, country: str | None, expected: str) -> None:
    assert to_international(text, country) == expected


@pytest.mark.parametrize(
    "name",
    [
        "\u3164",
        "\u115f",
        "a\u034fda",
        "ada\ufe0f",
        "\u2800",
        "ad\u0430",
        "a\u03b5",
        "1\u0663",
        "\u0561da",
        "\U00010380",
    ],
)
def test_new_username_with_hidden_or_mixed_scripts_is_refused(name: str) -> None:
    with pytest.raises(errors.UsernameFormatRefused):
        username(TenantSettings(), name)
    form = normalize_username(name)
    assert form is None or username(TenantSettings(), name, current=form) == form  # an account that has it keeps it


@pytest.mark.parametrize(
    "name",
    [
        "Ada-9",
        "\u00e9t\u00e9.2",
        "\u0430\u0434\u0430",
        "\u5c71\u7530taro",
        "\ud55c\uae00tom",
        "\u0644\u064a\u0644\u0649\u0663",
        "\u0646\u064f\u0648\u0631",
        "l'ada",
    ],
)
def test_username_in_one_script_is_accepted(name: str) -> None:
    assert username(TenantSettings(phone_login=True), name) == normalize_username(name)


@pytest.mark.parametrize(
    "name", ["+4917012399", "0170-12399", "123456", "\uff11\uff12\uff13\uff14\uff15\uff16", "(030)123456"]
)
def test_username_like_a_number_is_refused_with_phone_login(name: str) -> None:
    with pytest.raises(errors.UsernameFormatRefused):
        username(TenantSettings(phone_login=True), name)
    form = username(TenantSettings(), name)
    assert username(TenantSettings(phone_login=True), name, current=form) == form
    assert guess(TenantSettings(email_login=True, phone_login=True, username_login=True), name).kind == "phone"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("ada", True), ("A_d-a9", True), ("x" * 50, True), ("x" * 51, False), ("", False), ("a/b", False), ("ada\n", False),
     ("identities", False), ("ROLE", False), ("\u0430da", False)],
)  # fmt: skip
def test_only_well_formed_custom_uids_are_allowed(text: str, is_one: bool) -> None:
    assert is_allowed_uid(text) is is_one


@pytest.mark.parametrize(
    ("email", "masked"),
    [("lovelace@a.example", "l••••••e@a.example"), ("ab@a.example", "a•@a.example"), ("a@b.example", "a•@b.example")],
)
def test_mask_for_the_owner_keeps_the_domain(email: str, masked: str) -> None:
    assert mask_email_for_owner(email) == masked
