"""The session and the account of the visit, as pages require them."""

from __future__ import annotations

from app.contract import errors
from app.identity.authentication.sign_in import required_actions
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def require_account(context: Context) -> tuple[BrowserSession, Account]:
    """Return the session and account of a user who meets the tenant's requirements; raises NotAuthenticated.

    The pages lead other visitors to a sign-in, whose steps ask for the missing ones.
    """
    session, account = require_session(context)
    if required_actions.blocks_account_pages(context, session, account):
        raise errors.NotAuthenticated
    return session, account


def require_session(context: Context) -> tuple[BrowserSession, Account]:
    """Return the session and account of a signed-in user, even with unmet requirements; raises NotAuthenticated."""
    signed_in = sessions.signed_in(context)
    if signed_in is None:
        raise errors.NotAuthenticated
    return signed_in.session, signed_in.account
