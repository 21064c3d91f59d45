"""For how long a proof of who somebody is counts for what a thief would profit from."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.identity.authentication.sign_in import second_factor
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials.second_factors import service as second_factors
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

FRESH: Final = timedelta(minutes=5)


def is_fresh(context: Context, session: BrowserSession) -> bool:
    """Return whether the person of the session proved who they are a moment ago."""
    return context.now - session.authenticated_at <= FRESH


def must_confirm(context: Context, session: BrowserSession, account: Account) -> bool:
    """Return whether a page has to ask for a proof for which a password is not there, or not enough (decisions/0094)."""
    channel = second_factor.channel_for(session.methods)
    return not is_fresh(context, session) and (
        account.password_hash is None or bool(second_factors.kinds_of_account(context, account, channel))
    )
