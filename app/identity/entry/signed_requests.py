"""Signed management requests: a digest in place of the API secret (interface account.md section 10)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import quote, quote_plus, unquote

from app.contract import errors as e
from app.kit.proxies import read_address
from app.kit.reading import RawRequest

_FORMS = ("%Y-%m-%d %I:%M:%S %p", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")
_FURTHEST = timedelta(hours=24)


def is_admitted(mode: str, secret: bytes, raw: RawRequest, now: datetime) -> bool:
    """Return whether a good signature stands in place of the secret; False: look at the secret.

    Raises 1207 to 1212. Order: expiry present, format, not past, signature.
    """
    digest, expires = raw.headers.get("digest"), raw.headers.get("x-request-expires")
    if mode == "off" or (mode == "preferred" and digest is None):
        return False
    if digest is None:
        raise e.SignatureMissing
    if expires is None:
        raise e.ExpiryMissing
    until = _instant(expires)
    if until is None:
        raise e.ExpiryMalformed
    if not now <= until <= now + _FURTHEST:
        raise e.ExpiryPassed
    algorithm, _, shown = digest.partition("=")
    if algorithm.upper() != "SHA-256" or not any(
        hmac.compare_digest(shown.encode(), mac) for mac in _macs(secret, raw, expires)
    ):
        raise e.SignatureWrong
    return True


def _instant(text: str) -> datetime | None:
    for form in _FORMS:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _macs(secret: bytes, raw: RawRequest, expires: str) -> list[bytes]:
    """Every digest that some client's percent-encoding makes of this request."""
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


def is_listed(address: str, networks: tuple[str, ...]) -> bool:
    """Return whether the address lies in one of the networks. Raises ValueError where one of them is none."""
    held, asked = _networks(networks), read_address(address)
    return asked is not None and any(asked in network for network in held)


@lru_cache(maxsize=512)
def _networks(texts: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text, strict=False) for text in texts)
