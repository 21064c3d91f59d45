"""Checks the key set that an application registers (RFC 7517 section 5)."""

import json
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry

_MAX_KEYS = 20
_MAX_CHARACTERS = 100_000
_KEY_TYPES = ("RSA", "EC", "OKP")
_PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
RSA_BITS = range(2_048, 8_193)  # RFC 7518 section 3.3; longer ones cost too much time
_BITS_OF_A_LETTER = 6  # base64url


def public_keys(jwks: dict[str, Any]) -> dict[str, Any]:
    """Check a key set: public, asymmetric keys alone, none of them weak, and no other structures."""
    keys = jwks.get("keys")
    if not isinstance(keys, list) or not 0 < len(keys) <= _MAX_KEYS or not all(isinstance(key, dict) for key in keys):
        raise ValueError(f"an object with `keys`, 1 to {_MAX_KEYS} of them")
    if any(key.get("kty") not in _KEY_TYPES or not _PRIVATE_MEMBERS.isdisjoint(key) for key in keys):
        raise ValueError("public keys of the types RSA, EC and OKP; a private key stays with the application")
    if any(key["kty"] == "RSA" and _size_of(key.get("n")) not in RSA_BITS for key in keys):
        raise ValueError("RSA keys of 2048 to 8192 bits")
    if not all(_is_plain(member) for key in keys for member in key.values()) or len(json.dumps(jwks)) > _MAX_CHARACTERS:
        raise ValueError(f"keys whose members are texts or lists of texts, {_MAX_CHARACTERS} characters at most")
    return jwks


def usable_keys(jwks: dict[str, Any]) -> dict[str, Any]:
    """Check a key set as `public_keys` does, and that each key can be read, so that a mistake shows when it is made.

    A curve that is not served is no mistake: a set may hold keys for others (RFC 7517 section 5).
    """
    for position, key in enumerate(public_keys(jwks)["keys"], start=1):
        try:
            JWKRegistry.import_key(key)
        except KeyError:
            continue
        except (JoseError, ValueError) as error:
            raise ValueError(f"keys that can be read, unlike number {position}") from error
    return jwks


def _size_of(modulus: object) -> int:
    """Return the bits of a base64url number, up to six too many, which are those of its first letter."""
    text = modulus.rstrip("=") if isinstance(modulus, str) else ""
    octets = len(text) * _BITS_OF_A_LETTER // 8
    return octets * 8


def _is_plain(member: object) -> bool:
    texts = member if isinstance(member, list) else [member]
    return all(isinstance(text, str | int | bool) for text in texts)
