"""The document of a `sector_identifier_uri`: it lists every redirect URI (OpenID Connect Core section 8.1, OpenID Connect
Registration section 5).

Otherwise an application could claim another's sector, and match the accounts of both.
"""

from __future__ import annotations

from typing import Any

from app.contract.applications.settings import ApplicationSettings
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.outbound.host_resolver import Resolver


def is_checked(before: ApplicationSettings | None, after: ApplicationSettings) -> bool:
    """Return whether a change needs the document: another one, or redirect URIs that it has not been asked for."""
    if after.sector_identifier_uri is None:
        return False
    is_same = before is not None and before.sector_identifier_uri == after.sector_identifier_uri
    return not is_same or not set(after.redirect_uris) <= set(before.redirect_uris if before else ())


def problem_of(resolver: Resolver, settings: ApplicationSettings, *, is_untrusted: bool = False) -> str:
    """Fetch the document, and return the expected content; an empty text if it lists every redirect URI.

    Args:
        is_untrusted: whether anyone can name the address.
    """
    return problem_with(fetch(resolver, str(settings.sector_identifier_uri), is_untrusted=is_untrusted), settings)


def fetch(resolver: Resolver, address: str, *, is_untrusted: bool = False) -> Any:
    """Return the document, or the exception with the reason why there is none."""
    try:
        return outbound_http.get_json(resolver, address, is_untrusted=is_untrusted)
    except ProviderUnavailable as problem:
        return problem


def problem_with(document: Any, settings: ApplicationSettings) -> str:
    """Return the expected content of a fetched document; an empty text if it lists every redirect URI."""
    if isinstance(document, ProviderUnavailable):
        return f"an address with a JSON array; {document}"
    if not isinstance(document, list):
        return "an address with a JSON array; it has another value"
    known = {item for item in document if isinstance(item, str)}
    missing = next((uri for uri in settings.redirect_uris if uri not in known), None)
    return f"an array with every one of redirect_uris; it lacks {missing[:200]}" if missing is not None else ""
