"""Secured one-time tokens: they prove that a registration comes from the tenant's own code (interface account.md section
8).

The interface defines the form; holders of the API secret create them. They are valid for a period, and reusable in
it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from app.contract import errors as e
from app.contract import registration as contract
from app.identity.directory.tenants.changes import api_secret_associated_data
from app.identity.platform.context import Context
from app.kit.reading import RawRequest

SKEW = timedelta(minutes=5)
MAX_LIFETIME = timedelta(minutes=contract.LONGEST_SOTT_MINUTES)
_IV = b"tu89geji340t89u2"
_BLOCK_BITS = 128
_MAX_LENGTH = 2_000
_MAX_AMBIGUOUS_LIFETIME = timedelta(hours=1)
_HEADER = re.compile(r"x-\w+-sott\Z")
_TIME = re.compile(
    r"\s*(\d{4})[/-](\d{1,2})[/-](\d{1,2})[ T](\d{1,2}):(\d{1,2}):(\d{1,2})\s*([AaPp][Mm])?\s*\Z", re.ASCII
)


def create(context: Context, minutes: int) -> tuple[str, datetime]:
    """Return a token that is valid from now on, and its expiry."""
    ends = context.now + timedelta(minutes=minutes)
    plain = f"{_format_time(context.now)}#{context.tenant.api_key}#{_format_time(ends)}".encode()
    padder = padding.PKCS7(_BLOCK_BITS).padder()
    encryptor = _cipher(context).encryptor()
    sealed = encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()
    text = base64.b64encode(sealed).decode()
    return f"{text}*{_checksum(text)}", ends


def check(context: Context, query: str | None) -> None:
    """Admit a registration; the header takes precedence over the query. Raises SottMissing, WrongSott."""
    shown = _from_header(context.raw) or query
    if not shown:
        raise e.SottMissing
    if not is_valid(context, shown):
        context.audit.record("sott.refused")
        raise e.WrongSott


def is_valid(context: Context, shown: str) -> bool:
    """Return whether the token was created with this tenant's secret for its key, and is valid now."""
    text, _, mark = shown.replace(" ", "+").rpartition("*")  # an unencoded plus arrives as a space
    if len(shown) > _MAX_LENGTH or not hmac.compare_digest(_checksum(text).encode(), mark.lower().encode()):
        return False
    plain = _decrypt(context, text)
    parts = plain.split("#") if plain is not None else []
    if len(parts) != 3 or parts[1].strip().lower() != context.tenant.api_key.lower():
        return False
    return any(start - SKEW <= context.now <= end for start, end in _periods(parts[0], parts[2]))


def _from_header(raw: RawRequest) -> str | None:
    return next((value for name, value in raw.headers.items() if name.endswith("-sott") and _HEADER.match(name)), None)


def _decrypt(context: Context, text: str) -> str | None:
    try:
        sealed = base64.b64decode(text.encode("ascii"), validate=True)
        decryptor = _cipher(context).decryptor()
        padded = decryptor.update(sealed) + decryptor.finalize()
        unpadder = padding.PKCS7(_BLOCK_BITS).unpadder()
        return (unpadder.update(padded) + unpadder.finalize()).decode()
    except (ValueError, binascii.Error):  # UnicodeError is a ValueError too
        return None


def _periods(start: str, end: str) -> list[tuple[datetime, datetime]]:
    """Return when a token may be valid: as it states, and no longer than the service's own ones.

    One client library writes 12-hour times without AM or PM; its tokens are short-lived.
    """
    first, last = _TIME.match(start), _TIME.match(end)
    begun, over = _instant(first), _instant(last)
    if first is None or last is None or begun is None or over is None:
        return []
    read = [(begun, over)] if over - begun <= MAX_LIFETIME else []
    if not (first[7] or last[7]) and 1 <= int(first[4]) <= 12 and 1 <= int(last[4]) <= 12:
        halves = [(_in_half_day(begun, half), _in_half_day(over, other)) for half in (0, 12) for other in (0, 12)]
        read += [(early, late) for early, late in halves if timedelta() < late - early <= _MAX_AMBIGUOUS_LIFETIME]
    return read


def _in_half_day(at: datetime, half: int) -> datetime:
    return at.replace(hour=at.hour % 12 + half)


def _instant(found: re.Match[str] | None) -> datetime | None:
    if found is None:
        return None
    hour = int(found[4])
    if found[7]:
        hour = hour % 12 + (12 if found[7].lower() == "pm" else 0)
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), hour, int(found[5]), int(found[6]), tzinfo=UTC)
    except ValueError:
        return None


def _format_time(at: datetime) -> str:
    """Return the time with AM or PM, so that our own tokens are unambiguous."""
    return (
        f"{at.year}/{at.month}/{at.day} {at.hour % 12 or 12}:{at.minute}:{at.second} {'PM' if at.hour >= 12 else 'AM'}"
    )


def _checksum(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _cipher(context: Context) -> Cipher[modes.CBC]:
    secret = context.services.encryption.decrypt(
        context.tenant.sealed_api_secret, api_secret_associated_data(context.tenant.tenant_id)
    )
    return Cipher(algorithms.AES(_key(secret)), modes.CBC(_IV))


@lru_cache(maxsize=256)  # ten thousand rounds: 4 ms
def _key(secret: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha1", secret, bytes(8), 10_000, 32)
