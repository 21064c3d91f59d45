"""Signs calls between two services: HMAC-SHA256 over method, address, body, a context, the time and a nonce.

A call has one signature per key, and the receiver needs to verify only one, so that both services can rotate the keys
independently.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

SIGNATURE_HEADER = "X-Gatehouse-Signature"
WINDOW_SECONDS = 60

_STAMP = re.compile(r"t=([0-9]{1,12}),n=([A-Za-z0-9_-]{16,64})", re.ASCII)
_MAX_SIGNATURES = 8


@dataclass(frozen=True)
class Signed:
    """A valid signature: when it was made (Unix seconds), and its nonce, which allows one use."""

    at: int
    nonce: str


def signature(keys: Sequence[bytes], method: str, address: str, body: bytes, context: str, at: int, nonce: str) -> str:
    """Return the value of the signature header.

    `address` is path and query, `context` further text to sign, `at` Unix seconds, `nonce` 16 random bytes.
    """
    macs = (_mac(key, method, address, body, context, at, nonce) for key in keys)
    return ",v1=".join([f"t={at},n={nonce}", *macs])


def read_signature(
    keys: Sequence[bytes], method: str, address: str, body: bytes, context: str, header: str, now: int
) -> Signed | None:
    """Return the content of the header if it holds a signature of the call under one of the keys, at most a minute off; else None."""
    text, *macs = header.split(",v1=", _MAX_SIGNATURES)
    stamp = _STAMP.fullmatch(text)
    if stamp is None or abs(now - int(stamp[1])) > WINDOW_SECONDS:
        return None
    signed = Signed(int(stamp[1]), stamp[2])
    expected = [_mac(key, method, address, body, context, signed.at, signed.nonce).encode() for key in keys]
    is_ours = any(hmac.compare_digest(mac.encode("utf-8", "surrogatepass"), item) for mac in macs for item in expected)
    return signed if is_ours else None


def _mac(key: bytes, method: str, address: str, body: bytes, context: str, at: int, nonce: str) -> str:
    fields = (method, address, hashlib.sha256(body).hexdigest(), context, str(at), nonce)
    parts = [part.encode("utf-8", "surrogatepass") for part in fields]
    text = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.new(key, text, hashlib.sha256).hexdigest()
