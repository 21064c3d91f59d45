"""A software authenticator: it creates passkeys and signs with them, correctly or with faults (WebAuthn level 3 section 6)."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, ELIGIBLE, BACKED_UP, ATTESTED = 0x01, 0x04, 0x08, 0x10, 0x40
APPLE = bytes.fromhex("fbfc3007154e4ecc8c0b6e020557d7bd")


def to_base64url(raw: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


@dataclass
class Passkey:
    """One key pair of an account at a site."""

    rp_id: str
    handle: str
    raw_id: bytes = field(default_factory=lambda: secrets.token_bytes(20))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()), repr=False)
    counter: int = 0


@dataclass
class Authenticator:
    """What makes and shows passkeys for the pages of one origin."""

    origin: str
    verifies: bool = True  # the user, by a finger or a number
    is_synced: bool = True
    counts: bool = False
    passkeys: list[Passkey] = field(default_factory=list)

    def makes(self, options: Mapping[str, Any], **overrides: Any) -> dict[str, Any]:
        """Answer `navigator.credentials.create`."""
        made = Passkey(options["rp"]["id"], options["user"]["id"])
        self.passkeys.append(made)
        return self.attests(made, options["challenge"], **overrides)

    def attests(self, passkey: Passkey, challenge: str, **overrides: Any) -> dict[str, Any]:
        """Return the credential of a passkey that was just made; `overrides` replaces true values."""
        numbers = passkey.key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32), numbers.y.to_bytes(32)
        key = overrides.get("key", cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y}))
        raw_id = overrides.get("raw_id", passkey.raw_id)
        attested = APPLE + len(raw_id).to_bytes(2) + raw_id + key
        data = self._data(passkey, overrides, ATTESTED) + attested
        attestation = overrides.get("attestation", cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}))
        client = self._client("webauthn.create", challenge, overrides)
        response = {
            "attestationObject": to_base64url(attestation),
            "clientDataJSON": to_base64url(client),
            "transports": ["internal"],
        }
        return self._credential(raw_id, response, overrides)

    def shows(self, options: Mapping[str, Any], passkey: Passkey | None = None, **overrides: Any) -> dict[str, Any]:
        """Answer `navigator.credentials.get`."""
        used = passkey or self._allowed(options)
        if self.counts and "counter" not in overrides:
            used.counter += 1
        data = self._data(used, overrides)
        client = self._client("webauthn.get", options["challenge"], overrides)
        signature = used.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        response = {
            "authenticatorData": to_base64url(overrides.get("data", data)),
            "clientDataJSON": to_base64url(client),
            "signature": to_base64url(overrides.get("signature", signature)),
            "userHandle": overrides.get("handle", used.handle),
        }
        return self._credential(overrides.get("raw_id", used.raw_id), response, overrides)

    def _allowed(self, options: Mapping[str, Any]) -> Passkey:
        named = {credential["id"] for credential in options.get("allowCredentials") or ()}
        return next(
            passkey for passkey in reversed(self.passkeys) if not named or to_base64url(passkey.raw_id) in named
        )

    def _data(self, passkey: Passkey, overrides: Mapping[str, Any], extra: int = 0) -> bytes:
        flags = PRESENT | (VERIFIED if self.verifies else 0) | (ELIGIBLE | BACKED_UP if self.is_synced else 0) | extra
        counter = overrides.get("counter", passkey.counter)
        site = hashlib.sha256(overrides.get("rp_id", passkey.rp_id).encode()).digest()
        return site + bytes([overrides.get("flags", flags)]) + int(counter).to_bytes(4)

    def _client(self, kind: str, challenge: str, overrides: Mapping[str, Any]) -> bytes:
        client = {
            "type": overrides.get("kind", kind),
            "challenge": overrides.get("challenge", challenge),
            "origin": overrides.get("origin", self.origin),
            "crossOrigin": False,
        }
        return bytes(overrides.get("client", json.dumps(client).encode()))

    def _credential(self, raw_id: bytes, response: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
        where = overrides.get("attachment", "platform")
        shown = {
            "id": to_base64url(raw_id),
            "rawId": to_base64url(raw_id),
            "type": "public-key",
            "authenticatorAttachment": where,
        }
        return {**shown, "response": dict(response), **overrides.get("credential", {})}
