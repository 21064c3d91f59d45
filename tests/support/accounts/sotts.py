"""Secured one-time tokens as a tenant's own server makes them, from the interface's words alone."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime, timedelta
from functools import cache

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.support.tenants.tenant_server import TenantServer


def sott_of(
    tenant: TenantServer,
    *,
    start: datetime | None = None,
    minutes: float = 10,
    key: str = "",
    secret: str = "",
    form: str = "%Y/%m/%d %H:%M:%S",
) -> str:
    """Return a token; by default valid for ten minutes from now."""
    begun = start or tenant.services.clock.now()
    over = begun + timedelta(minutes=minutes)
    plain = f"{begun.strftime(form)}#{key or tenant.api_key}#{over.strftime(form)}".encode()
    return encrypted(plain, secret or tenant.api_secret)


@cache
def key_of(secret: str) -> bytes:
    """Return the key of the tokens, whose ten thousand rounds a server spends once per secret."""
    return hashlib.pbkdf2_hmac("sha1", secret.encode(), bytes(8), 10_000, 32)


def encrypted(plain: bytes, secret: str) -> str:
    """Return a plain text in the token's form."""
    missing = 16 - len(plain) % 16
    encryptor = Cipher(algorithms.AES(key_of(secret)), modes.CBC(b"tu89geji340t89u2")).encryptor()
    text = base64.b64encode(encryptor.update(plain + bytes([missing]) * missing) + encryptor.finalize()).decode()
    return f"{text}*{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}"
