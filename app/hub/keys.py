"""Keys of the hub, each derived for one purpose; and the seal under which cookies travel."""

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
_MOST_CHARACTERS: Final = 4096


def derive_key(secret: bytes, purpose: str) -> bytes:
    """Return the 32-byte key of one purpose (HKDF-SHA256); `hub calls` is the one shared with the identity service."""
    return HKDF(hashes.SHA256(), 32, salt=None, info=b"gatehouse " + purpose.encode()).derive(secret)


class CookieCipher:
    """Seals what a browser keeps for us, so that it can neither read nor change it.

    Args:
        secrets: the first seals, all of them open (rotation).
    """

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._ciphers = [AESGCM(derive_key(secret, "hub cookies")) for secret in secrets]

    def close(self, content: Any, place: str) -> str:
        """Return the content sealed for one place; nowhere else will it open."""
        nonce = randomness.random_bytes(_NONCE_BYTES)
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        sealed = self._ciphers[0].encrypt(nonce, text, place.encode("utf-8", "surrogatepass"))
        return base64.urlsafe_b64encode(nonce + sealed).rstrip(b"=").decode()

    def open(self, sealed: str, place: str) -> Any:
        """Return what was sealed for this place, or None where it was not, or not by us."""
        if not sealed or len(sealed) > _MOST_CHARACTERS:
            return None
        try:
            raw = base64.urlsafe_b64decode(sealed.encode("ascii") + b"=" * (-len(sealed) % 4))
        except (UnicodeEncodeError, binascii.Error):
            return None
        for cipher in self._ciphers:
            try:
                opened = cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], place.encode("utf-8", "surrogatepass"))
            except (InvalidTag, ValueError):
                continue
            return json.loads(opened)
        return None
