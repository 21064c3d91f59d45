"""Signs requests to other parties' systems: Standard Webhooks 1.0, and the header `signature` that older receivers check."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

USER_AGENT: Final = "Gatehouse"
SIGNATURE_HEADER: Final = "webhook-signature"
"""Together they tell our own requests: no tenant can remove or replace them."""
SECRET_PREFIX: Final = "whsec_"
PUBLIC_KEY_PREFIX: Final = "whpk_"
_SECRET_BYTES: Final = range(24, 65)  # Standard Webhooks, "Signature scheme"

Sign = Callable[[bytes], bytes]
"""Returns the Ed25519 signature of a content."""


def standard_headers(
    message_id: str, at: datetime, body: bytes, secrets: Iterable[str], sign: Sign | None = None
) -> dict[str, str]:
    """Return the headers of Standard Webhooks for one try: a signature by each secret, and one by the tenant's key.

    Receivers accept a request if any of its signatures is right, so that a secret can be replaced without a pause.

    Args:
        at: the time of this try; receivers refuse a request that is some minutes old.
        secrets: `whsec_` and the Base64 of the key, the newest first.
    """
    timestamp = str(int(at.timestamp()))
    content = b".".join((message_id.encode(), timestamp.encode(), body))
    signatures = [f"v1,{_base64(hmac.digest(key_of(secret), content, 'sha256'))}" for secret in secrets]
    signatures += [f"v1a,{_base64(sign(content))}"] if sign is not None else []
    return {
        "webhook-id": message_id, "webhook-timestamp": timestamp, SIGNATURE_HEADER: " ".join(signatures),
    }  # fmt: skip


def legacy_signature(body: bytes, secret: str) -> str:
    """Return the value of the header `signature`: the upper-case hexadecimal HMAC-SHA256 of the body under a secret's text."""
    return hmac.digest(secret.encode(), body, "sha256").hex().upper()


def key_of(secret: str) -> bytes:
    """Return the key that a secret of Standard Webhooks encodes. Raises ValueError."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    if not secret.startswith(SECRET_PREFIX) or len(key) not in _SECRET_BYTES:
        raise ValueError(f"{SECRET_PREFIX} and the Base64 of 24 to 64 bytes")
    return key


def public_key_text(public_key: bytes) -> str:
    """Return an Ed25519 public key as libraries of Standard Webhooks read it."""
    return f"{PUBLIC_KEY_PREFIX}{_base64(public_key)}"


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
