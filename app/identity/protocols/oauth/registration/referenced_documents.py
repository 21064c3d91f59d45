"""Fetches the documents that a registration names by address, before it is stored: its keys, its sector and its logo."""

from __future__ import annotations

import hashlib
from typing import Final

from app.contract.applications.settings import ApplicationSettings
from app.contract.oauth.oauth_errors import InvalidClientMetadata
from app.identity.directory.tenants.registered_applications import Logo
from app.identity.platform.context import Context
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.protocols.oauth import sector_identifiers

_SECTOR: Final = "sector_identifier_uri"
ADDRESSES: Final = frozenset({"jwks_uri", _SECTOR, "logo_uri"})
"""The members that are fetched."""
_LOGO_TYPES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
_LOGO_ACCEPT: Final = "image/png, image/jpeg, image/gif, image/webp"
_MAX_LOGO_BYTES: Final = 100_000


def check(context: Context, settings: ApplicationSettings) -> Logo | None:
    """Check the keys and the sector, and return a copy of the logo; the database connection is returned meanwhile.

    Raises:
        InvalidClientMetadata: `jwks_uri` has no keys, or `sector_identifier_uri` does not list the redirect URIs.
    """
    context.work.release_connection()
    if settings.jwks_uri is not None:
        try:
            context.services.provider_metadata.keys(settings.jwks_uri, None, is_untrusted=True)
        except ProviderUnavailable:
            raise InvalidClientMetadata("jwks_uri: expected an address with a JWK set.") from None
    if settings.sector_identifier_uri is not None:
        resolver = context.services.provider_metadata.resolver
        if problem := sector_identifiers.problem_of(resolver, settings, is_untrusted=True):
            raise InvalidClientMetadata(f"{_SECTOR}: expected {problem.partition(';')[0]}.")
    return _logo(context, settings.logo_uri)


def _logo(context: Context, address: str | None) -> Logo | None:
    """Return a copy of the logo; None if it cannot be fetched, is large, or is no image that runs no script."""
    if address is None or not address.startswith(("https://", "http://")):
        return None
    try:
        content = outbound_http.get_content(
            context.services.provider_metadata.resolver, address, _LOGO_ACCEPT, is_untrusted=True
        )
    except ProviderUnavailable:
        return None
    media_type = next((kind for start, kind in _LOGO_TYPES if content.startswith(start)), "")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        media_type = "image/webp"
    if not media_type or len(content) > _MAX_LOGO_BYTES:
        return None
    return Logo(media_type, content, hashlib.sha256(content).hexdigest())
