"""`session_state` of OpenID Connect Session Management 1.0 section 2: a digest that the session iframe compares."""

from __future__ import annotations

import hashlib
from urllib.parse import urlsplit

from app.kit import randomness


def make(client_id: str, redirect_uri: str, browser_state: str) -> str | None:
    """Return the value for an application at the origin of a redirect URI; None where it has no web origin.

    The iframe (`static/check-session.js`) computes the same digest: client id, origin, browser state and salt.
    """
    origin = _origin(redirect_uri)
    if origin is None:
        return None
    salt = randomness.token(12)
    text = f"{client_id} {origin} {browser_state} {salt}"
    return f"{hashlib.sha256(text.encode()).hexdigest()}.{salt}"


def _origin(address: str) -> str | None:
    """Return the origin as browsers write it (RFC 6454 section 6.2), without the default port."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_default = parts.port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{host}" if is_default else f"{parts.scheme}://{host}:{parts.port}"
