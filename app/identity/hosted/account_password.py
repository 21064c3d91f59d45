"""The password of somebody who is signed in: another one, or the first."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_recovery as contract
from app.contract.hub_account import WithPassword
from app.identity.authentication.recovery import new_password
from app.identity.authentication.sign_in import locks, password_change, password_reset, required_actions, sessions
from app.identity.directory.accounts import service as accounts
from app.identity.hosted import account_settings, views
from app.identity.platform.context import Context


@contract.change.implements
def change(context: Context, req: contract.ChangePasswordRequest) -> contract.PasswordChanged:
    session = sessions.current(context)
    account = accounts.by_uid(context, session.uid) if session else None
    if session is None or account is None:
        raise e.NotAuthenticated
    if required_actions.blocks_account_pages(context, session, account):
        raise e.NotAuthenticated
    password_reset.spend_limit(context)
    after = password_change.change(context, account, req.old_password, req.new_password, locks.LockSolution())
    others = len(sessions.of_account(context, account.uid)) - 1
    password_reset.end_sessions_and_tokens(context, after, except_session=session.session_id)
    text = sessions.mark_reauthenticated(context, session)
    return contract.PasswordChanged(ended=max(0, others), session=views.cookie(context, session, text))


@contract.set_first.implements
def set_first(context: Context, req: contract.SetPasswordRequest) -> contract.PasswordChanged:
    """A password opens the account from anywhere: whoever has a session alone does not set one."""
    password_reset.spend_limit(context)
    known = account_settings.proved(context, WithPassword())
    if known.account.password_hash is not None:
        raise e.WrongCurrentPassword
    hashed = new_password.check_and_hash(context, known.account, req.password)
    fresh = new_password.lock_account(context, known.account)
    if fresh.password_hash is not None:  # another tab was first
        raise e.WrongCurrentPassword
    new_password.write(context, fresh, hashed, suppress_webhook=False, event="SetPassword")
    text = sessions.mark_reauthenticated(context, known.session)
    return contract.PasswordChanged(session=views.cookie(context, known.session, text))
