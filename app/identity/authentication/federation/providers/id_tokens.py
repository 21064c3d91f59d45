"""The checks of an id_token: its signature by the provider, and its claims (OpenID Connect Core section 3.1.3.7)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.identity.platform import jwts
from app.identity.platform.jwts import PUBLIC_KEY_ALGORITHMS, JwtNotAccepted, JwtProfile, Keys
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

MAX_LENGTH: Final = 130_000
PROFILE: Final = JwtProfile(PUBLIC_KEY_ALGORITHMS, MAX_LENGTH)
_DIGESTS: Final[Mapping[str, Any]] = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}


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
    try:
        token = jwts.read_jwt(text, keys, PROFILE)
    except JwtNotAccepted as refusal:
        raise IdTokenRefused(f"the id_token is not good: {refusal}") from None
    claims: dict[str, Any] = dict(token.claims)
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
        "at_hash": not is_bound or claims["at_hash"] == at_hash(str(token.header["alg"]), expected.access_token),
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        raise IdTokenRefused(f"the id_token is not good: {', '.join(wrong)}")
    return claims


def is_fresh(claims: Mapping[str, Any], now: datetime) -> bool:
    """Return whether a token was issued and is valid by its `iat`, `nbf` and `exp`."""
    is_complete = claims.get("iat") is not None and claims.get("exp") is not None
    return is_complete and all(PROFILE.times(claims, now).values())


def at_hash(algorithm: str, access_token: Any) -> str | None:
    """Return the `at_hash` of an access token (section 3.1.3.6)."""
    digest = _DIGESTS.get(algorithm[-3:], hashlib.sha512)  # Ed25519 hashes so (RFC 8032)
    if not isinstance(access_token, str):
        return None
    digest_bytes = digest(access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest_bytes[: len(digest_bytes) // 2]).rstrip(b"=").decode()
