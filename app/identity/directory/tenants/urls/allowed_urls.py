"""Checks URLs against a tenant's whitelist: return URLs, redirect targets and links in mails."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote, unquote_plus, urlencode

from app.contract.messages.short_link_paths import SHORT_PATHS
from app.identity.platform.context import Context
from app.kit.web.urls import WebUrl, origin_of, parse_url

_MAX_DECODINGS: Final = 4
_SEPARATOR: Final = re.compile("[&;]")  # older programs separate by semicolon
_SEPARATED: Final = re.compile("[&;]?[^&;]+|[&;]")
_SENT_ENCODED: Final = str.maketrans({"<": "%3C", ">": "%3E", '"': "%22"})
"""Characters of a path or query that browsers send encoded."""
_NO_DESTINATIONS: Final = frozenset({"ssologin"})
"""First segments of own addresses that act on the browser's session when a redirect leads there (decision 0232)."""
_PUBLIC_PARAMETERS: Final = frozenset({"lang", "language", "ui_locales", "return_url"})


def is_allowed(context: Context, return_url: str) -> bool:
    """Return whether the tenant's whitelist allows the address.

    Scheme, host and port must equal an entry; the entry's path, if any, must be a prefix of whole segments; a leading `*.`
    allows subdomains. Hosts are compared as browsers send them. URLs that browsers may parse differently are refused, and own
    addresses that act on a GET.
    """
    address = _read(return_url)
    if address is None:
        return False
    if is_own(context, return_url):
        return _first_segment(address.path) not in _NO_DESTINATIONS and not _climbs(address.path)
    return any(_matches(entry, address) for entry in context.tenant.settings.url_whitelist)


def is_own(context: Context, address: str) -> bool:
    """Return whether the address is at one of the tenant's own hosts."""
    found = _read(address)
    return found is not None and found.origin in set(map(origin_of, context.own_urls))


def _read(address: str) -> WebUrl | None:
    return parse_url(address.translate(_SENT_ENCODED))


def is_registered(context: Context, address: str) -> bool:
    """Return whether the whitelist contains exactly this address, as redirect URIs are compared (RFC 9700 section 2.1).

    Required for secrets: an entry that is an origin or a folder also allows every page there, including open redirects.
    """
    return address in context.tenant.settings.url_whitelist and is_allowed(context, address)


def is_registered_page(context: Context, address: str) -> bool:
    """Return whether the whitelist contains exactly this address without its query and fragment.

    Required for access tokens, whose return address has a query of its own.
    """
    page = address.partition("#")[0].partition("?")[0]
    return page in context.tenant.settings.url_whitelist and is_allowed(context, address)


def _matches(entry: str, address: WebUrl) -> bool:
    allowed = _read_entry(entry)
    if allowed is None or (allowed.scheme, allowed.port) != (address.scheme, address.port):
        return False
    is_below = address.host.endswith(f".{allowed.host}")
    if not (is_below if "://*." in entry else address.host == allowed.host):
        return False
    prefix, path = allowed.path.rstrip("/"), address.path
    return not prefix or ((path == prefix or path.startswith(prefix + "/")) and not _climbs(path))


@lru_cache(maxsize=4096)
def _read_entry(entry: str) -> WebUrl | None:
    return parse_url(entry.replace("://*.", "://", 1))


def _climbs(path: str) -> bool:
    """Return whether a browser or server may resolve `.` or `..` segments in the path.

    Browsers take `%2e` for a dot (URL Standard, "double-dot URL path segment"); servers may decode `%2f`, decode twice,
    or leave out what follows a semicolon.
    """
    for _ in range(_MAX_DECODINGS):
        if any(segment.partition(";")[0] in (".", "..") for segment in path.replace("\\", "/").split("/")):
            return True
        path, before = unquote(path), path
        if path == before:
            return False
    return True


def is_allowed_in_mail(context: Context, page: str) -> bool:
    """Return whether a mail may link to the address.

    On our own hosts neither short links nor query parameters that are not public are allowed: they could make our page show
    the reader another person's link.
    """
    if not is_allowed(context, page):
        return False
    address, own = _read(page), map(parse_url, context.own_urls)
    if address is None or (address.host, address.port) not in {
        (item.host, item.port) for item in own if item is not None
    }:
        return address is not None
    names = {_name(piece) for piece in _SEPARATOR.split(address.query) if piece}
    return names <= _PUBLIC_PARAMETERS and not _may_be_short_link(address.path)


def _may_be_short_link(path: str) -> bool:
    """Return whether a browser or server may read the path as a short link."""
    return f"/{_first_segment(path)}" in SHORT_PATHS.values() or _climbs(path)


def _first_segment(path: str) -> str:
    return next((segment for segment in unquote(path).casefold().split("/") if segment), "")


def mailed_link(
    context: Context,
    page: str,
    token: str,
    own_page: str | None,
    *,
    vtype: str,
    interaction_id: str | None = None,
    **more: str,
) -> str:
    """Return the link of an email: to the application's own page, else to our `page`.

    An own page gets `vtype`, `vtoken` and `more`. A link to
    our page has only the token and, to go on in the same browser, the id of the interaction.
    """
    if own_page:
        return with_query(own_page, vtype=vtype, vtoken=token, **more)
    return own_link(context, page, token, interaction_id)


def own_link(context: Context, page: str, token: str, interaction_id: str | None = None) -> str:
    """Return the link to a page of the hub: the page's letter and the token, such as `/r/TOKEN` (decision 0179)."""
    address = f"{context.pages_url}{SHORT_PATHS[page]}/{token}"
    return f"{address}?attempt={quote(interaction_id)}" if interaction_id else address


def with_query(address: str, **parameters: str) -> str:
    """Return the address with parameters added to its query (RFC 3986 §3).

    They replace parameters of the same names in any spelling, because the address may come from an attacker. Parameters in
    the fragment are replaced too, because scripts read them.
    """
    before, mark, fragment = address.partition("#")
    page, _, query = before.partition("?")
    remaining = _without(query, parameters).strip("&")
    new_fragment = "?".join(_without(part, parameters, in_fragment=True) for part in fragment.split("?"))
    return f"{page}?{remaining}{'&' if remaining else ''}{urlencode(parameters)}{mark}{new_fragment}"


def _without(query: str, names: Iterable[str], *, in_fragment: bool = False) -> str:
    """Return a query without the named parameters; in a fragment, words without `=` are kept."""
    removed = {name.casefold() for name in names}
    pieces = _SEPARATED.findall(query)
    remaining = [piece for piece in pieces if _name(piece) not in removed or (in_fragment and "=" not in piece)]
    return "".join(remaining) if len(remaining) < len(pieces) else query


def _name(piece: str) -> str:
    """Return a parameter's normalized name: decoded, case-folded, without a trailing `[]`."""
    return unquote_plus(piece.strip("&;").partition("=")[0]).partition("[")[0].strip().casefold()
