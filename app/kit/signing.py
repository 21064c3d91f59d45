"""Signs calls between our own parts: HMAC-SHA256 over method, address, body, the visit and the time.

A call bears one signature under each line of the secret key, and one that the reader can check is enough: so the parts
of an installation understand one another while its secret changes, whichever of them knows the new line already.
"""

import hashlib
import hmac
from collections.abc import Sequence

VISIT_HEADER = "X-Gatehouse-Visit"
SIGNATURE_HEADER = "X-Gatehouse-Signature"
WINDOW_SECONDS = 60
_MOST_SIGNATURES = 8


def signature(keys: Sequence[bytes], method: str, address: str, body: bytes, visit: str, at: int) -> str:
    """Return the value of the signature header; `address` is path and query, `at` Unix seconds."""
    return ",v1=".join([f"t={at}", *(_mac(key, method, address, body, visit, at) for key in keys)])


def is_signed(keys: Sequence[bytes], method: str, address: str, body: bytes, visit: str, header: str, now: int) -> bool:
    """Return whether the header holds one of these keys' signature of the call and is at most a minute off."""
    stamp, *macs = header.split(",v1=", _MOST_SIGNATURES)
    if not stamp.startswith("t=") or not stamp[2:].isascii() or not stamp[2:].isdigit() or len(stamp) > 16:
        return False
    at = int(stamp[2:])
    if abs(now - at) > WINDOW_SECONDS:
        return False
    expected = [_mac(key, method, address, body, visit, at).encode() for key in keys]
    return any(hmac.compare_digest(mac.encode(), one) for mac in macs for one in expected)


def _mac(key: bytes, method: str, address: str, body: bytes, visit: str, at: int) -> str:
    parts = (method.encode(), address.encode(), hashlib.sha256(body).digest(), visit.encode(), str(at).encode())
    text = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.new(key, text, hashlib.sha256).hexdigest()
