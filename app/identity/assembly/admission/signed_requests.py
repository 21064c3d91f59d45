"""Verifies signed management requests, which carry an HMAC instead of the API secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, quote_plus, unquote

from app.contract import errors
from app.kit.operations.request_parsing import RawRequest

_EXPIRY_FORMATS = ("%Y-%m-%d %I:%M:%S %p", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")
_MAX_LIFETIME = timedelta(hours=24)


def is_authenticated(mode: str, secret: bytes, raw: RawRequest, now: datetime) -> bool:
    """Return whether the request has a valid signature; False if the API secret must be checked instead.

    Raises:
        SignatureMissing, ExpiryMissing, ExpiryMalformed, ExpiryPassed, SignatureWrong: checked in this order.
    """
    digest, expires = raw.headers.get("digest"), raw.headers.get("x-request-expires")
    if mode == "off" or (mode == "preferred" and digest is None):
        return False
    if digest is None:
        raise errors.SignatureMissing
    if expires is None:
        raise errors.ExpiryMissing
    until = _instant(expires)
    if until is None:
        raise errors.ExpiryMalformed
    if not now <= until <= now + _MAX_LIFETIME:
        raise errors.ExpiryPassed
    algorithm, _, signature = digest.partition("=")
    if algorithm.upper() != "SHA-256" or not any(
        hmac.compare_digest(signature.encode(), mac) for mac in _macs(secret, raw, expires)
    ):
        raise errors.SignatureWrong
    return True


def _instant(text: str) -> datetime | None:
    for expiry_format in _EXPIRY_FORMATS:
        try:
            return datetime.strptime(text.strip(), expiry_format).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _macs(secret: bytes, raw: RawRequest, expires: str) -> list[bytes]:
    """Return the HMACs of the request under every percent-encoding that clients use."""
    url = f"{raw.scheme}://{raw.host}{raw.path}" + (f"?{raw.query_text}" if raw.query_text else "")
    plain = unquote(url)
    encoders = (
        quote(plain, safe=""),
        quote_plus(plain, safe=""),
        quote(plain, safe="!'()*"),
        quote_plus(plain, safe="!'()*"),
    )
    macs = []
    for encoded in dict.fromkeys(text.lower() for text in encoders):
        for stamp in dict.fromkeys((expires, expires.lower())):
            message = f"{stamp}:{encoded}".encode() + (b":" + raw.body if raw.body else b"")
            macs.append(base64.b64encode(hmac.new(secret, message, hashlib.sha256).digest()))
    return macs
