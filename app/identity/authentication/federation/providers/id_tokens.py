"""The checks of an id_token: its signature by the provider, and its claims (OpenID Connect Core section 3.1.3.7)."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key

from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

SKEW_SECONDS: Final = 60
ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Signatures with a key of the provider's own: never a shared secret, never none."""
_DIGESTS: Final[Mapping[str, Any]] = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}
_MAX_HEADER_LENGTH: Final = 8_000

Keys = Callable[[str | None], Iterable[Key]]
"""Returns the keys with an id, or all keys for None."""


class IdTokenRefused(ProviderUnavailable):
    """The token is not one of the provider's for this client, or not valid now."""


@dataclass(frozen=True)
class ExpectedIdToken:
    """What the claims of an id_token must be.

    Args:
        nonce: None where this service requested none.
        access_token: the token that came with the id_token; None if none came, and `at_hash` is not checked.
        has_any_party: accept any `azp` in a token for this client alone, as Google issues it to other apps of a client's project.
    """

    issuer: str
    client_id: str
    now: datetime
    nonce: str | None = None
    is_with_access_token: bool = True
    access_token: Any = None
    has_any_party: bool = False


def verify(text: str, keys: Keys, expected: ExpectedIdToken) -> dict[str, Any]:
    """Return the claims of a valid id_token. Raises IdTokenRefused, and ProviderUnavailable where the keys are."""
    algorithm, claims = signed_claims(text, keys, ALGORITHMS)
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    is_alone, party = len(audiences) == 1, claims.get("azp")
    is_bound = "at_hash" in claims and expected.is_with_access_token
    checks = {
        "iss": claims.get("iss") == expected.issuer,
        "aud": expected.client_id in audiences,
        "azp": party == expected.client_id or (is_alone and (expected.has_any_party or "azp" not in claims)),
        "nonce": expected.nonce is None or claims.get("nonce") == expected.nonce,
        "sub": isinstance(claims.get("sub"), str),
        "exp": is_fresh(claims, expected.now),
        "at_hash": not is_bound or claims["at_hash"] == at_hash(algorithm, expected.access_token),
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        raise IdTokenRefused(f"the id_token is not good: {', '.join(wrong)}")
    return claims


def signed_claims(text: str, keys: Keys, algorithms: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """Verify the signature with one of the keys, and return the algorithm and the claims. Raises IdTokenRefused."""
    registry = jws.JWSRegistry(algorithms=algorithms, strict_check_header=False)
    registry.max_header_length = _MAX_HEADER_LENGTH
    try:
        header = jws.extract_compact(text.encode(), registry=registry).headers()
    except (JoseError, *PARSE_ERRORS):
        raise IdTokenRefused("there is no id_token that can be read") from None
    kid, algorithm = header.get("kid"), header.get("alg")
    if algorithm not in algorithms:
        raise IdTokenRefused("the id_token is not signed with a key of the provider's own")
    for key in keys(kid if isinstance(kid, str) else None):
        try:
            return str(algorithm), dict(jwt.decode(text, key, registry=registry).claims)
        except (JoseError, *PARSE_ERRORS):
            continue
    raise IdTokenRefused("the id_token is not signed by the provider")


def is_fresh(claims: Mapping[str, Any], now: datetime) -> bool:
    """Return whether a token was issued and is valid by its `iat`, `nbf` and `exp`."""
    starts = [claims.get("iat"), claims.get("nbf", claims.get("iat"))]
    expires_at, at = claims.get("exp"), now.timestamp()
    if not all(map(is_time, [*starts, expires_at])):
        return False
    return all(start - SKEW_SECONDS <= at for start in starts) and at < expires_at + SKEW_SECONDS  # type: ignore[operator]  # numbers


def is_time(value: Any) -> bool:
    """Return whether a claim is a NumericDate (RFC 7519 section 2) with which times can be computed."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # JSON has integers that no float can hold
        return False


def at_hash(algorithm: str, access_token: Any) -> str | None:
    """Return the `at_hash` of an access token (section 3.1.3.6)."""
    digest = _DIGESTS.get(algorithm[-3:], hashlib.sha512)  # Ed25519 hashes so (RFC 8032)
    if not isinstance(access_token, str):
        return None
    digest_bytes = digest(access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest_bytes[: len(digest_bytes) // 2]).rstrip(b"=").decode()
