"""The forms in which stored identifiers and names begin with a text that an administrator typed."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from app.identity.directory.accounts.account_search_rows import key_of
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.kit.text.code_normalization import typed_code

_DIALLED: Final = re.compile(r"\+?[0-9]+\Z")
_PUNCTUATION: Final = str.maketrans("", "", "()./-")
_LAST: Final = chr(0x10FFFF)
_SURROGATES: Final = range(0xD800, 0xE000)


class TextRange(NamedTuple):
    """The texts that begin with `first`: at least `first` and less than `end`, by code point."""

    first: str
    end: str


def beginning_with(prefix: str) -> TextRange:
    """Return the range of the texts with this prefix, which is not empty."""
    kept = prefix.rstrip(_LAST)
    if not kept:
        return TextRange(prefix, _LAST * (len(prefix) + 1))
    following = ord(kept[-1]) + 1
    return TextRange(prefix, kept[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following))


def of_identifiers(typed: str) -> dict[str, TextRange]:
    """Return the ranges of normalized identifiers by kind. A national phone number counts as one that lacks the plus."""
    text = typed.strip()
    composed = unicodedata.normalize("NFC", text.lower())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    prefixes = {EMAIL: composed, USERNAME: folded, PHONE: _phone(text)}
    return {kind: beginning_with(prefix) for kind, prefix in prefixes.items() if prefix}


def of_names(typed: str) -> TextRange | None:
    """Return the range of the keys of names; None if nothing was typed but blanks."""
    key = key_of(typed)
    return beginning_with(key) if key else None


def _phone(text: str) -> str:
    """Return the beginning of a phone number as E.164; empty if the text cannot begin one."""
    digits = typed_code(text).translate(_PUNCTUATION)
    if not _DIALLED.match(digits):
        return ""
    return f"+{digits.removeprefix('+').removeprefix('00')}".rstrip("+")
