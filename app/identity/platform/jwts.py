"""JWTs that other parties signed (RFC 7515, RFC 7519): the one place where a signature is verified, and what RFC 8725 demands of each."""

from __future__ import annotations

import json
import math
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key, OKPKey, RSAKey

from app.contract.applications.key_sets import RSA_BITS
from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.outbound.findings import UpstreamRefusal, claim_names
from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS

SKEW_SECONDS: Final = 60
PUBLIC_KEY_ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
)  # fmt: skip
"""Signatures with a key of the sender's own: never a shared secret, never none."""
PLAIN_TYPES: Final = (None, "jwt")
"""The `typ` of a JWT that names no kind, or none at all."""
_MAX_HEADER_LENGTH: Final = 8_000

Keys = Callable[[str | None], Iterable[Key]]
"""Returns the keys with an id, or all keys for None. Raises ProviderUnavailable where they have to be fetched and cannot be."""


class JwtNotAccepted(UpstreamRefusal):
    """The text is not a JWT as it is expected."""


class SignatureRefused(JwtNotAccepted):
    """It cannot be read, or none of the keys signed it."""


class TypeRefused(JwtNotAccepted):
    """It is another kind of token, and must not be accepted as this one (RFC 8725 section 3.11)."""


@dataclass(frozen=True)
class JwtProfile:
    """What is expected of one kind of JWT.

    Args:
        types: the accepted values of `typ` in lower case, None: absent; all are, if there are none.
        max_lifetime: the longest time until `exp`, which is required then.
    """

    algorithms: tuple[str, ...]
    max_length: int
    types: tuple[str | None, ...] = ()
    max_lifetime: timedelta | None = None

    def accepts_type(self, header: Mapping[str, Any]) -> bool:
        """Return whether the header is of this kind, and has no extension that must be understood (RFC 7515 section 4.1.11)."""
        named = header.get("typ")
        kind = named.lower() if isinstance(named, str) else named
        return "crit" not in header and (not self.types or kind in self.types)

    def times(self, claims: Mapping[str, Any], now: datetime) -> dict[str, bool]:
        """Return for each claim about time whether it lets the JWT be used now."""
        ends_at: Any = claims.get("exp")
        at, longest = now.timestamp(), self.max_lifetime
        if longest is None:
            is_current = ends_at is None or (is_time(ends_at) and at < ends_at + SKEW_SECONDS)
        else:
            is_current = is_time(ends_at) and -SKEW_SECONDS < ends_at - at <= longest.total_seconds() + SKEW_SECONDS
        return {"exp": is_current, "nbf": _has_begun(claims, "nbf", at), "iat": _has_begun(claims, "iat", at)}


def read_jwt(text: str, keys: Keys, profile: JwtProfile) -> jwt.Token:
    """Verify the signature with one of the keys, of which weak ones are left out, and return the header and the claims.

    Raises:
        SignatureRefused, TypeRefused.
        ProviderUnavailable: the keys cannot be fetched.
    """
    registry = jws.JWSRegistry(algorithms=profile.algorithms, strict_check_header=False)
    registry.max_header_length = _MAX_HEADER_LENGTH
    named = unverified_header(text, profile)
    kid = named.get("kid")
    if named.get("alg") not in profile.algorithms:
        raise SignatureRefused(
            "its alg is not accepted",
            check=ConnectionCheck.TOKEN_FORMAT,
            expected=f"alg: {', '.join(profile.algorithms)}",
            received=named.get("alg"),
        )
    for key in filter(is_strong, keys(kid if isinstance(kid, str) else None)):
        try:
            token = jwt.decode(text, key, registry=registry)
        except (JoseError, *PARSE_ERRORS):
            continue
        if not profile.accepts_type(token.header):
            text = "it is another kind of token"
            raise TypeRefused(text, check=ConnectionCheck.TOKEN_FORMAT, received=f"a token with {claim_names(named)}")
        return token
    raise SignatureRefused(
        "none of the keys signed it",
        check=ConnectionCheck.SIGNATURE,
        expected="a signature by one of the published keys",
        received=f"alg {named.get('alg')}, {f'kid {kid}' if isinstance(kid, str) else 'no kid'}",
    )


def unverified_header(text: str, profile: JwtProfile) -> dict[str, Any]:
    """Return the header of a JWT that is not verified yet. Raises SignatureRefused for another text."""
    return _part(text, 0, profile)


def unverified_claims(text: str, profile: JwtProfile) -> dict[str, Any]:
    """Return the claims of a JWT that is not verified yet, to find out whose it is. Raises SignatureRefused for another text."""
    return _part(text, 1, profile)


def is_strong(key: Key) -> bool:
    """Return whether the key is long enough, and on the one Edwards curve that is served: `EdDSA` alone names none (RFC 9864 section 1)."""
    if isinstance(key, OKPKey):
        return key.curve_name == "Ed25519"
    return not isinstance(key, RSAKey) or key.public_key.key_size in RSA_BITS


def is_time(value: Any) -> bool:
    """Return whether a claim is a NumericDate (RFC 7519 section 2) with which times can be computed."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # JSON has integers that no float can hold
        return False


def _has_begun(claims: Mapping[str, Any], name: str, at: float) -> bool:
    start: Any = claims.get(name)
    return start is None or (is_time(start) and start - SKEW_SECONDS <= at)


def _part(text: str, number: int, profile: JwtProfile) -> dict[str, Any]:
    parts = text.split(".") if len(text) <= profile.max_length else []
    if len(parts) != 3:
        raise _unreadable(
            "an encrypted token" if len(parts) == 5 else f"text of {len(text)} characters" if text else "nothing"
        )
    try:
        part = parts[number].encode("ascii")
        members = json.loads(urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
    except PARSE_ERRORS:
        raise _unreadable("parts that are no JSON in base64url") from None
    if not isinstance(members, dict):
        raise _unreadable("parts that are no JSON objects")
    return members


def _unreadable(received: str) -> SignatureRefused:
    reason = "it cannot be read as a signed JWT"
    return SignatureRefused(reason, check=ConnectionCheck.TOKEN_FORMAT, expected="a signed JWT", received=received)
