"""The public keys of a client (RFC 7591 section 2): its `jwks`, or those at its `jwks_uri`."""

from __future__ import annotations

import json
from typing import Final

from joserfc.jwk import Key, OKPKey, RSAKey

from app.contract.applications.security_profile import FAPI_ALGORITHMS
from app.contract.applications.token_signing import ALGORITHMS as SERVED
from app.identity.authentication.federation.providers.id_tokens import Keys
from app.identity.platform.context import Context
from app.identity.platform.outbound.openid_metadata import import_keys, with_id
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.sender_constraints import client_certificates
from app.kit.caching.bounded_cache import bounded_cache

ALGORITHMS: Final[tuple[str, ...]] = SERVED
"""With which clients sign: never a shared secret, of which we store a digest alone, and never `none`."""
_RSA_BITS: Final = range(2_048, 8_193)  # RFC 7518 section 3.3; longer ones cost too much time


def algorithms(client: Application, known: tuple[str, ...] = ALGORITHMS) -> tuple[str, ...]:
    """Return those with which this client may sign: fewer under the FAPI 2.0 Security Profile (section 5.4.1)."""
    return tuple(item for item in known if item in FAPI_ALGORITHMS) if client.settings.is_fapi else known


def has_keys(client: Application) -> bool:
    return bool(client.settings.jwks or client.settings.jwks_uri)


def of(context: Context, client: Application) -> Keys:
    """Return the look-up of the client's keys, which raises ProviderUnavailable.

    Keys at a `jwks_uri` are cached for an hour; an unknown `kid` reads them again, at most once a minute, as does an address that
    did not answer. The database connection is returned meanwhile. Weak keys are left out.
    """
    settings = client.settings
    if settings.jwks is not None:
        stated = json.dumps(settings.jwks, sort_keys=True)
        return lambda kid: with_id(_imported(stated), kid)

    def fetched(kid: str | None) -> tuple[Key, ...]:
        context.work.release_connection()
        return _strong(
            context.services.provider_metadata.keys(str(settings.jwks_uri), kid, is_untrusted=client.is_self_registered)
        )

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
    fetch = of(context, client)
    for _ in range(2):
        if thumbprint in client_certificates.thumbprints(key.get("x5c") for key in fetch(None)):
            return True
        fetch(f"x5t#S256 {thumbprint}")  # no key has this id
    return False


@bounded_cache(max_entries=1024, length=8_000)
def _imported(jwks: str) -> tuple[Key, ...]:
    return _strong(import_keys(json.loads(jwks).get("keys")))


def _strong(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    return tuple(key for key in keys if _is_strong(key))


def _is_strong(key: Key) -> bool:
    """Return whether the key is long enough, and on the one Edwards curve that is served: `EdDSA` alone names none (RFC 9864 section 1)."""
    if isinstance(key, OKPKey):
        return key.curve_name == "Ed25519"
    return not isinstance(key, RSAKey) or key.public_key.key_size in _RSA_BITS
