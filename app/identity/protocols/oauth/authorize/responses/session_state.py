"""`session_state` of OpenID Connect Session Management 1.0 section 2: a digest that the session iframe compares."""

from __future__ import annotations

import hashlib

from app.identity.authentication.sign_in.sessions import session_store
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.web.urls import origin_of


def make(client_id: str, redirect_uri: str, browser_state: str) -> str | None:
    """Return the value for an application at the origin of a redirect URI; None where it has no web origin.

    The iframe (`static/check-session.js`) computes the same digest: client id, origin, browser state and salt.
    """
    origin = origin_of(redirect_uri)
    if not origin:
        return None
    salt = randomness.token(12)
    text = f"{client_id} {origin} {browser_state} {salt}"
    return f"{hashlib.sha256(text.encode()).hexdigest()}.{salt}"


def browser_state(context: Context, session: BrowserSession) -> str:
    """Return the session's random state, which is made when it is first asked for."""
    if session.browser_state is not None:
        return session.browser_state
    return session_store.set_browser_state(context, session.session_hash, randomness.token()) or randomness.token()
