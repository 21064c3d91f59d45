"""Addresses outside that a tenant allows: where people are sent back to, and what mails link to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote, unquote_plus, urlencode, urlsplit

from app.identity.platform.context import Context
from app.kit.web_addresses import is_web_address

_MOST_DECODED: Final = 4
_SEPARATOR: Final = re.compile("[&;]")  # a semicolon to older programs
_SEPARATED: Final = re.compile("[&;]?[^&;]+|[&;]")
_ANYBODYS: Final = frozenset({"lang", "language", "ui_locales", "return_url"})


def is_allowed(context: Context, return_url: str) -> bool:
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
    own = urlsplit(context.issuer)
    if (asked.scheme, asked.hostname, port) == (own.scheme, own.hostname, own.port):
        return True
    return any(
        _matches(entry, asked.scheme, asked.hostname, port, asked.path)
        for entry in context.tenant.settings.url_whitelist
    )


def is_registered(context: Context, address: str) -> bool:
    """Return whether the whitelist has the address letter for letter, as redirect URIs are compared (RFC 9700 section 2.1).

    An entry that is an origin or a folder allows any page there to be returned to, an open redirect included: no secret may
    travel by that.
    """
    return address in context.tenant.settings.url_whitelist and is_allowed(context, address)


def is_registered_page(context: Context, address: str) -> bool:
    """Return whether the whitelist has the address without its query and fragment, character by character.

    That is how a page receives an access token: a return address has a query of its own (interface hosted-pages.md section 2).
    """
    page = address.partition("#")[0].partition("?")[0]
    return page in context.tenant.settings.url_whitelist and is_allowed(context, address)


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


def is_allowed_in_mail(context: Context, page: str) -> bool:
    """Return whether a mail of ours may lead to the address: one that the whitelist allows.

    On our own host it brings no query but what our pages take from anybody: the rest of it is ours to state, and would make
    our own page show a mail's reader somebody else's link.
    """
    if not is_allowed(context, page):
        return False
    parts, own = urlsplit(page), urlsplit(context.issuer)
    names = {_name(piece) for piece in _SEPARATOR.split(parts.query) if piece}
    return (parts.hostname, parts.port) != (own.hostname, own.port) or names <= _ANYBODYS


def with_query(address: str, **parameters: str) -> str:
    """Return the address with parameters in its query, which stands before the fragment (RFC 3986 §3).

    They take the place of any of their names, in whatever spelling: else whoever brought the address would choose what the
    page reads. What a fragment says in the form of a query counts as well, as programs in a browser read it.
    """
    before, mark, fragment = address.partition("#")
    page, _, query = before.partition("?")
    kept = _without(query, parameters).strip("&")
    said = "?".join(_without(part, parameters, in_fragment=True) for part in fragment.split("?"))
    return f"{page}?{kept}{'&' if kept else ''}{urlencode(parameters)}{mark}{said}"


def _without(query: str, names: Iterable[str], *, in_fragment: bool = False) -> str:
    """Return a query without the parameters of these names; a fragment's words without `=` are no parameters."""
    ours = {name.casefold() for name in names}
    pieces = _SEPARATED.findall(query)
    kept = [piece for piece in pieces if _name(piece) not in ours or (in_fragment and "=" not in piece)]
    return "".join(kept) if len(kept) < len(pieces) else query


def _name(piece: str) -> str:
    """Return a parameter's name as programs may read it: decoded, in small letters, without `[]` after it."""
    return unquote_plus(piece.strip("&;").partition("=")[0]).partition("[")[0].strip().casefold()
