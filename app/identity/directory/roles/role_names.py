"""Names of roles, permissions and contexts: which are valid, and which look alike (Unicode UTS 39)."""

from __future__ import annotations

import unicodedata
from typing import Final

from app.contract.roles.role_operations import MAX_NAME
from app.identity.directory.accounts import confusables

_PUNCTUATION: Final = frozenset(" .:_-@+()[]")
"""Beside letters and digits. A slash would end the segment of an address; a comma, ampersand or quote would need escapes."""
_LATIN: Final = str.maketrans(
    # Latin and digits: i, l and 1 by way of I
    "i1ı0"
    # Cyrillic
    "авсԁеһніјӏкмопрѕтухԛѵԝг"
    # Greek
    "αβγεζηικμνορτυχω"
    # Armenian
    "օսհոցզ",
    "lllo"
    "abcdehhljlkmonpstyxqvwr"
    "abyezhlkmnoptuxw"
    "ouhngq",
)  # fmt: skip
"""Letters, case-folded, that look like a Latin one in either case."""
_PAIRS: Final = (("rn", "m"), ("vv", "w"))


def is_valid(name: str) -> bool:
    """Return whether a role or a context may have the name: it is read as it is typed, and fits in an address."""
    return _is_plain(name, _PUNCTUATION)


def is_valid_permission(name: str) -> bool:
    """Return whether a permission may have the name."""
    return _is_plain(name, _PUNCTUATION | {"/", "*"})


def can_exist(name: str) -> bool:
    """Return whether a stored name can be equal to this text, which the database would take."""
    return 0 < len(name) <= MAX_NAME and name.isprintable()


def skeleton(name: str) -> str:
    """Return a text that is equal for names that look alike or differ only in case or blanks."""
    folded = "".join(name.casefold().split()).translate(_LATIN)
    for pair, single in _PAIRS:
        folded = folded.replace(pair, single)
    return folded


def _is_plain(name: str, punctuation: frozenset[str]) -> bool:
    return (
        0 < len(name) <= MAX_NAME
        and name == name.strip()
        and not name.startswith(".")
        and unicodedata.is_normalized("NFKC", name)
        and all(character in punctuation or _is_of_word(character) for character in name)
        and not confusables.has_invisible_character(name)
        and confusables.is_single_script(name)
    )


def _is_of_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM" or character.isdecimal()
