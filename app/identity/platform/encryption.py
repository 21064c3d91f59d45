"""Field encryption at rest: AES-256-GCM under a key that is not in the database.

An encrypted value is a version byte, the key id (8 bytes), the nonce (12 bytes) and the ciphertext. The associated data
binds it to its row, so that a value copied to another row cannot be decrypted.
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
    """Derive the 32-byte key of one purpose (HKDF-SHA256)."""
    return HKDF(hashes.SHA256(), 32, salt=None, info=b"gatehouse " + purpose.encode()).derive(secret)


class DecryptionError(Exception):
    """A value could not be decrypted."""


class UnknownEncryptionKey(DecryptionError):
    """No secret of this process decrypts the value; a secret that is missing here may."""

    unavailable_status = 503


class WrongAssociatedData(DecryptionError):
    """The key is known, but the value was encrypted with other associated data or was changed."""


class Encryption:
    """Encrypts under the first secret, decrypts under any."""

    def __init__(self, secrets: tuple[bytes, ...]) -> None:
        self._ciphers = {_key_id(secret): AESGCM(derive_key(secret, "vault")) for secret in secrets}
        self._first = _key_id(secrets[0])

    def encrypt(self, value: bytes, associated_data: str) -> bytes:
        nonce = randomness.random_bytes(12)
        ciphertext = self._ciphers[self._first].encrypt(nonce, value, associated_data.encode())
        return self.prefix + nonce + ciphertext

    def decrypt(self, ciphertext: bytes, associated_data: str) -> bytes:
        """Return the clear value; raises DecryptionError."""
        cipher = self._ciphers.get(ciphertext[1:9])
        if cipher is None or ciphertext[:1] != _VERSION:
            raise UnknownEncryptionKey("no line of GATEHOUSE_SECRET_KEY decrypts this value")
        try:
            return cipher.decrypt(ciphertext[9:21], ciphertext[21:], associated_data.encode())
        except (InvalidTag, ValueError):  # ValueError: truncated within the nonce
            raise WrongAssociatedData("the value was encrypted for another row, or was changed") from None

    @property
    def prefix(self) -> bytes:
        """The first bytes of every value that is encrypted under the first secret."""
        return _VERSION + self._first

    def is_current(self, ciphertext: bytes) -> bool:
        """Return whether the value is encrypted under the first secret; otherwise the rotation command reencrypts it."""
        return ciphertext.startswith(self.prefix)


def _key_id(secret: bytes) -> bytes:
    return hashlib.sha256(b"gatehouse key id " + secret).digest()[:8]
