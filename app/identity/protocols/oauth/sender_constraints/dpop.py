"""DPoP proofs (RFC 9449): JWTs by which the sender of a request shows that it holds a key."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, Key, OKPKey, RSAKey

from app.contract.applications.key_sets import public_keys
from app.contract.applications.token_signing import ALGORITHMS as SERVED
from app.identity.platform import jwts
from app.identity.platform.context import Context
from app.identity.platform.encryption import derive_key
from app.identity.platform.jwts import JwtNotAccepted, JwtProfile
from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS
from app.kit import randomness
from app.kit.operations.request_parsing import RawRequest
from app.kit.web.urls import parse_url

ALGORITHMS: Final[tuple[str, ...]] = tuple(dict.fromkeys(("ES256", "PS256", *SERVED)))
"""With which proofs may be signed, the preferred ones first: never a shared secret, never `none` (RFC 9449 section 4.3)."""
HEADER: Final = "dpop"
SCHEME: Final = "dpop"
NONCE_HEADER: Final = "DPoP-Nonce"
SKEW_SECONDS: Final = jwts.SKEW_SECONDS
NONCE_SECONDS: Final = 60
"""A nonce is good in the period that it names, the one before, for an instance whose clock is behind, and the one after."""
REPLAY_SECONDS: Final = 3 * NONCE_SECONDS
"""How long a used proof is remembered: the longest validity of a proof."""
_TYPE: Final = "dpop+jwt"
PROFILE: Final = JwtProfile(ALGORITHMS, 8_000, (_TYPE,))


class DpopProofRefused(Exception):
    """The proof is missing or wrong; `error` is the value of RFC 9449 sections 5, 7.1 and 8."""

    def __init__(self, reason: str, error: str = "invalid_dpop_proof") -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error


@dataclass(frozen=True)
class ExpectedDpop:
    """The further expectations of a proof: the token that it comes with, the algorithms, and whether it needs a nonce."""

    access_token: str | None = None
    algorithms: tuple[str, ...] = ALGORITHMS
    requires_nonce: bool = False


def is_sent(raw: RawRequest) -> bool:
    """Return whether the request has a proof."""
    return HEADER in raw.headers


def verify(context: Context, expected: ExpectedDpop) -> str:
    """Check the request's proof, use it up, and return the thumbprint of its key (RFC 9449 section 4.3, RFC 7638).

    The response names the nonce for the next proof. Of several requests with one proof, one succeeds: the first one takes it
    from the store of used proofs, which outlives a refusal of the request.

    Raises:
        DpopProofRefused: it is wrong, was used before, or needs a nonce that it lacks.
        SharedStoreUnavailable: the store of used proofs does not answer.
    """
    context.raw.response_headers[NONCE_HEADER] = nonce(context)
    dpop_proof = context.raw.headers.get(HEADER, "")
    sender = _sender_of(dpop_proof, expected.algorithms)
    claims = _signed_claims(dpop_proof, sender)
    _check_request(context, claims)
    at = _check_time(context, claims, expected)
    if expected.access_token is not None and claims.get("ath") != randomness.digest(expected.access_token):
        raise DpopProofRefused("The ath of the DPoP proof is not that of the access token.")
    _use_up(context, sender.thumbprint, claims, at)
    return sender.thumbprint


def nonce(context: Context, *, period: int = 0, secret: bytes | None = None) -> str:
    """Return the nonce of a period, the present one by default (RFC 9449 section 8).

    A keyed hash of tenant and time, so every instance knows it and nothing is stored.
    """
    count = int(context.now.timestamp()) // NONCE_SECONDS + period
    key = derive_key(secret or context.services.settings.secrets[0], "dpop nonces")
    mac = hmac.new(key, f"{context.tenant.tenant_id} {count}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(mac[:18]).decode()


@dataclass(frozen=True)
class _DpopSender:
    """The header of a proof: the public key, its thumbprint, and what the proof must be."""

    key: Key
    thumbprint: str
    profile: JwtProfile


def _sender_of(dpop_proof: str, algorithms: tuple[str, ...]) -> _DpopSender:
    """Return the sender (RFC 9449 section 4.2); several proofs in one request make no JWT."""
    if not dpop_proof.isascii() or len(dpop_proof) > PROFILE.max_length or dpop_proof.count(".") != 2:
        raise DpopProofRefused("The DPoP proof is not one signed JWT.")
    return _read_header(dpop_proof.partition(".")[0], algorithms)


@lru_cache(maxsize=1_000)
def _read_header(text: str, algorithms: tuple[str, ...]) -> _DpopSender:
    """Return the parsed header. All proofs of a sender have the same header, with its public key and no value of the request."""
    try:
        header = jwts.unverified_header(f"{text}..", PROFILE)
    except JwtNotAccepted:
        raise DpopProofRefused("The DPoP proof cannot be read.") from None
    if header.get("typ") != _TYPE:
        raise DpopProofRefused(f"The typ of the DPoP proof is not {_TYPE}.")
    if header.get("alg") not in algorithms:
        raise DpopProofRefused("The alg of the DPoP proof is not supported.")
    if "crit" in header:
        raise DpopProofRefused("The DPoP proof has a critical header that is not understood.")
    algorithm = str(header["alg"])
    key = _key(header.get("jwk"), algorithm)
    return _DpopSender(key, key.thumbprint(), replace(PROFILE, algorithms=(algorithm,)))


def _key(jwk: object, algorithm: str) -> Key:
    """Return the public key of a proof: of the algorithm's type, and none that is weak or costly."""
    try:
        if not isinstance(jwk, dict):
            raise TypeError("no JWK")
        public_keys({"keys": [jwk]})
        key = JWKRegistry.import_key({name: value for name, value in jwk.items() if name in _KEY_MEMBERS})
        is_good = not key.is_private and _fits(key, algorithm)
    except (JoseError, *PARSE_ERRORS):
        is_good = False
    if not is_good:
        raise DpopProofRefused("The jwk of the DPoP proof is not a public key for its alg.")
    return key


