"""Keys of the hub, each derived for one purpose, and the encryption of cookies."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.kit import randomness

_NONCE_BYTES: Final = 12
_MAX_CHARACTERS: Final = 32_768  # a sign-out request with its state


def derive_key(secret: bytes, purpose: str) -> bytes:
    """Return the 32-byte key for one purpose (HKDF-SHA256, RFC 5869); the identity service derives the same key for `hub calls`."""
    return HKDF(hashes.SHA256(), 32, salt=None, info=b"gatehouse " + purpose.encode()).derive(secret)


class CookieCipher:
    """Encrypts and authenticates what a browser keeps for the hub (AES-GCM).

    Args:
        secrets: the first encrypts, each of them decrypts (rotation).
    """

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._ciphers = [AESGCM(derive_key(secret, "hub cookies")) for secret in secrets]

    def encrypt(self, content: Any, context: str) -> str:
        """Return the content encrypted for one context (associated data); it decrypts in that context only."""
        nonce = randomness.random_bytes(_NONCE_BYTES)
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        ciphertext = self._ciphers[0].encrypt(nonce, text, context.encode("utf-8", "surrogatepass"))
        return base64.urlsafe_b64encode(nonce + ciphertext).rstrip(b"=").decode()

    def decrypt(self, value: str, context: str) -> Any:
        """Return the content; None if the value was not encrypted by the hub for this context."""
        if not value or len(value) > _MAX_CHARACTERS:
            return None
        try:
            raw = base64.urlsafe_b64decode(value.encode("ascii") + b"=" * (-len(value) % 4))
        except (UnicodeEncodeError, binascii.Error):
            return None
        for cipher in self._ciphers:
            try:
                text = cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], context.encode("utf-8", "surrogatepass"))
            except (InvalidTag, ValueError):
                continue
            return json.loads(text)
        return None
