"""The account of the visit: required by a page, and reauthenticated before a change."""

from __future__ import annotations

from dataclasses import dataclass

from app.contract import errors as e
from app.contract.accounts.pages import reauthentication as contract
from app.identity.authentication.sign_in import required_actions
from app.identity.authentication.sign_in.sessions import service as sessions
from app.identity.authentication.sign_in.sessions.service import BrowserSession
from app.identity.credentials import account_locks, current_password
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.pages_api import views
from app.identity.pages_api.interactions.reauthentication import is_fresh, must_confirm
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


@dataclass(frozen=True)
class Reauthenticated:
    """A user who authenticated recently, or by the request itself (`is_new`)."""

    session: BrowserSession
    account: Account
    is_new: bool = False


def renew_session(context: Context, confirmed: Reauthenticated) -> contract.SessionRenewal:
    """Return the response of a change; after a reauthentication by the request, the session gets a new cookie."""
    if not confirmed.is_new:
        return contract.SessionRenewal()
    text = sessions.mark_reauthenticated(context, confirmed.session)
    return contract.SessionRenewal(session=views.cookie(context, confirmed.session, text))


def reauthenticate(context: Context, req: contract.WithPassword) -> Reauthenticated:
    """Return the signed-in account if the user authenticated recently, or gives the password now. A wrong password counts.

    Raises:
        WrongCurrentPassword, and the refusals of a locked account.
        NotAuthenticated: the password does not suffice; the page then leads to a full reauthentication.
    """
    session, account = require_account(context)
    if is_fresh(context, session):
        return Reauthenticated(session, account)
    if must_confirm(context, session, account):
        raise e.NotAuthenticated
    if not req.password:
        account_locks.refuse_locked(context, account)
        raise e.WrongCurrentPassword("The password is asked again.")
    verified = current_password.verify(context, account, req.password, e.WrongCurrentPassword)
    with context.work.separate_transaction() as work:
        login_records.reset_failures(work, account.uid)
    return Reauthenticated(session, verified, is_new=True)
