"""The only place that draws randomness, and what is made of it."""

import base64
import hashlib
import secrets
import uuid


def token(size_bytes: int = 32) -> str:
    """Return an unguessable URL-safe text of `size_bytes` random bytes."""
    return secrets.token_urlsafe(size_bytes)


def random_bytes(size_bytes: int) -> bytes:
    """Return random bytes for keys and nonces."""
    return secrets.token_bytes(size_bytes)


def guid() -> str:
    """Return a random GUID with hyphens, the form of access tokens and keys in the interface."""
    return str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))


def uid() -> str:
    """Return a new account id: 32 hex characters (interface user.md section 0)."""
    return secrets.token_hex(16)


def below(most: int) -> int:
    """Return a random whole number from 0, smaller than `most`."""
    return secrets.randbelow(most)


def digits(length: int) -> str:
    """Return a one-time code of decimal digits."""
    return "".join(secrets.choice("0123456789") for _ in range(length))


def digest(text: str) -> str:
    """Return the SHA-256 of a random secret, base64url without padding: how tokens lie in the store.

    Only for secrets of full entropy; passwords go through argon2id.
    """
    return (
        base64.urlsafe_b64encode(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()).rstrip(b"=").decode()
    )


def hexadecimal(length: int) -> str:
    """Return so many random hex digits, in lower case."""
    return secrets.token_hex((length + 1) // 2)[:length]
