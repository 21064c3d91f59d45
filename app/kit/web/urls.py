"""Parses untrusted web addresses: for links, redirects, sources of a content security policy, and origins.

Accepted are only addresses that every browser parses alike: http or https, a host, no password, no character that ends a
source, a directive or a header. All comparisons of hosts or origins use these parts.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from app.kit.caching.bounded_cache import bounded_cache
from app.kit.web.host_names import sent_host

_PORT: Final = re.compile(r"(.*?)(?::([0-9]{1,5}))?", re.DOTALL)
_SOURCE: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?://(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)?")
_PATH: Final = re.compile(r"/[A-Za-z0-9/._~%+@&=()!$*:-]*")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_APP_ORIGIN: Final = re.compile(r"(?:capacitor|ionic|tauri)://[a-z0-9]+(?:[.-][a-z0-9]+)*|chrome-extension://[a-p]{32}")
"""Origins of pages that an app or an extension brings along; browsers send them as they are."""
_DELIMITERS: Final = frozenset('\\"<>\x7f')
_MAX_PORT: Final = 65_535


class WebUrl(NamedTuple):
    """A checked address; scheme, host and port have the form in which browsers send them."""

    scheme: str
    host: str
    """In lower case and punycode, an IPv6 address without brackets."""
    port: int | None
    """None: the scheme's own."""
    path: str
    query: str
    fragment: str

    @property
    def origin(self) -> str:
        """The origin (RFC 6454 section 6.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port is None else f":{self.port}")


def parse_url(text: str | None) -> WebUrl | None:
    """Return the parts of an absolute http or https address; None for anything else. Never raises."""
    return _parsed(text) if text else None


@bounded_cache(max_entries=1024, length=400)
def _parsed(text: str) -> WebUrl | None:
    parts = split_url(text)
    if parts is None or parts.scheme not in _DEFAULT_PORTS or "@" in parts.netloc:
        return None
    matched = _PORT.fullmatch(parts.netloc)
    name, digits = matched.groups() if matched else ("", None)
    is_ipv6 = name.startswith("[") and name.endswith("]")
    host = sent_host(name[1:-1] if is_ipv6 else name)
    if not host or (":" in host) is not is_ipv6:
        return None
    port = int(digits) if digits else None
    default = _DEFAULT_PORTS[parts.scheme]
    return WebUrl(parts.scheme, host, None if port == default else port, parts.path, parts.query, parts.fragment)


def split_url(text: str) -> SplitResult | None:
    """Return the parts of an address of any scheme; None if a part is unreadable, or a character ends or hides one. Never raises."""
    if any(ord(letter) <= 32 or letter in _DELIMITERS for letter in text):
        return None
    try:
        parts = urlsplit(text)
        is_readable = parts.port is None or 0 < parts.port <= _MAX_PORT
    except ValueError:
        return None
    return parts if is_readable else None


def host_of(text: str | None) -> str:
    """Return the host of a web address as browsers send it, with a port that is not the scheme's own; empty for none."""
    address = parse_url(text)
    return address.origin.partition("://")[2] if address is not None else ""


def is_web_url(text: str) -> bool:
    """Return whether the text is an absolute http or https address, safe in a link."""
    return parse_url(text) is not None


def web_url(text: str | None) -> str:
    """Return the address if it is safe; empty for anything else, such as `javascript:` and `//host`."""
    return text if text and parse_url(text) is not None else ""


def origin_of(text: str | None) -> str:
    """Return the origin of an address as browsers write it; empty if the address is not safe.

    Without the scheme's own port, in lower case and punycode (RFC 6454 section 6.2). A content security policy may contain it.
    """
    address = parse_url(text)
    return address.origin if address is not None else _origin_of_app(text or "")


def redirect_origin(address: str) -> str:
    """Return where a redirect leads: the origin of a web address, the scheme of another one with its colon; empty for an unreadable one."""
    parts = split_url(address)
    if parts is None or not parts.scheme:
        return ""
    return origin_of(address) if parts.scheme in _DEFAULT_PORTS else f"{parts.scheme}:"


def sent_origin(header: str | None) -> str:
    """Return the origin that a header `Origin` states; empty for anything that no browser sends for a website or an app.

    `null`, several origins, a path, a user, letters beyond ASCII, capitals and the scheme's own port are no origin. All comparisons
    of origins use this.
    """
    return header if header and origin_of(header) == header else ""


def file_source(address: str) -> str:
    """Return scheme://host[:port]/path of one file for a content security policy; empty if the address is not safe.

    A path with characters that a policy cannot hold is left out, which allows the whole origin (CSP Level 3 section 2.3.1).
    """
    parts = parse_url(address)
    if parts is None:
        return ""
    return parts.origin + parts.path if _PATH.fullmatch(parts.path) else parts.origin


def is_source(text: str) -> bool:
    """Return whether the text is exactly one scheme, one origin or one file, without space, semicolon or comma."""
    start = _SOURCE.match(text)
    return start is not None and (
        start.end() == len(text) or ("//" in start[0] and _PATH.fullmatch(text, start.end()) is not None)
    )


def _origin_of_app(text: str) -> str:
    found = _APP_ORIGIN.match(text)
    return found[0] if found is not None and text[found.end() :][:1] in ("", "/", "?", "#") else ""
