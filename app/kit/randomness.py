"""The only source of randomness."""

import hashlib
import os
import secrets
from binascii import b2a_base64
from typing import Final


def token(size_bytes: int = 32) -> str:
    """Return `size_bytes` random bytes as URL-safe base64."""
    return base64url(os.urandom(size_bytes))


random_bytes: Final = os.urandom
"""Returns random bytes of the given number, for keys and nonces."""


def guid() -> str:
    """Return 128 random bits in the form of a GUID.

    RFC 9562 version 4 fixes six of them, which leaves too few for a token (RFC 6749 section 10.10).
    """
    text = os.urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def uid() -> str:
    """Return a new id of 32 hex characters."""
    return secrets.token_hex(16)


def below(most: int) -> int:
    """Return a random integer from 0 up to, but not including, `most`."""
    return secrets.randbelow(most)


def digits(length: int) -> str:
    """Return a one-time code of decimal digits."""
    return f"{secrets.randbelow(10**length):0{length}}"


def digest(text: str) -> str:
    """Return the SHA-256 of a random secret, base64url without padding; tokens are stored as digests.

    Only for random secrets; passwords need argon2id.
    """
    return base64url(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def base64url(content: bytes) -> str:
    """Return bytes as URL-safe base64 without padding (RFC 4648 section 5), in a third of the time that `base64` takes."""
    return b2a_base64(content, newline=False).translate(_URL_SAFE).rstrip(b"=").decode()


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""Letters that are not confused with each other and form no words (RFC 8628 section 6.1)."""


def user_code() -> str:
    """Return a code to read on one device and type on another: 8 of 20 letters, 34 bits. Only for codes with few guesses."""
    return "".join(secrets.choice(_USER_CODE_LETTERS) for _ in range(8))


_ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def alphanumeric(length: int) -> str:
    """Return `length` random letters of both cases and digits."""
    return "".join(secrets.choice(_ALPHANUMERIC) for _ in range(length))


def hexadecimal(length: int) -> str:
    """Return `length` random hex digits in lower case."""
    return secrets.token_hex((length + 1) // 2)[:length]
