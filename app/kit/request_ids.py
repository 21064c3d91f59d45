"""Request ids: in every log line, audit entry, response and error page, so that users can quote them to support."""

from __future__ import annotations

import re
from typing import Final

from app.kit import randomness

HEADER: Final = "X-Request-Id"
ENVIRON: Final = "gatehouse.request_id"
"""The key in the WSGI environment."""
_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Twenty letters that are easy to tell apart and form no words (RFC 8628 section 6.1)."""
_FORM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}", re.ASCII)


def new() -> str:
    """Return a new id, such as `BCDF-GHJK-LMNP`: 52 random bits."""
    text = "".join(_LETTERS[byte % len(_LETTERS)] for byte in randomness.random_bytes(12))
    return f"{text[:4]}-{text[4:8]}-{text[8:]}"


def is_valid(text: str) -> bool:
    """Return whether the text is a valid id: 8 to 64 letters, digits, dots, hyphens and underscores."""
    return _FORM.fullmatch(text) is not None
