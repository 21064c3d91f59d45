"""Seals secrets that must be read back: AES-256-GCM under a key that is not in the database.

A sealed value is a version byte, the key's id (8 bytes), the nonce (12) and the ciphertext; the context is bound as
associated data, so that a value copied to another row does not open.
"""

import hashlib
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.kit import randomness

_VERSION = b"\x01"


@lru_cache(maxsize=32)
def derive_key(secret: bytes, purpose: str) -> bytes:
    """Return the 32-byte key of one purpose (HKDF-SHA256)."""
    return HKDF(hashes.SHA256(), 32, salt=None, info=b"gatehouse " + purpose.encode()).derive(secret)


class DecryptionError(Exception):
    """The value was sealed under a key that is not here, or for another place."""


class UnknownEncryptionKey(DecryptionError):
    """No line of this process's secret opens it; a process that knows another line may, and so may this one once it does."""

    unavailable_status = 503


class WrongAssociatedData(DecryptionError):
    """The key is here, and the value is not what was sealed for this place: no other key will open it."""


class Encryption:
    """Seals under the first secret, opens under any."""

    def __init__(self, secrets: tuple[bytes, ...]) -> None:
        self._ciphers = {_key_id(secret): AESGCM(derive_key(secret, "vault")) for secret in secrets}
        self._first = _key_id(secrets[0])

    def encrypt(self, value: bytes, associated_data: str) -> bytes:
        nonce = randomness.random_bytes(12)
        text = self._ciphers[self._first].encrypt(nonce, value, associated_data.encode())
        return self.mark + nonce + text

    def decrypt(self, sealed: bytes, associated_data: str) -> bytes:
        """Return the value; raises DecryptionError."""
        cipher = self._ciphers.get(sealed[1:9])
        if cipher is None or sealed[:1] != _VERSION:
            raise UnknownEncryptionKey("no key opens this value; is a line of GATEHOUSE_SECRET_KEY missing here?")
        try:
            return cipher.decrypt(sealed[9:21], sealed[21:], associated_data.encode())
        except (InvalidTag, ValueError):  # ValueError: cut off within the nonce
            raise WrongAssociatedData("the value was sealed for another place, or was changed") from None

    @property
    def mark(self) -> bytes:
        """What every value begins with that lies under the first secret."""
        return _VERSION + self._first

    def is_current(self, sealed: bytes) -> bool:
        """Return whether the value lies under the first secret (else the rotation command seals it anew)."""
        return sealed.startswith(self.mark)


def _key_id(secret: bytes) -> bytes:
    return hashlib.sha256(b"gatehouse key id " + secret).digest()[:8]
