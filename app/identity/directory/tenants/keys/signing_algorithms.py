"""The algorithms with which a tenant signs: the table behind its keys, its tokens and its metadata."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from pydantic_core import to_json

from app.contract.applications.token_signing import ALGORITHMS as SERVED
from app.contract.applications.token_signing import DEFAULT_ALGORITHM, SigningAlgorithm
from app.kit.randomness import base64url

# RFC 9864 deprecates the name EdDSA, which clients still send and register: both are served (decision 0245).
warnings.filterwarnings("ignore", "EdDSA is deprecated", SecurityWarning)

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def new_rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: how a key is created and imported, and the digest of the hashes in its id_tokens."""

    new_key: Callable[[], PrivateKey]
    import_key: Callable[[Any], Key]
    digest: str


_KINDS: Final[Mapping[SigningAlgorithm, Algorithm]] = {
    "RS256": Algorithm(new_rsa_key, RSAKey.import_key, "sha256"),
    "PS256": Algorithm(new_rsa_key, RSAKey.import_key, "sha256"),
    "ES256": Algorithm(lambda: ec.generate_private_key(ec.SECP256R1()), ECKey.import_key, "sha256"),
    "EdDSA": Algorithm(ed25519.Ed25519PrivateKey.generate, OKPKey.import_key, "sha512"),
    "Ed25519": Algorithm(ed25519.Ed25519PrivateKey.generate, OKPKey.import_key, "sha512"),
}
ALGORITHMS: Final[Mapping[str, Algorithm]] = {name: _KINDS[name] for name in SERVED}
"""Each algorithm has keys of its own: one RSA key for both paddings would let a weakness of one affect the other (RFC 8017
section 8), and `alg` of a published key then names its use (RFC 7517 section 4.4)."""
WEBHOOKS: Final = "webhooks"
"""In the place of an algorithm: the Ed25519 keys that sign webhooks. They sign no token, and are published apart."""
KEYS: Final[Mapping[str, Algorithm]] = {**ALGORITHMS, WEBHOOKS: _KINDS["Ed25519"]}
DEFAULT: Final = DEFAULT_ALGORITHM
"""Of applications that name no other, of machine tokens, and of tenants before there were others."""


def half_hash(text: str, algorithm: str = DEFAULT) -> str:
    """Return `at_hash`, `c_hash` or `s_hash` of a text: the left half of the digest of the id_token's algorithm.

    (OpenID Connect Core section 3.1.3.6, section 3.3.2.11.) Ed25519 hashes with SHA-512 itself (RFC 8032 section 5.1), so its
    digest is SHA-512.
    """
    digest = hashlib.new(ALGORITHMS[algorithm].digest, text.encode()).digest()
    return base64url(digest[: len(digest) // 2])


def compact_jwt(header: Mapping[str, str], claims: Mapping[str, Any], key: Key) -> str:
    """Return a signed JWT (RFC 7519 section 7.1) in the compact form of RFC 7515 section 7.1.

    As `joserfc.jwt.encode`, whose signature it is, without checking for each token that header and key fit: they are ours.
    """
    signed = f"{_header(tuple(header.items()))}.{base64url(to_json(claims))}"
    signature: bytes = _signature(header["alg"])(signed.encode(), key)
    return f"{signed}.{base64url(signature)}"


@lru_cache(maxsize=1024)
def _header(members: tuple[tuple[str, str], ...]) -> str:
    return base64url(to_json(dict(members)))


@cache
def _signature(algorithm: str) -> Callable[[bytes, Key], bytes]:
    return _rs256 if algorithm == "RS256" else JWSRegistry(algorithms=[algorithm]).get_alg(algorithm).sign


def _rs256(content: bytes, key: Key) -> bytes:
    """Return the signature of RFC 7518 section 3.3, without asking the key each time whether it is private and may sign."""
    private: Any = key.raw_value
    signature: bytes = private.sign(content, _PKCS1, _SHA256)
    return signature


_PKCS1, _SHA256 = PKCS1v15(), SHA256()
