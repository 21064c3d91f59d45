"""A relying party's keys, and the JWTs that it signs with them."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, Key, KeyParameters, OKPKey, RSAKey

from tests.support.oauth.relying_party import RelyingParty

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@cache
def client_key(algorithm: str, kid: str = "1") -> Key:
    """Return the key of a client for an algorithm, made once."""
    if algorithm == "Ed25519":  # another name for it
        return client_key("EdDSA") if kid == "1" else client_key("EdDSA", kid)  # the cache tells them apart
    named: KeyParameters = {"kid": kid, "use": "sig"}
    if algorithm in ("RS256", "PS256"):
        return RSAKey.generate_key(2048, named)
    return ECKey.generate_key("P-256", named) if algorithm == "ES256" else OKPKey.generate_key("Ed25519", named)


def public_jwks(*keys: Key) -> dict[str, Any]:
    """Return the key set that a client registers."""
    return {"keys": [dict(key.as_dict(private=False)) for key in keys]}


@dataclass
class Signer:
    """Signs request objects for a client; changing a field changes the signed claims."""

    client: RelyingParty
    algorithm: str = "ES256"
    key: Key | None = None
    header: dict[str, Any] = field(default_factory=lambda: {"typ": "oauth-authz-req+jwt"})
    assertion_header: dict[str, Any] = field(default_factory=dict)

    def request_object(self, **changed: Any) -> str:
        """Return an authorization request as a JWT; a member that is None is left out."""
        now = int(self.client.services.clock.now().timestamp())
        claims = {
            **self.client.authorization_parameters(), "iss": self.client.client_id, "aud": self.client.issuer, "iat": now,
            "nbf": now, "exp": now + 60, **changed,
        }  # fmt: skip
        return self.signed(claims)

    def assertion(self, **changed: Any) -> dict[str, str]:
        """Return a client assertion as members of a form (RFC 7523 section 2.2); a claim that is None is left out."""
        now = int(self.client.services.clock.now().timestamp())
        own = self.client.client_id
        claims = {
            "iss": own, "sub": own, "aud": self.client.issuer, "iat": now, "exp": now + 60, "jti": secrets.token_hex(16), **changed,
        }  # fmt: skip
        text = replace(self, header={"typ": None, **self.assertion_header}).signed(claims)
        return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": text}

    def signed(self, claims: Mapping[str, Any]) -> str:
        """Return the claims as a JWT; a claim of None is left out."""
        key = self.key or client_key(self.algorithm)
        named = {"alg": self.algorithm, "kid": key.kid, **self.header}
        header = {name: value for name, value in named.items() if value is not None}
        present = {name: value for name, value in claims.items() if value is not None}
        signed = f"{part(header)}.{part(present)}"  # not by the library, which would refuse a wrong header
        method = jws.JWSRegistry.algorithms[self.algorithm]
        signature = method.sign(signed.encode(), key)
        return f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def part(members: object) -> str:
    """Return a part of a JWT."""
    return base64.urlsafe_b64encode(json.dumps(members).encode()).decode().rstrip("=")
