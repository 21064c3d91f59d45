"""The checks of an id_token: its signature by the provider, and its claims (OpenID Connect Core section 3.1.3.7)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform import jwts
from app.identity.platform.jwts import PUBLIC_KEY_ALGORITHMS, JwtNotAccepted, JwtProfile, Keys, SignatureRefused
from app.identity.platform.outbound.findings import FindingTexts, kind_of_value, shown_claim
from app.identity.platform.outbound.openid_metadata import DIRECTORY
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

MAX_LENGTH: Final = 130_000
_TIMES: Final = {
    "exp": "exp: a time in seconds since 1970 that is not over", "nbf": "nbf: a time in seconds since 1970 that has come",
    "iat": "iat: a time in seconds since 1970 that has come",
}  # fmt: skip
_OTHERS: Final = {
    "nonce": "the nonce of this sign-in", "sub": "sub: text", "at_hash": "the hash of the access token of this answer",
}  # fmt: skip
PROFILE: Final = JwtProfile(PUBLIC_KEY_ALGORITHMS, MAX_LENGTH)
_DIRECTORY_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DIGESTS: Final[Mapping[str, Any]] = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}


class IdTokenRefused(ProviderUnavailable):
    """The token is not one of the provider's for this client, or not valid now."""


@dataclass(frozen=True)
class ExpectedIdToken:
    """What the claims of an id_token must be.

    Args:
        issuer: with `{tenantid}` for the directory of the account, which `tid` names (Microsoft's `common` and `organizations`).
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
        issuer, keys = of_issuer(text, keys, expected.issuer)
        token = jwts.read_jwt(text, keys, PROFILE)
    except JwtNotAccepted as refusal:
        raise IdTokenRefused(f"the id_token is not good: {refusal}", **refusal.texts) from None
    claims: dict[str, Any] = dict(token.claims)
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    is_alone, party = len(audiences) == 1, claims.get("azp")
    is_bound = "at_hash" in claims and expected.is_with_access_token
    times = PROFILE.times(claims, expected.now)
    checks = {
        "iss": claims.get("iss") == issuer,
        "aud": expected.client_id in audiences,
        "azp": party == expected.client_id or (is_alone and (expected.has_any_party or "azp" not in claims)),
        "nonce": expected.nonce is None or claims.get("nonce") == expected.nonce,
        "sub": isinstance(claims.get("sub"), str),
        "exp": claims.get("exp") is not None and times["exp"],
        "nbf": times["nbf"],
        "iat": claims.get("iat") is not None and times["iat"],
        "at_hash": not is_bound or claims["at_hash"] == at_hash(str(token.header["alg"]), expected.access_token),
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        finding = claim_finding(
            wrong[0],
            claims,
            expected.now,
            {"iss": issuer, "aud": expected.client_id, "azp": expected.client_id},
        )
        raise IdTokenRefused(f"the id_token is not good: {', '.join(wrong)}", **finding)
    return claims


def of_issuer(text: str, keys: Keys, issuer: str) -> tuple[str, Keys]:
    """Return the issuer that a token must have, and its keys: without those that the provider publishes for another issuer.

    Of an issuer with many directories, the issuer is that of the token's directory. The claims are not verified yet; a signature
    by one of the keys does that.

    Raises SignatureRefused.
    See learn.microsoft.com/en-us/entra/identity-platform/access-tokens#validate-the-issuer.
    """
    of_token = issuer if DIRECTORY not in issuer else issuer.replace(DIRECTORY, _directory_of(text))
    return of_token, lambda kid: [key for key in keys(kid) if _signs_for(key.get("issuer"), of_token)]


def _directory_of(text: str) -> str:
    """Return the directory that an unverified token names. Raises SignatureRefused."""
    directory = jwts.unverified_claims(text, PROFILE).get("tid")
    if not isinstance(directory, str) or not _DIRECTORY_ID.fullmatch(directory):
        raise SignatureRefused(
            "its tid names no directory", check=ConnectionCheck.ISS, expected="tid: the ID of a directory",
            received=f"tid: {kind_of_value(directory)}",
        )  # fmt: skip
    return directory


def _signs_for(key_issuer: Any, issuer: str) -> bool:
    """Return whether a key signs for an issuer: one without an issuer does, one with `{tenantid}` for each directory."""
    if key_issuer is None or key_issuer == issuer:
        return True
    before, of_each, after = str(key_issuer).partition(DIRECTORY)
    directory = issuer.removeprefix(before).removesuffix(after)
    return bool(of_each) and issuer == f"{before}{directory}{after}" and bool(_DIRECTORY_ID.fullmatch(directory))


def claim_finding(name: str, claims: Mapping[str, Any], now: datetime, expected: Mapping[str, Any]) -> FindingTexts:
    """Return the finding for a wrong claim of a token.

    Args:
        expected: the values of `iss`, `aud` and `azp`. Other claims are named without values, except for times.
    """
    value = claims.get(name)
    if name in expected:
        return {"check": ConnectionCheck(name), "expected": f"{name}: {shown_claim(expected[name])}", "received": value}
    if name in _TIMES:
        received = f"{name}: {shown_claim(value)}; the time here is {now.timestamp():.0f}"
        return {"check": ConnectionCheck(name), "expected": _TIMES[name], "received": received}
    received = f"another {name}, {kind_of_value(value)}" if value is not None else f"no {name}"
    return {"check": ConnectionCheck(name), "expected": _OTHERS.get(name, ""), "received": received}


def at_hash(algorithm: str, access_token: Any) -> str | None:
    """Return the `at_hash` of an access token (section 3.1.3.6)."""
    digest = _DIGESTS.get(algorithm[-3:], hashlib.sha512)  # Ed25519 hashes so (RFC 8032)
    if not isinstance(access_token, str):
        return None
    digest_bytes = digest(access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest_bytes[: len(digest_bytes) // 2]).rstrip(b"=").decode()
