"""Ends a session of this browser, and returns the frames of its front-channel logout."""

from __future__ import annotations

from collections.abc import Iterable

from app.contract.applications.logout_settings import LogoutReason
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.session_ends import EndedSession
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.tokens import tokens
from app.identity.platform.context import Context
from app.identity.protocols.oauth.logout import frontchannel_logout


def end(context: Context, session: BrowserSession, reason: LogoutReason = "idp_logout") -> list[EndedSession]:
    """End the session, and others of its account that this browser holds."""
    ended = sessions.end(context, session.uid, session.session_id, reason)
    tokens.revoke_with_session(context, session.uid, session.session_id)
    context.audit.record("session.ended", uid=session.uid, session=session.session_id)
    more = sessions.end_in_browser(context, session.uid)
    return [*([ended] if ended is not None else []), *more]


def frames(context: Context, ended: Iterable[EndedSession]) -> list[str]:
    """Return the addresses that the browser's next page loads in frames (OpenID Connect Front-Channel Logout 1.0 section 2)."""
    found = [address for item in ended for address in frontchannel_logout.frames(context, item)]
    return found[: frontchannel_logout.MAX_FRAMES]
