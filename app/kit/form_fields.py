"""Reads queries and form-encoded bodies (URL Standard, section 5.1)."""

from __future__ import annotations

from urllib.parse import unquote_plus


def read(text: str, *, errors: str = "replace") -> list[tuple[str, str]]:
    """Return all fields in order, repeated and empty ones included.

    As `urllib.parse.parse_qsl(text, keep_blank_values=True, errors=errors)`, which decodes each name and value with four
    calls, although most have nothing to decode.
    """
    pairs = []
    for field in text.split("&"):
        if field:
            name, _, value = field.partition("=")
            if "%" in field or "+" in field:
                name, value = unquote_plus(name, errors=errors), unquote_plus(value, errors=errors)
            pairs.append((name, value))
    return pairs
