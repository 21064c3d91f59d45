"""The forms of a password that are hashed and compared (NIST SP 800-63B-4 section 3.1.1.2)."""

from __future__ import annotations

import unicodedata
from typing import Final

_LONGEST: Final = 4096
"""Characters of the longest password that a request may set; sorting the marks of a longer text could take seconds."""


def normalize(password: str) -> str:
    """Return the password in NFKC, which is hashed: keyboards and systems write one letter as different characters."""
    return unicodedata.normalize("NFKC", password) if len(password) <= _LONGEST else password


def forms(password: str) -> tuple[str, ...]:
    """Return the forms that a stored hash may be of: NFKC and, if it differs, the password as it was typed.

    Older versions and other systems hashed the second one.
    """
    normal = normalize(password)
    return (normal,) if normal == password else (normal, password)
