"""The rules of a tenant for new passwords."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contract import errors
from app.contract.recovery.errors import PASSWORD_RULE_MESSAGES, PasswordRule
from app.contract.tenants.settings import PasswordPolicy
from app.identity.credentials.passwords import policy
from app.identity.credentials.passwords.common_passwords import is_common

DEFAULT = PasswordPolicy()
ALL = PasswordPolicy(
    require_lowercase=True, require_uppercase=True, require_number=True, require_symbol=True, max_length=20
)


@given(st.text())
def test_symbol_is_asked_of_each_character(password: str) -> None:
    has_symbol = any(not character.isalnum() and not character.isspace() for character in password)
    rules = PasswordPolicy(min_length=1, require_number=False, require_symbol=True)
    assert (PASSWORD_RULE_MESSAGES[PasswordRule.SIGN] in policy.broken_rules(rules, password)) is not has_symbol


@pytest.mark.parametrize(
    ("password", "broken"),
    [
        ("", 5),
        ("kettle", 4),
        ("Kettle-zebra-9", 0),
        ("kettle-zebra-9", 1),
        ("KETTLE-ZEBRA-9", 1),
        ("Kettle-zebra-x", 1),
        ("Kettle zebra 9", 1),  # a space is no symbol
        ("Kettle-zebra-9-Kettle", 1),
        ("\u00c4\u00e4kettle-zebra-9", 0),
    ],
)
def test_every_broken_rule_has_one_message(password: str, broken: int) -> None:
    found = policy.broken_rules(ALL, password)
    assert len(found) == len(set(found)) == broken


def test_length_is_counted_in_characters() -> None:
    assert policy.broken_rules(PasswordPolicy(require_number=False, require_symbol=False), "\U0001f511" * 10) == []


@pytest.mark.parametrize(
    "password",
    ["Password1!", "P@ssw0rd2024!", "passw0rd!1", "1234567890!", "Qwertyuiop1!", "Sommer2024!!", "!!!letmein!!!1", "aaaaaaaaaa1!",
     "PasswortPasswort1!", "98765 43210!", "zxcvbnm,./1"],
)  # fmt: skip
def test_frequent_password_is_common(password: str) -> None:
    assert is_common(password)


@pytest.mark.parametrize(
    "password",
    [
        "Zebra-kettle-91",
        "correct horse 1!",
        "Tr0ub4dor&3xyz",
        "sommersonne-tanzt-7",
        "kX9$vQ2mLp",
        "passwortlos glücklich 4!",
    ],
)
def test_invented_password_is_not_common(password: str) -> None:
    assert not is_common(password)


@given(st.text(max_size=300))
def test_any_text_is_checked(password: str) -> None:
    policy.broken_rules(DEFAULT, password)
    is_common(password)
    policy.contains_word(password, [password, None, ""])


@pytest.mark.parametrize("word", ["lovelace", "Ada.Lovelace@example.test", "+442079460123", "x lovelace y"])
def test_profile_word_in_the_password_is_found(word: str) -> None:
    assert policy.contains_word("LoveLace-2079-+442079460123", [word])


def test_short_words_and_domains_do_not_count() -> None:
    assert not policy.contains_word("my-example-ada-91", ["ada@example.test", "Ada", None])


def test_common_and_profile_checks_can_be_switched_off() -> None:
    lenient = PasswordPolicy(common_check=False, profile_check=False)
    policy.refuse(lenient, "Password123!", ["password123"])
    with pytest.raises(errors.WeakPassword):
        policy.refuse(PasswordPolicy(profile_check=False), "Password123!", [])
    with pytest.raises(errors.WeakPassword):
        policy.refuse(PasswordPolicy(common_check=False), "Lovelace-1815", ["Lovelace"])


def test_messages_are_in_the_error() -> None:
    with pytest.raises(errors.FieldsRefused) as refusal:
        policy.refuse(DEFAULT, "short", [])
    assert [field for field, _ in refusal.value.problems] == ["Password"] * 3


@pytest.mark.parametrize("password", ["Ada.Lovelace@example.test", "LOVELACE", "ada.lovelace"])
def test_exact_match_refuses_a_whole_word_of_the_profile(password: str) -> None:
    exact = PasswordPolicy(
        common_check=False, profile_exact_match=True, min_length=1, require_number=False, require_symbol=False
    )
    with pytest.raises(errors.WeakPassword):
        policy.refuse(exact, password, [None, "", "ada.lovelace@example.test"])
    policy.refuse(exact, f"{password}-kettle", ["ada.lovelace@example.test"])
