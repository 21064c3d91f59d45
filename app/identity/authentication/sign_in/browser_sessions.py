"""The sessions of one browser: the current one, and those of other accounts that it stays signed in to (decisions/0238)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.contract.hub_models import OtherSessions, Session
from app.identity.authentication.sign_in import sessions
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials.tokens import service as tokens
from app.identity.platform.context import Context

MOST: Final = 5
"""How many accounts a browser is signed in to at once, the current one included."""


@dataclass(frozen=True)
class HeldSession:
    """A live session, and the cookie text by which this browser has it."""

    session: BrowserSession
    text: str

    def to_cookie(self, context: Context) -> Session:
        """Return the session for the hub's cookie: it outlives the browser only if it is remembered."""
        left = int((self.session.expires_at - context.now).total_seconds())
        return Session(token=self.text, lifetime_seconds=left if self.session.is_remembered else None)


def held(context: Context) -> list[HeldSession]:
    """Return the live sessions of this browser, one for each account, the current one first."""
    texts = (context.visit.session, *context.visit.others) if context.visit else ()
    found: dict[str, HeldSession] = {}
    for text in dict.fromkeys(one for one in texts[:MOST] if one):
        session = sessions.by_cookie(context, text)
        if session is not None:
            found.setdefault(session.uid, HeldSession(session, text))
    return list(found.values())


def others(context: Context, uid: str) -> OtherSessions:
    """Return the cookie of the other sessions, where this account has the current one."""
    kept = [one for one in held(context) if one.session.uid != uid][: MOST - 1]
    remembered = [one.session.expires_at for one in kept if one.session.is_remembered]
    left = int((max(remembered) - context.now).total_seconds()) if remembered else None
    return OtherSessions(tokens=[one.text for one in kept], lifetime_seconds=left)


def make_room(context: Context, uid: str) -> OtherSessions:
    """Return the cookie of the sessions that stay beside a new one of this account; an older one of the account ends."""
    kept = others(context, uid)
    for one in held(context):
        if one.session.uid == uid:
            sessions.end(context, uid, one.session.session_id)
            tokens.revoke_with_session(context, one.session.session_id)
    return kept
