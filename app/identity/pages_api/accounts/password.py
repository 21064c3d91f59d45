"""The account page of the password."""

from __future__ import annotations

from app.contract import errors
from app.contract.recovery import recovery_pages
from app.identity.authentication.recovery import new_password, password_change, password_reset
from app.identity.authentication.sign_in import locks, required_actions
from app.identity.authentication.sign_in.sessions import session_renewal, sessions
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts import account_store
from app.identity.pages_api.signed_in_account import require_account
from app.identity.platform.context import Context


@recovery_pages.change.implements
def change_password(context: Context, req: recovery_pages.ChangePasswordRequest) -> recovery_pages.PasswordChanged:
    session = sessions.current(context)
    account = account_store.by_uid(context, session.uid) if session else None
    if session is None or account is None:
        raise errors.NotAuthenticated
    if required_actions.blocks_account_pages(context, session, account):
        raise errors.NotAuthenticated
    password_reset.count_attempt(context)
    changed = password_change.change(context, account, req.old_password, req.new_password, locks.LockSolution())
    others = len(sessions.of_account(context, account.uid)) - 1
    end_sessions_and_tokens(context, changed, except_session=session.session_id)
    text = session_renewal.mark_reauthenticated(context, session)
    return recovery_pages.PasswordChanged(ended=max(0, others), session=sessions.cookie(context, session, text))


@recovery_pages.set_first.implements
def set_first_password(context: Context, req: recovery_pages.SetPasswordRequest) -> recovery_pages.PasswordChanged:
    """Set the first password of an account; it requires a reauthentication, because a session may be stolen."""
    password_reset.count_attempt(context)
    session, account = require_account(context)
    if ldap_directories.has_password(context, account):
        raise errors.WrongCurrentPassword
    password_hash = new_password.check_and_hash(context, account, req.password)
    locked = new_password.lock_account(context, account)
    if locked.password_hash is not None:  # set concurrently in another tab
        raise errors.WrongCurrentPassword
    new_password.write(context, locked, password_hash, event="SetPassword")
    text = session_renewal.mark_reauthenticated(context, session)
    return recovery_pages.PasswordChanged(session=sessions.cookie(context, session, text))
