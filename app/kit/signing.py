"""Signs calls between our own parts: HMAC-SHA256 over method, address, body, the visit and the time."""

import hashlib
import hmac

VISIT_HEADER = "X-Gatehouse-Visit"
SIGNATURE_HEADER = "X-Gatehouse-Signature"
WINDOW_SECONDS = 60


def signature(key: bytes, method: str, address: str, body: bytes, visit: str, at: int) -> str:
    """Return the value of the signature header; `address` is path and query, `at` Unix seconds."""
    return f"t={at},v1={_mac(key, method, address, body, visit, at)}"


def is_signed(key: bytes, method: str, address: str, body: bytes, visit: str, header: str, now: int) -> bool:
    """Return whether the header is this key's signature of the call and at most a minute off."""
    stamp, _, mac = header.partition(",v1=")
    if not stamp.startswith("t=") or not stamp[2:].isascii() or not stamp[2:].isdigit() or len(stamp) > 16:
        return False
    at = int(stamp[2:])
    if abs(now - at) > WINDOW_SECONDS:
        return False
    return hmac.compare_digest(mac.encode(), _mac(key, method, address, body, visit, at).encode())


def _mac(key: bytes, method: str, address: str, body: bytes, visit: str, at: int) -> str:
    parts = (method.encode(), address.encode(), hashlib.sha256(body).digest(), visit.encode(), str(at).encode())
    text = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.new(key, text, hashlib.sha256).hexdigest()
