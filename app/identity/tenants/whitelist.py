"""Addresses outside that a tenant allows: where people are sent back to, and what mails link to."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote, urlencode, urlsplit

from app.identity.call import Call
from app.kit.web_addresses import is_web_address

_MOST_DECODED: Final = 4


def is_allowed(call: Call, return_url: str) -> bool:
    """Return whether the tenant's whitelist allows the address (interface hosted-pages.md section 8).

    Scheme, host and port equal an entry, whose path, where it has one, is a prefix by whole segments; a leading `*.`
    allows subdomains. Anything a browser might read otherwise is refused.
    """
    if any(ord(letter) <= 32 or letter in "\\\x7f" for letter in return_url):
        return False
    try:
        asked = urlsplit(return_url)
        port = asked.port
    except ValueError:
        return False
    if asked.hostname is None or not is_web_address(f"{asked.scheme}://{asked.netloc}"):
        return False
    own = urlsplit(call.issuer)
    if (asked.scheme, asked.hostname, port) == (own.scheme, own.hostname, own.port):
        return True
    return any(
        _matches(entry, asked.scheme, asked.hostname, port, asked.path) for entry in call.tenant.settings.url_whitelist
    )


def _matches(entry: str, scheme: str, host: str, port: int | None, path: str) -> bool:
    allowed = urlsplit(entry)
    name = allowed.hostname or ""
    same_host = host == name or (name.startswith("*.") and host.endswith(name[1:]) and host != name[2:])
    if not same_host or allowed.scheme != scheme or allowed.port != port:
        return False
    prefix = allowed.path.rstrip("/")
    return not prefix or ((path == prefix or path.startswith(prefix + "/")) and not _climbs(path))


def _climbs(path: str) -> bool:
    """Return whether a browser or a server behind it may read `.` or `..` as steps out of the path's beginning.

    Browsers take `%2e` for a dot (URL Standard, "double-dot URL path segment"); servers may decode `%2f`, decode twice,
    or leave out what follows a semicolon.
    """
    for _ in range(_MOST_DECODED):
        if any(step.partition(";")[0] in (".", "..") for step in path.replace("\\", "/").split("/")):
            return True
        path, before = unquote(path), path
        if path == before:
            return False
    return True


def with_query(address: str, **parameters: str) -> str:
    """Return the address with parameters added to its query, which stands before the fragment (RFC 3986 §3)."""
    before, mark, fragment = address.partition("#")
    joint = "" if before.endswith(("?", "&")) else "&" if "?" in before else "?"
    return f"{before}{joint}{urlencode(parameters)}{mark}{fragment}"
