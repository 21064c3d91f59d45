"""Operations that set a password without a letter: the person who knows the present one, and the tenant's servers."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import passwords as contract
from app.contract.groups import Posted
from app.identity.authentication.recovery import new_password
from app.identity.authentication.recovery.handlers import refuse_captcha
from app.identity.authentication.recovery.recipient import refuse_closed
from app.identity.authentication.sign_in import locks
from app.identity.authentication.sign_in.password_reset import end_everything, spend
from app.identity.credentials.captcha import service as captcha
from app.identity.directory.accounts import login_records, store
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account_lookup import AccountLookup, Identifier
from app.identity.directory.accounts.login_records import Lock
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context

EVENT = "ChangePassword"


@contract.change.implements
def change_own(context: Context, req: contract.ChangePassword) -> Posted:
    spend(context)
    account = accounts.by_uid(context, context.account.uid)
    if account is None:
        raise e.UnknownUid
    if not req.new_password:
        raise e.BadParameter.names("newpassword")
    shown = locks.Proof(req.security_answer, captcha.from_parameters(req))
    if not account.is_locked_now:  # an answer opens once: a locked account needs its own
        refuse_captcha(context, req, "change_password")
    changed = change(context, account, req.old_password, req.new_password, shown, is_silent=req.is_silent)
    end_everything(context, changed, except_session=context.account.session_id, except_token=context.account.token_hash)
    return Posted()


def change(
    context: Context, account: Account, old: str, new: str, shown: locks.Proof, *, is_silent: bool = False
) -> Account:
    """Give an account another password, by the one that it has. The caller ends its other sessions.

    A wrong one counts towards the account's lock, as at sign-in: a stolen session is no way to guess.

    Raises:
        WrongCurrentPassword: 967.
        AccountBlocked, and the refusals of a lock and of the policy.
    """
    refuse_closed(account)
    lock = login_records.lock_of(account)
    context.work.release_connection()
    is_open = lock is not None and _open(context, account, lock, shown)
    if not context.hashing.is_match(account.password_hash, old):
        _count(context, account)
        context.audit.record("password.change_refused", uid=account.uid)
        raise e.WrongCurrentPassword
    hashed = new_password.weighed(context, account, new)
    fresh = new_password.locked(context, account)
    if fresh.password_hash != account.password_hash:
        raise e.WrongCurrentPassword
    return new_password.write(context, fresh, hashed, is_silent=is_silent, event=EVENT, opens_lock=is_open)


@contract.read_hash.implements
def read_hash(context: Context, req: contract.ReadPasswordHash) -> contract.PasswordHash:
    return _answer(accounts.require(context, req.uid))


@contract.set_password.implements
def set_password(context: Context, req: contract.SetPassword) -> contract.PasswordHash:
    account = accounts.require(context, req.uid)
    if not req.password:
        raise e.PasswordRequired.names("password")
    if account.password_hash is None:
        raise e.NoEmailProfile
    hashed = new_password.weighed(context, account, req.password)
    fresh = store.change(context, account.uid, {})  # one that is closed gets it too, and stays closed
    if fresh is None:
        raise e.UnknownUid
    after = new_password.write(context, fresh, hashed, is_silent=req.is_silent, event="SetPassword")
    end_everything(context, after)
    return _answer(after)


def _open(context: Context, account: Account, lock: Lock, shown: locks.Proof) -> bool:
    who = AccountLookup(context, Identifier("email", account.email or account.username or ""), account, is_hidden=False)
    if locks.open(context, who, lock, shown):
        return True
    _count(context, account)
    raise locks.told(context, who, lock, e.WrongQuestionOrAnswer())


def _count(context: Context, account: Account) -> None:
    with context.work.separate_transaction() as own:
        failure = login_records.count_failure(own, account, context.tenant.settings, context.now)
    if failure.is_locked:
        context.audit.record("account.locked", uid=account.uid, lock=context.tenant.settings.lockout.type)


def _answer(account: Account) -> contract.PasswordHash:
    if account.password_hash is None:
        raise e.NoEmailProfile
    return contract.PasswordHash(password_hash=account.password_hash)
