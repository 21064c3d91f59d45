"""The public keys of a client (RFC 7591 section 2): its `jwks`, or those at its `jwks_uri`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from joserfc.jwk import Key

from app.contract.applications.security_profile import FAPI_ALGORITHMS
from app.contract.applications.token_signing import ALGORITHMS as SERVED
from app.identity.platform import jwts
from app.identity.platform.context import Context
from app.identity.platform.jwts import Keys
from app.identity.platform.outbound.openid_metadata import import_keys, with_id
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.sender_constraints import client_certificates
from app.kit.caching.bounded_cache import bounded_cache
from app.kit.observability.logs import bind

ALGORITHMS: Final[tuple[str, ...]] = SERVED
"""With which clients sign: never a shared secret, of which we store a digest alone, and never `none`."""


def algorithms(client: Application, known: tuple[str, ...] = ALGORITHMS) -> tuple[str, ...]:
    """Return those with which this client may sign: fewer under the FAPI 2.0 Security Profile (section 5.4.1)."""
    return tuple(item for item in known if item in FAPI_ALGORITHMS) if client.settings.is_fapi else known


def has_keys(client: Application) -> bool:
    return bool(client.settings.jwks or client.settings.jwks_uri)


def keys_of_client(context: Context, client: Application) -> Keys:
    """Return the look-up of the client's keys."""
    settings = client.settings
    return registered(context, settings.jwks, settings.jwks_uri, is_untrusted=client.is_self_registered)


def registered(
    context: Context, jwks: Mapping[str, Any] | None, jwks_uri: str | None, *, is_untrusted: bool = False
) -> Keys:
    """Return the look-up of registered keys, or of those at their address, where it raises ProviderUnavailable.

    Keys at a `jwks_uri` are cached for an hour; an unknown `kid` reads them again, at most once a minute, as does an address that
    did not answer. The database connection is returned meanwhile.
    """
    if jwks is not None:
        stated = json.dumps(jwks, sort_keys=True)
        return lambda kid: with_id(_imported(stated), kid)

    def fetched(kid: str | None) -> tuple[Key, ...]:
        context.work.release_connection()
        try:
            return context.services.provider_metadata.keys(str(jwks_uri), kid, is_untrusted=is_untrusted)
        except ProviderUnavailable as problem:
            bind(keys_unavailable=str(problem))  # the response does not tell it from a wrong signature
            raise

    return fetched


def has_certificate(context: Context, client: Application, thumbprint: str) -> bool:
    """Return whether a certificate is an `x5c` of the client (RFC 8705 section 2.2). Raises ProviderUnavailable.

    An unknown key causes a new fetch of the `jwks_uri`, as an unknown `kid` does.
    """
    settings = client.settings
    if settings.jwks is not None:
        keys = settings.jwks.get("keys") or ()
        return thumbprint in client_certificates.thumbprints(key.get("x5c") for key in keys)
    if settings.jwks_uri is None:
        return False
    fetch = keys_of_client(context, client)
    for _ in range(2):
        if thumbprint in client_certificates.thumbprints(key.get("x5c") for key in filter(jwts.is_strong, fetch(None))):
            return True
        fetch(f"x5t#S256 {thumbprint}")  # no key has this id
    return False


@bounded_cache(max_entries=1024, length=8_000)
def _imported(jwks: str) -> tuple[Key, ...]:
    return import_keys(json.loads(jwks).get("keys"))