_KEY_MEMBERS = frozenset({"kty", "crv", "x", "y", "n", "e"})


def _fits(key: Key, algorithm: str) -> bool:
    if isinstance(key, RSAKey):
        return algorithm in ("RS256", "PS256") and jwts.is_strong(key)
    if isinstance(key, ECKey):
        return algorithm == "ES256" and key.curve_name == "P-256"
    return isinstance(key, OKPKey) and algorithm in ("EdDSA", "Ed25519") and key.curve_name == "Ed25519"


def _signed_claims(dpop_proof: str, sender: _DpopSender) -> dict[str, Any]:
    try:
        return dict(jwts.read_jwt(dpop_proof, lambda _: (sender.key,), sender.profile).claims)
    except JwtNotAccepted:
        raise DpopProofRefused("The signature of the DPoP proof is not valid.") from None


def _check_request(context: Context, claims: dict[str, Any]) -> None:
    """Compare `htm` and `htu` with the request (RFC 9449 section 4.3)."""
    if claims.get("htm") != context.raw.method:
        raise DpopProofRefused("The htm of the DPoP proof is not the method of the request.")
    if _normalized(claims.get("htu")) != _normalized(_address(context)):
        raise DpopProofRefused("The htu of the DPoP proof is not the address of the request.")


def _address(context: Context) -> str:
    """Return the address of the request by our own names: the Host header only chooses among them."""
    settings = context.services.settings
    is_api = context.raw.host.lower() == settings.api_hostname
    return (settings.base_url if is_api else context.called_at) + context.raw.path


def _normalized(address: object) -> tuple[str, str] | None:
    """Return an address without query and fragment, to compare (RFC 3986 sections 6.2.2 and 6.2.3); None for none."""
    parts = parse_url(address) if isinstance(address, str) else None
    return None if parts is None else (parts.origin, unquote(parts.path) or "/")


def _check_time(context: Context, claims: dict[str, Any], expected: ExpectedDpop) -> int:
    """Check that the proof is new, and return its time: that of its nonce, else its `iat` (RFC 9449 sections 4.3, 8 and 11.1).

    A sender with a nonce of ours may have a wrong clock.
    """
    issued_at, provided = claims.get("iat"), claims.get("nonce")
    if issued_at is None or not jwts.is_time(issued_at):
        raise DpopProofRefused("The DPoP proof has no iat.")
    if provided is not None:
        return _time_of(context, provided)
    if expected.requires_nonce:
        raise DpopProofRefused("The DPoP proof needs the nonce of the header DPoP-Nonce.", "use_dpop_nonce")
    if not abs(issued_at - context.now.timestamp()) <= SKEW_SECONDS:
        raise DpopProofRefused("The iat of the DPoP proof is too far from now.")
    return int(issued_at)


def _time_of(context: Context, claim: object) -> int:
    """Return when the period of a nonce of ours began."""
    text = claim.encode("utf-8", "surrogatepass") if isinstance(claim, str) else b""
    for secret in context.services.settings.secrets:
        for period in (0, -1, 1):
            if hmac.compare_digest(text, nonce(context, period=period, secret=secret).encode()):
                return (int(context.now.timestamp()) // NONCE_SECONDS + period) * NONCE_SECONDS
    raise DpopProofRefused("The nonce of the DPoP proof has expired.", "use_dpop_nonce")


def _use_up(context: Context, thumbprint: str, claims: dict[str, Any], at: int) -> None:
    """Let no other request of the tenant use this `jti` of the key (RFC 9449 section 11.1).

    `at` is the time of the proof, the same at each use. A retry of the request may use its own again.
    """
    jti = claims.get("jti")
    if not isinstance(jti, str) or not jti:
        raise DpopProofRefused("The DPoP proof has no jti.")
    name = randomness.digest(json.dumps(["dpop", context.tenant.tenant_id, thumbprint, jti]))
    if name in context.raw.claimed:
        return
    if not context.services.used_proofs.take(name, at, int(context.now.timestamp())):
        raise DpopProofRefused("The DPoP proof was used before.")
    context.raw.claimed.add(name)
