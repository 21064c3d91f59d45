"""Validates untrusted web addresses for links, sources of a content security policy, and origins.

Accepted are only addresses that every browser parses alike: http or https, a host, no password, no character that ends a
source, a directive or a header.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

_HOST: Final = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.IGNORECASE)
_SOURCE: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?://(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)?")
_PATH: Final = re.compile(r"/[A-Za-z0-9/._~%+@&=()!$*:-]*")
_USUAL_PORTS: Final = {"http": 80, "https": 443}
_DELIMITERS: Final = frozenset('\\"<>\x7f')


def is_web_address(text: str) -> bool:
    """Return whether the text is an absolute http or https address, safe in a link."""
    return _parts(text) is not None


def web_address(text: str | None) -> str:
    """Return the address if it is safe; empty for anything else, such as `javascript:` and `//host`."""
    return text if text and _parts(text) is not None else ""


def origin(text: str | None) -> str:
    """Return the origin of a web address as browsers write it; empty if the address is not safe.

    Without the scheme's own port, in lower case (RFC 6454 section 6.2). A content security policy may contain it.
    """
    parts = _parts(text) if text else None
    if parts is None:
        return ""
    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
    port = "" if parts.port in (None, _USUAL_PORTS[parts.scheme]) else f":{parts.port}"
    source = f"{parts.scheme}://{host}{port}"
    return source if is_source(source) else ""


def sent_origin(header: str | None) -> str:
    """Return the origin that a header `Origin` states; empty for anything that no browser sends for a website.

    `null`, several origins, a path, a user, letters beyond ASCII, capitals and the scheme's own port are no origin. All comparisons
    of origins use this.
    """
    return header if header and origin(header) == header else ""


def file_source(address: str) -> str:
    """Return scheme://host[:port]/path of one file for a content security policy; empty if the address is not safe.

    A path with characters that a policy cannot hold is left out, which allows the whole origin (CSP Level 3 section 2.3.1).
    """
    source = origin(address)
    parts = _parts(address) if source else None
    return source + parts.path if parts and _PATH.fullmatch(parts.path) else source


def is_source(text: str) -> bool:
    """Return whether the text is exactly one scheme, one origin or one file, without space, semicolon or comma."""
    start = _SOURCE.match(text)
    return start is not None and (
        start.end() == len(text) or ("//" in start[0] and _PATH.fullmatch(text, start.end()) is not None)
    )


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
