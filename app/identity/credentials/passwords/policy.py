"""A tenant's rules for new passwords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from app.contract import errors
from app.contract.recovery.errors import PASSWORD_RULE_MESSAGES, PasswordRule
from app.contract.tenants.settings import PasswordPolicy
from app.identity.credentials.passwords.common_passwords import is_common
from app.identity.platform.password_hashing import normalize

FIELD = "Password"
_SIGNS = re.compile(r"[\W_]+")
_MIN_WORD_LENGTH = 4  # too many words contain a name of three letters
_CLASSES: tuple[tuple[str, Callable[[str], bool], PasswordRule], ...] = (
    ("require_lowercase", str.islower, PasswordRule.LOWER),
    ("require_uppercase", str.isupper, PasswordRule.UPPER),
    ("require_number", str.isdigit, PasswordRule.NUMBER),
)


def broken_rules(policy: PasswordPolicy, password: str, *, typed: str | None = None) -> list[str]:
    """Return a sentence for every rule of length and character class that the password breaks.

    Args:
        typed: another form of the password, which has to be long enough, too: NFKC makes 18 characters of one Arabic ligature.
    """
    sentences = []
    if min(len(password), len(password if typed is None else typed)) < policy.min_length:
        sentences.append(PASSWORD_RULE_MESSAGES[PasswordRule.LEAST].format(number=policy.min_length))
    if len(password) > policy.max_length:
        sentences.append(PASSWORD_RULE_MESSAGES[PasswordRule.MOST].format(number=policy.max_length))
    for setting, is_of_class, rule in _CLASSES:
        if getattr(policy, setting) and not any(map(is_of_class, password)):
            sentences.append(PASSWORD_RULE_MESSAGES[rule])
    if policy.require_symbol and not _has_symbol(password):
        sentences.append(PASSWORD_RULE_MESSAGES[PasswordRule.SIGN])
    return sentences


def _has_symbol(password: str) -> bool:
    """Return whether a character is neither a letter, a digit nor a space."""
    text = "".join(password.split())
    return text != "" and not text.isalnum()


def refuse(policy: PasswordPolicy, password: str, words: Iterable[str | None]) -> None:
    """Refuse a password whose normal form the policy does not allow; `words` are those of the account's profile.

    Raises:
        FieldsRefused: length or character classes, with a sentence for each rule.
        WeakPassword: it is common, or contains a word of the profile.
    """
    typed, password = password, normalize(password)
    if broken := broken_rules(policy, password, typed=typed):
        raise errors.FieldsRefused(problems=[(FIELD, sentence) for sentence in broken])
    if policy.common_check and is_common(password):
        raise errors.WeakPassword(PASSWORD_RULE_MESSAGES[PasswordRule.COMMON])
    if not policy.profile_check:
        return
    is_refused = equals_word if policy.profile_exact_match else contains_word
    if is_refused(password, [normalize(word) for word in words if word]):
        raise errors.WeakPassword(PASSWORD_RULE_MESSAGES[PasswordRule.PROFILE])


def contains_word(password: str, words: Iterable[str | None]) -> bool:
    """Return whether the password contains one of the words, or a part of one between signs."""
    text = password.casefold()
    return any(part in text for word in words if word for part in _parts(word.casefold()))


def equals_word(password: str, words: Iterable[str | None]) -> bool:
    """Return whether the password is one of the words, or a part of one between signs."""
    text = password.casefold()
    return any(text == part for word in words if word for part in (word.casefold(), *_parts(word.casefold())))


def _parts(word: str) -> set[str]:
    local = word.partition("@")[0]
    parts = {local, local.lstrip("+"), *_SIGNS.split(local)}
    return {part for part in parts if len(part) >= _MIN_WORD_LENGTH}
