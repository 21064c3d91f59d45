"""Operations that set a password without a letter: the person who knows the present one, and the tenant's servers."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import passwords as contract
from app.contract.groups import Posted
from app.identity.accounts import gate, store
from app.identity.accounts import service as accounts
from app.identity.accounts.gate import Lock
from app.identity.accounts.service import Account
from app.identity.accounts.sought import Identifier, Sought
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.recovery import renewal
from app.identity.recovery.handlers import refuse_captcha
from app.identity.recovery.whom import refuse_closed
from app.identity.sign_in import locks
from app.identity.sign_in.recovered import end_everything, spend
from app.kit.server import Server

EVENT = "ChangePassword"


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.change)(change_own)
    server.implements(contract.read_hash)(read_hash)
    server.implements(contract.set_password)(set_password)


def change_own(call: Call, req: contract.ChangePassword) -> Posted:
    spend(call)
    account = accounts.by_uid(call, call.account.uid)
    if account is None:
        raise e.UnknownUid
    if not req.new_password:
        raise e.BadParameter.names("newpassword")
    shown = locks.Proof(req.security_answer, captcha.of_parameters(req))
    if not account.is_locked_now:  # an answer opens once: a locked account needs its own
        refuse_captcha(call, req, "change_password")
    changed = change(call, account, req.old_password, req.new_password, shown, is_silent=req.is_silent)
    end_everything(call, changed, except_session=call.account.session_id, except_token=call.account.token_hash)
    return Posted()


def change(call: Call, account: Account, old: str, new: str, shown: locks.Proof, *, is_silent: bool = False) -> Account:
    """Give an account another password, by the one that it has. The caller ends its other sessions.

    A wrong one counts towards the account's lock, as at sign-in: a stolen session is no way to guess.

    Raises:
        WrongCurrentPassword: 967.
        AccountBlocked, and the refusals of a lock and of the policy.
    """
    refuse_closed(account)
    lock = gate.lock_of(account)
    call.work.pause()
    is_open = lock is not None and _open(call, account, lock, shown)
    if not call.hashing.is_match(account.password_hash, old):
        _count(call, account)
        call.ledger.record("password.change_refused", uid=account.uid)
        raise e.WrongCurrentPassword
    hashed = renewal.weighed(call, account, new)
    fresh = renewal.locked(call, account)
    if fresh.password_hash != account.password_hash:
        raise e.WrongCurrentPassword
    return renewal.write(call, fresh, hashed, is_silent=is_silent, event=EVENT, opens_lock=is_open)


def read_hash(call: Call, req: contract.ReadHash) -> contract.PasswordHash:
    return _answer(accounts.known(call, req.uid))


def set_password(call: Call, req: contract.SetPassword) -> contract.PasswordHash:
    account = accounts.known(call, req.uid)
    if not req.password:
        raise e.PasswordRequired.names("password")
    if account.password_hash is None:
        raise e.NoEmailProfile
    hashed = renewal.weighed(call, account, req.password)
    fresh = store.change(call, account.uid, {})  # one that is closed gets it too, and stays closed
    if fresh is None:
        raise e.UnknownUid
    after = renewal.write(call, fresh, hashed, is_silent=req.is_silent, event="SetPassword")
    end_everything(call, after)
    return _answer(after)


def _open(call: Call, account: Account, lock: Lock, shown: locks.Proof) -> bool:
    who = Sought(call, Identifier("email", account.email or account.username or ""), account, is_hidden=False)
    if locks.open(call, who, lock, shown):
        return True
    _count(call, account)
    raise locks.told(call, who, lock, e.WrongQuestionOrAnswer())


def _count(call: Call, account: Account) -> None:
    with call.work.apart() as own:
        failure = gate.count_failure(own, account, call.tenant.settings, call.now)
    if failure.is_locked:
        call.ledger.record("account.locked", uid=account.uid, lock=call.tenant.settings.lockout.type)


def _answer(account: Account) -> contract.PasswordHash:
    if account.password_hash is None:
        raise e.NoEmailProfile
    return contract.PasswordHash(password_hash=account.password_hash)
