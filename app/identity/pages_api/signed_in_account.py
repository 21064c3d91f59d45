"""The account of the visit: required by a page, and reauthenticated before a change."""

from __future__ import annotations

from app.contract import errors as e
from app.identity.authentication.sign_in import required_actions
from app.identity.authentication.sign_in.sessions import service as sessions
from app.identity.authentication.sign_in.sessions.service import BrowserSession
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def require_account(context: Context, *, with_credentials: bool = False) -> tuple[BrowserSession, Account]:
    """Return the session and account of a user who meets the tenant's requirements; raises NotAuthenticated.

    The pages lead other visitors to a sign-in, whose steps ask for the missing ones.

    Args:
        with_credentials: read the account's credentials ahead.
    """
    session, account = require_session(context, with_credentials=with_credentials)
    if required_actions.blocks_account_pages(context, session, account):
        raise e.NotAuthenticated
    return session, account


def require_session(context: Context, *, with_credentials: bool = False) -> tuple[BrowserSession, Account]:
    """Return the session and account of a signed-in user, even with unmet requirements; raises NotAuthenticated."""
    session = sessions.current(context, with_credentials=with_credentials)
    account = accounts.by_uid(context, session.uid) if session is not None else None
    if session is None or account is None or not account.is_active or account.is_deleted:
        raise e.NotAuthenticated
    return session, account
