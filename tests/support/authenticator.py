"""An authenticator in software: it makes passkeys and signs with them, well or badly (WebAuthn level 3 section 6)."""

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


def told(raw: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def heard(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


@dataclass
class Passkey:
    """One key pair of somebody at some site."""

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

    def makes(self, options: Mapping[str, Any], **said: Any) -> dict[str, Any]:
        """Answer `navigator.credentials.create`."""
        made = Passkey(options["rp"]["id"], options["user"]["id"])
        self.passkeys.append(made)
        return self.attests(made, options["challenge"], **said)

    def attests(self, passkey: Passkey, challenge: str, **said: Any) -> dict[str, Any]:
        """Return the credential of a passkey that was just made; `said` replaces what is true."""
        numbers = passkey.key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32), numbers.y.to_bytes(32)
        key = said.get("key", cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y}))
        raw_id = said.get("raw_id", passkey.raw_id)
        attested = APPLE + len(raw_id).to_bytes(2) + raw_id + key
        data = self._data(passkey, said, ATTESTED) + attested
        attestation = said.get("attestation", cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}))
        client = self._client("webauthn.create", challenge, said)
        response = {"attestationObject": told(attestation), "clientDataJSON": told(client), "transports": ["internal"]}
        return self._credential(raw_id, response, said)

    def shows(self, options: Mapping[str, Any], passkey: Passkey | None = None, **said: Any) -> dict[str, Any]:
        """Answer `navigator.credentials.get`."""
        used = passkey or self._allowed(options)
        if self.counts and "counter" not in said:
            used.counter += 1
        data = self._data(used, said)
        client = self._client("webauthn.get", options["challenge"], said)
        signature = used.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        response = {
            "authenticatorData": told(said.get("data", data)),
            "clientDataJSON": told(client),
            "signature": told(said.get("signature", signature)),
            "userHandle": said.get("handle", used.handle),
        }
        return self._credential(said.get("raw_id", used.raw_id), response, said)

    def _allowed(self, options: Mapping[str, Any]) -> Passkey:
        named = {one["id"] for one in options.get("allowCredentials") or ()}
        return next(one for one in reversed(self.passkeys) if not named or told(one.raw_id) in named)

    def _data(self, passkey: Passkey, said: Mapping[str, Any], extra: int = 0) -> bytes:
        flags = PRESENT | (VERIFIED if self.verifies else 0) | (ELIGIBLE | BACKED_UP if self.is_synced else 0) | extra
        counter = said.get("counter", passkey.counter)
        site = hashlib.sha256(said.get("rp_id", passkey.rp_id).encode()).digest()
        return site + bytes([said.get("flags", flags)]) + int(counter).to_bytes(4)

    def _client(self, kind: str, challenge: str, said: Mapping[str, Any]) -> bytes:
        client = {
            "type": said.get("kind", kind),
            "challenge": said.get("challenge", challenge),
            "origin": said.get("origin", self.origin),
            "crossOrigin": False,
        }
        return bytes(said.get("client", json.dumps(client).encode()))

    def _credential(self, raw_id: bytes, response: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
        where = said.get("attachment", "platform")
        shown = {"id": told(raw_id), "rawId": told(raw_id), "type": "public-key", "authenticatorAttachment": where}
        return {**shown, "response": dict(response), **said.get("credential", {})}
