"""A client's key for DPoP, and the proofs that it signs (RFC 9449 section 4)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from joserfc import jws
from joserfc.jwk import Key
from werkzeug.test import TestResponse

from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.signed_requests import client_key, part


@dataclass
class Prover:
    """A client that sends proofs. `nonce` is the last nonce that it received."""

    client: RelyingParty
    algorithm: str = "ES256"
    key: Key = field(default_factory=lambda: client_key("ES256", secrets.token_hex(4)))
    nonce: str | None = None

    @property
    def thumbprint(self) -> str:
        return self.key.thumbprint()

    @property
    def public_jwk(self) -> dict[str, Any]:
        return {name: value for name, value in self.key.as_dict(private=False).items() if name not in ("kid", "use")}

    def dpop_proof(
        self,
        method: str,
        address: str,
        *,
        header: Mapping[str, Any] | None = None,
        token: str | None = None,
        **changed: Any,
    ) -> str:
        """Return a proof for a request; a member that is None is left out."""
        now = int(self.client.services.clock.now().timestamp())
        ath = digest(token) if token is not None else None
        stored = {
            "jti": secrets.token_hex(12),
            "htm": method,
            "htu": address,
            "iat": now,
            "ath": ath,
            "nonce": self.nonce,
        }
        named = {"typ": "dpop+jwt", "alg": self.algorithm, "jwk": self.public_jwk, **(header or {})}
        payload = {**stored, **changed}
        signed = ".".join(
            part({name: value for name, value in members.items() if value is not None}) for members in (named, payload)
        )
        signature = jws.JWSRegistry.algorithms[self.algorithm].sign(signed.encode(), self.key)
        return f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"

    def post(self, what: str, form: Mapping[str, Any], dpop_proof: str | None = None) -> TestResponse:
        """Post a form to an endpoint for clients with a proof: a new proof, or `proof`."""
        path = f"/api/oidc/{self.client.app}/{what}" if self.client.app else f"/api/oidc/{what}"
        sent = dpop_proof if dpop_proof is not None else self.dpop_proof("POST", self.client.hub_url + path)
        return self.client.back(what, form, headers={"DPoP": sent})

    def redeem(self, code: str, dpop_proof: str | None = None, **changed: Any) -> TestResponse:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.client.redirect_uri}
        return self.post("token", {**form, **self.client.client_credentials(), **changed}, dpop_proof)

    def bound(self, browser: Browser, person: Person, **changed: str | None) -> dict[str, Any]:
        """Return the tokens of a code flow with a proof."""
        answer = self.redeem(browser.code(self.client, person, **changed))
        assert answer.status_code == 200, answer.text
        stored: dict[str, Any] = answer.json or {}
        return stored

    def refresh(self, token: str, dpop_proof: str | None = None, **changed: Any) -> TestResponse:
        form = {"grant_type": "refresh_token", "refresh_token": token, **self.client.client_credentials()}
        return self.post("token", {**form, **changed}, dpop_proof)

    def userinfo(self, token: str, dpop_proof: str | None = None, *, scheme: str = "DPoP") -> TestResponse:
        address = f"{self.client.hub_url}/service/oidc/userinfo"
        sent = dpop_proof if dpop_proof is not None else self.dpop_proof("GET", address, token=token)
        return self.client.get("/service/oidc/userinfo", headers={"Authorization": f"{scheme} {token}", "DPoP": sent})


def digest(token: str) -> str:
    """Return the `ath` of an access token."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
