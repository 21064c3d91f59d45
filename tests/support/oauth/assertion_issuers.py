"""A trusted issuer of assertions, and its keys."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

from joserfc import jws
from joserfc.jwk import Key
from werkzeug.test import TestResponse

from app.contract.applications.file import JWT_BEARER
from app.kit import randomness
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.signed_requests import client_key, part, public_jwks
from tests.support.oauth.world import World

ISSUER = "https://hr.example"


KEYS = public_jwks(client_key("ES256"), client_key("RS256", "2"))


@dataclass
class Hr:
    """The issuer that the application trusts."""

    client: RelyingParty
    algorithm: str = "ES256"
    key: Key | None = None
    header: dict[str, Any] = field(default_factory=dict)

    def assertion(self, **changed: Any) -> str:
        now = int(self.client.services.clock.now().timestamp())
        claims = {
            "iss": ISSUER, "sub": "absent", "aud": self.client.issuer, "exp": now + 60, "iat": now, "jti": randomness.token(8), **changed,
        }  # fmt: skip
        key = self.key or client_key(self.algorithm)
        header = {"alg": self.algorithm, "kid": key.kid, **self.header}
        present = {name: value for name, value in claims.items() if value is not None}
        signed = f"{part(header)}.{part(present)}"
        mark = jws.JWSRegistry.algorithms[self.algorithm].sign(signed.encode(), key)
        return f"{signed}.{base64.urlsafe_b64encode(mark).decode().rstrip('=')}"


def trusting(world: World, name: str = "payroll", **issuer: Any) -> RelyingParty:
    """Return an application that trusts the issuer."""
    trusted = {"issuer": ISSUER, "jwks": KEYS, **issuer}
    return world.application(
        name, grant_types=[JWT_BEARER], redirect_uris=[], assertion_issuers=[trusted], access_token_format="jwt"
    )


def bears(client: RelyingParty, assertion: str | None, **changed: str | None) -> TestResponse:
    form = {"grant_type": JWT_BEARER, "assertion": assertion, **client.client_credentials(), **changed}
    return client.back("token", form)


def error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "tokens")
