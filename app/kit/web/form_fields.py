"""Reads queries and form-encoded bodies (URL Standard, section 5.1)."""

from __future__ import annotations

from urllib.parse import unquote, unquote_to_bytes


def read(text: str, *, errors: str = "replace") -> list[tuple[str, str]]:
    """Return all fields in order, repeated and empty ones included.

    As `urllib.parse.parse_qsl(text, keep_blank_values=True, errors=errors)`, which decodes each name and value with four
    calls, although most have nothing to decode.
    """
    pairs = []
    for field in text.split("&"):
        if field:
            name, _, value = field.replace("+", " ").partition("=")
            if "%" in field:
                name, value = _decoded(name, errors), _decoded(value, errors)
            pairs.append((name, value))
    return pairs


def _decoded(text: str, errors: str) -> str:
    """Decode as `unquote` does, without splitting the text into ASCII and other parts first."""
    if "%" not in text:
        return text
    return unquote_to_bytes(text).decode(errors=errors) if text.isascii() else unquote(text, errors=errors)
