"""Secured one-time tokens, which authenticate registrations from the tenant's own code.

The interface defines the format; holders of the API secret create them. A token is valid, and reusable, for a period. A token that
an app carries names its resource (app_sotts.py) as a fourth part, and is valid until that is deleted.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from urllib.parse import unquote

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from app.contract import errors
from app.contract.registration import registration_operations
from app.contract.registration.app_sotts import MAX_MINUTES
from app.identity.authentication.registration import app_sotts
from app.identity.directory.tenants.tenant_writes import api_secret_associated_data
from app.identity.platform.context import Context
from app.kit.operations.request_parsing import RawRequest

SKEW = timedelta(minutes=5)
MAX_LIFETIME = timedelta(minutes=registration_operations.MAX_SOTT_MINUTES)
_OF_APPS = timedelta(minutes=MAX_MINUTES)
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
    expires_at = context.now + timedelta(minutes=minutes)
    return _encrypt(context, [_format_time(context.now), context.tenant.api_key, _format_time(expires_at)]), expires_at


def create_for_app(context: Context, resource_id: str, minutes: int) -> str:
    """Return a token that is valid until it expires or its resource is deleted."""
    ends = _format_time(context.now + timedelta(minutes=minutes))
    return _encrypt(context, [_format_time(context.now), context.tenant.api_key, ends, resource_id])


def check(context: Context, query: str | None) -> None:
    """Check the token of a registration; the header takes precedence over the query. Raises SottMissing, WrongSott."""
    token = _from_header(context.raw) or query
    if not token:
        raise errors.SottMissing
    if not is_valid(context, token):
        context.audit.record("sott.refused")
        raise errors.WrongSott


def is_valid(context: Context, token: str) -> bool:
    """Return whether the token was created with this tenant's secret for its key, and is valid now."""
    if "%" in token:  # percent-encoded once more than needed
        token = unquote(token)
    text, _, checksum = token.replace(" ", "+").rpartition("*")  # an unencoded plus arrives as a space
    if len(token) > _MAX_LENGTH or not hmac.compare_digest(_checksum(text).encode(), checksum.lower().encode()):
        return False
    plaintext = _decrypt(context, text)
    parts = plaintext.split("#") if plaintext is not None else []
    if len(parts) not in (3, 4) or parts[1].strip().lower() != context.tenant.api_key.lower():
        return False
    longest = _OF_APPS if len(parts) == 4 else MAX_LIFETIME
    if not any(start - SKEW <= context.now <= end for start, end in _periods(parts[0], parts[2], longest)):
        return False
    return len(parts) == 3 or app_sotts.exists(context, parts[3])


def _encrypt(context: Context, parts: list[str]) -> str:
    padder = padding.PKCS7(_BLOCK_BITS).padder()
    encryptor = _cipher(context).encryptor()
    ciphertext = encryptor.update(padder.update("#".join(parts).encode()) + padder.finalize()) + encryptor.finalize()
    text = base64.b64encode(ciphertext).decode()
    return f"{text}*{_checksum(text)}"


def _from_header(raw: RawRequest) -> str | None:
    return next((value for name, value in raw.headers.items() if name.endswith("-sott") and _HEADER.match(name)), None)


def _decrypt(context: Context, text: str) -> str | None:
    try:
        ciphertext = base64.b64decode(text.encode("ascii"), validate=True)
        decryptor = _cipher(context).decryptor()
        padded = decryptor.update(ciphertext) + decryptor.finalize()
        unpadder = padding.PKCS7(_BLOCK_BITS).unpadder()
        return (unpadder.update(padded) + unpadder.finalize()).decode()
    except (ValueError, binascii.Error):  # UnicodeError is a ValueError too
        return None


def _periods(start: str, end: str, longest: timedelta) -> list[tuple[datetime, datetime]]:
    """Return when a token may be valid: as it states, and no longer than the service's own ones.

    One client library writes 12-hour times without AM or PM; its tokens are short-lived.
    """
    start_match, end_match = _TIME.match(start), _TIME.match(end)
    starts_at, ends_at = _instant(start_match), _instant(end_match)
    if start_match is None or end_match is None or starts_at is None or ends_at is None:
        return []
    periods = [(starts_at, ends_at)] if ends_at - starts_at <= longest else []
    if not (start_match[7] or end_match[7]) and 1 <= int(start_match[4]) <= 12 and 1 <= int(end_match[4]) <= 12:
        halves = [
            (_in_half_day(starts_at, half), _in_half_day(ends_at, other)) for half in (0, 12) for other in (0, 12)
        ]
        periods += [(early, late) for early, late in halves if timedelta() < late - early <= _MAX_AMBIGUOUS_LIFETIME]
    return periods


def _in_half_day(at: datetime, half: int) -> datetime:
    return at.replace(hour=at.hour % 12 + half)


def _instant(match: re.Match[str] | None) -> datetime | None:
    if match is None:
        return None
    hour = int(match[4])
    if match[7]:
        hour = hour % 12 + (12 if match[7].lower() == "pm" else 0)
    try:
        return datetime(int(match[1]), int(match[2]), int(match[3]), hour, int(match[5]), int(match[6]), tzinfo=UTC)
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
