"""Signs calls between our own parts: HMAC-SHA256 over method, address, body, the visit, the time and a nonce.

A call bears one signature under each line of the secret key, and one that the receiver can verify is enough: so the hub
and the identity service accept each other's calls during a rotation of the secret.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

VISIT_HEADER = "X-Gatehouse-Visit"
SIGNATURE_HEADER = "X-Gatehouse-Signature"
WINDOW_SECONDS = 60

_STAMP = re.compile(r"t=([0-9]{1,12}),n=([A-Za-z0-9_-]{16,64})", re.ASCII)
_MOST_SIGNATURES = 8


@dataclass(frozen=True)
class Signed:
    """What a valid signature says beside the call: when it was made (Unix seconds), and the nonce that allows it once."""

    at: int
    nonce: str


def signature(keys: Sequence[bytes], method: str, address: str, body: bytes, visit: str, at: int, nonce: str) -> str:
    """Return the value of the signature header; `address` is path and query, `at` Unix seconds, `nonce` 16 random bytes."""
    macs = (_mac(key, method, address, body, visit, at, nonce) for key in keys)
    return ",v1=".join([f"t={at},n={nonce}", *macs])


def read_signature(
    keys: Sequence[bytes], method: str, address: str, body: bytes, visit: str, header: str, now: int
) -> Signed | None:
    """Return what the header says where it holds one of these keys' signature of the call and is at most a minute off."""
    text, *macs = header.split(",v1=", _MOST_SIGNATURES)
    stamp = _STAMP.fullmatch(text)
    if stamp is None or abs(now - int(stamp[1])) > WINDOW_SECONDS:
        return None
    signed = Signed(int(stamp[1]), stamp[2])
    expected = [_mac(key, method, address, body, visit, signed.at, signed.nonce).encode() for key in keys]
    is_ours = any(hmac.compare_digest(mac.encode("utf-8", "surrogatepass"), one) for mac in macs for one in expected)
    return signed if is_ours else None


def _mac(key: bytes, method: str, address: str, body: bytes, visit: str, at: int, nonce: str) -> str:
    said = (method, address, hashlib.sha256(body).hexdigest(), visit, str(at), nonce)
    parts = [part.encode("utf-8", "surrogatepass") for part in said]
    text = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.new(key, text, hashlib.sha256).hexdigest()
