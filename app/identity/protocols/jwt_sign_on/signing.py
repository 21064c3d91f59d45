"""The tenant's JWT clients, and the JWTs that they get (RFC 7519)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OctKey, RSAKey

from app.contract import errors
from app.contract.jwt import jwt_operations
from app.contract.jwt.jwt_operations import JwtClient
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document
from app.identity.platform import private_keys
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.resource_store import items_of
from app.kit import randomness

DEFAULT_SECONDS: Final = 600
_RESERVED: Final = frozenset({"iss", "aud", "iat", "nbf", "exp", "jti", "nonce"})
"""Claims that neither the mapping nor fixed claims replace."""


@dataclass(frozen=True)
class JwtApp:
    """A JWT client with its key."""

    client: JwtClient
    secret: str = field(repr=False)


def find(context: Context, name: str | None) -> JwtApp:
    """Return a JWT client by its name, in any letter case. Raises JwtAppNameMissing, JwtConfigurationInvalid."""
    requested = (name or "").strip().lower()
    if not requested:
        raise errors.JwtAppNameMissing
    found = [item for (key,), item in items_of(context, jwt_operations.CLIENTS).items() if key.lower() == requested]
    if len(found) != 1 or not found[0].secrets.get("secret"):
        raise errors.JwtConfigurationInvalid
    client = JwtClient.model_validate({**found[0].content, "app_name": found[0].name})
    return JwtApp(client, found[0].secrets["secret"])


def sign(context: Context, app: JwtApp, account: Account, nonce: str | None) -> str:
    """Return the JWT of an account for an app, and record it. Raises JwtConfigurationInvalid for a key that cannot sign."""
    algorithm = app.client.algo
    try:
        key = _key(algorithm, app.secret)
        signed = jwt.encode(
            {"typ": "JWT", "alg": algorithm},
            _claims(context, app.client, account, nonce),
            key,
            registry=jws.JWSRegistry(algorithms=[algorithm]),
        )
    except (JoseError, ValueError, TypeError, UnsupportedAlgorithm):
        raise errors.JwtConfigurationInvalid from None
    context.audit.record("jwt.issued", uid=account.uid, app=app.client.app_name)
    return signed


def _key(algorithm: str, secret: str) -> Key:
    """Return the key without its validation, which takes longer than all else of a sign-in."""
    if algorithm.startswith("HS"):
        return OctKey.import_key(secret)
    loaded = private_keys.stored(secret)
    if isinstance(loaded, rsa.RSAPrivateKey) and algorithm.startswith("RS"):
        return RSAKey(loaded, loaded)
    if isinstance(loaded, ec.EllipticCurvePrivateKey) and algorithm.startswith("ES"):
        return ECKey(loaded, loaded)
    raise TypeError("a key for another algorithm")


def _claims(context: Context, client: JwtClient, account: Account, nonce: str | None) -> dict[str, Any]:
    now, profile = int(context.now.timestamp()), profile_document.profile_of(account)
    own: dict[str, Any] = {**client.metadata, "sub": account.uid}
    own.update(
        {
            claim: value
            for claim, field in client.mapping.items()
            if (value := profile_document.verified_field_of(account, profile, field)) is not None
        }
    )
    claims = {name: value for name, value in own.items() if name not in _RESERVED}
    audience = client.audience
    claims.update(
        iss=f"{context.issuer}/",
        iat=now,
        nbf=now - client.not_before_difference,
        exp=now + (client.not_after_difference or DEFAULT_SECONDS),
        jti=randomness.token(18),
    )
    if audience:
        claims["aud"] = audience[0] if len(audience) == 1 else audience
    return claims | ({"nonce": nonce} if nonce else {})
