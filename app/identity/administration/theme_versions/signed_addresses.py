"""Addresses on the tenant's host that work without an account: each is for one purpose, one tenant, and a time."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json, to_json

from app.contract import errors
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError


def seal(context: Context, purpose: str, facts: list[Any], expires_at: datetime) -> str:
    """Return the token of an address with JSON facts, encrypted."""
    content = to_json([*facts, int(expires_at.timestamp())])
    sealed = context.services.encryption.encrypt(content, _associated_data(context, purpose))
    return urlsafe_b64encode(sealed).rstrip(b"=").decode()


def unseal(context: Context, purpose: str, token: str) -> tuple[list[Any], datetime]:
    """Return the facts of a token, and when it expires. Raises UnknownThemeVersion: also for a token of another tenant or purpose, and
    for an expired one.
    """
    try:
        sealed = urlsafe_b64decode(token.encode() + b"=" * (-len(token) % 4))
        content = context.services.encryption.decrypt(sealed, _associated_data(context, purpose))
    except (ValueError, DecryptionError):
        raise errors.UnknownThemeVersion from None
    *facts, expiry = from_json(content)
    expires_at = datetime.fromtimestamp(expiry, UTC)
    if expires_at <= context.now:
        raise errors.UnknownThemeVersion
    return facts, expires_at


def _associated_data(context: Context, purpose: str) -> str:
    """Return the associated data of a token, by which it is the tenant's and the purpose's alone."""
    return f"{context.tenant.tenant_id} {purpose}"
