"""The password of somebody who is signed in: another one, or the first."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_recovery as contract
from app.contract.hub_self_service import Proved
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.journeys import own_account, views
from app.identity.recovery import renewal
from app.identity.sign_in import changed, locks, recovered, sessions, unmet
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.change)(change)
    server.implements(contract.set_first)(set_first)


def change(call: Call, req: contract.OtherPassword) -> contract.PasswordTurned:
    session = sessions.current(call)
    account = accounts.by_uid(call, session.uid) if session else None
    if session is None or account is None:
        raise e.NotAuthenticated
    if unmet.is_barred(call, session, account):
        raise e.NotAuthenticated
    recovered.spend(call)
    after = changed.change(call, account, req.old_password, req.new_password, locks.Proof())
    others = len(sessions.of_account(call, account.uid)) - 1
    recovered.end_everything(call, after, except_session=session.session_id)
    text = sessions.prove_again(call, session)
    return contract.PasswordTurned(ended=max(0, others), session=views.cookie(call, session, text))


def set_first(call: Call, req: contract.FirstPassword) -> contract.PasswordTurned:
    """A password opens the account from anywhere: whoever has a session alone does not set one."""
    recovered.spend(call)
    known = own_account.proved(call, Proved())
    if known.account.password_hash is not None:
        raise e.WrongCurrentPassword
    hashed = renewal.weighed(call, known.account, req.password)
    fresh = renewal.locked(call, known.account)
    if fresh.password_hash is not None:  # another tab was first
        raise e.WrongCurrentPassword
    renewal.write(call, fresh, hashed, is_silent=False, event="SetPassword")
    text = sessions.prove_again(call, known.session)
    return contract.PasswordTurned(session=views.cookie(call, known.session, text))
