"""Validates untrusted web addresses for links and sources of a content security policy.

Accepted are only addresses that every browser parses alike: http or https, a host, no password, no character that ends a
source, a directive or a header.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

_HOST: Final = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.IGNORECASE)
_SOURCE: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?://(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)?")
_DELIMITERS: Final = frozenset('\\"<>\x7f')


def is_web_address(text: str) -> bool:
    """Return whether the text is an absolute http or https address, safe in a link."""
    return _parts(text) is not None


def web_address(text: str | None) -> str:
    """Return the address if it is safe; empty for anything else, such as `javascript:` and `//host`."""
    return text if text and _parts(text) is not None else ""


def origin(text: str | None) -> str:
    """Return scheme://host[:port] of a web address for a content security policy; empty if it is not safe."""
    parts = _parts(text) if text else None
    source = f"{parts.scheme}://{parts.netloc.lower()}" if parts else ""
    return source if is_source(source) else ""


def is_source(text: str) -> bool:
    """Return whether the text is exactly one scheme or one origin, without space, semicolon or comma."""
    return _SOURCE.fullmatch(text) is not None


def _parts(text: str) -> SplitResult | None:
    if any(ord(letter) <= 32 or letter in _DELIMITERS for letter in text):
        return None
    try:
        parts = urlsplit(text)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        return None
    is_web = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) is not None
    return parts if is_web and port_is_one else None
