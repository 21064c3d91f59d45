"""The sessions of one browser: the current one, and those of other accounts that it stays signed in to (decision 0238)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.contract.sessions.models import OtherSessions, Session
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.platform.context import Context

MAX_SESSIONS: Final = 5
"""How many accounts a browser is signed in to at once, the current one included."""


@dataclass(frozen=True)
class SessionAccount:
    """A live session, and the cookie text by which this browser has it."""

    session: BrowserSession
    text: str

    def to_cookie(self, context: Context) -> Session:
        """Return the session for the hub's cookie: it outlives the browser only if it is remembered."""
        left = int((self.session.expires_at - context.now).total_seconds())
        return Session(token=self.text, lifetime_seconds=left if self.session.is_remembered else None)


def all_sessions(context: Context) -> list[SessionAccount]:
    """Return the live sessions of this browser, one for each account, the current one first."""
    found: dict[str, SessionAccount] = {}
    for item in _live(context):
        found.setdefault(item.session.uid, item)
    return list(found.values())


def find(context: Context, uid: str, session_id: str | None) -> BrowserSession | None:
    """Return this session of this account, if the browser holds it."""
    live = (item.session for item in _live(context))
    return next((item for item in live if (item.uid, item.session_id) == (uid, session_id)), None)


def others(context: Context, uid: str) -> OtherSessions:
    """Return the cookie of the other sessions, where this account has the current one.

    It outlives the browser only if each of them is remembered.
    """
    others = [session for session in all_sessions(context) if session.session.uid != uid][: MAX_SESSIONS - 1]
    outlive = bool(others) and all(other.session.is_remembered for other in others)
    left = int((max(other.session.expires_at for other in others) - context.now).total_seconds()) if outlive else None
    return OtherSessions(tokens=[other.text for other in others], lifetime_seconds=left)


def _live(context: Context) -> list[SessionAccount]:
    texts = (
        [other for other in (context.visit.session, *context.visit.others)[:MAX_SESSIONS] if other]
        if context.visit
        else []
    )
    live = sessions.by_cookies(context, texts)
    return [SessionAccount(live[text], text) for text in dict.fromkeys(texts) if text in live]
