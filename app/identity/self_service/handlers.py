"""The operations by which people change their own accounts, with an access token of theirs."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import self_service as contract
from app.contract.accounts import ReadOwnAccount
from app.contract.accounts import read_own as read_own_account
from app.contract.groups import Deleted, Posted, PostedSms, SmsSent, Uid
from app.contract.profile import Profile
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.letters import service as letters
from app.identity.recovery.handlers import refuse_captcha
from app.identity.self_service import (
    emails,
    factors,
    identities,
    leaving,
    own_codes,
    passkeys,
    policy,
    profile,
    step_up,
    unlocking,
)
from app.identity.self_service.emails import NewAddress
from app.identity.sign_in import gates
from app.identity.sign_in.second_factor import way_of
from app.identity.tokens import service as tokens
from app.identity.verification import service as verification
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations."""
    identities.register(server)
    factors.register(server)
    own_codes.register(server)
    passkeys.register(server)
    step_up.register(server)
    server.implements(read_own_account)(read_own)
    server.implements(contract.update)(update)
    server.implements(contract.set_username)(set_username)
    server.implements(contract.add_email)(add_email)
    server.implements(contract.remove_email)(remove_email)
    server.implements(contract.unlock)(unlock)
    server.implements(contract.send_welcome)(send_welcome)
    server.implements(contract.accept_policy)(accept_policy)
    server.implements(contract.policy_history)(policy_history)
    server.implements(contract.managed_policy_history)(managed_policy_history)
    server.implements(contract.ask_deletion)(ask_deletion)
    server.implements(contract.confirm_deletion)(confirm_deletion)
    server.implements(contract.send_deletion_code)(send_deletion_code)
    server.implements(contract.delete_by_code)(delete_by_code)


def read_own(call: Call, req: ReadOwnAccount) -> Profile:
    """The welcome mail that may be asked for goes once in an account's life, and not to an address that is yet to be proved."""
    account = accounts.own(call)
    is_theirs = account.email_verified or call.tenant.settings.email_verification == "disabled"
    if req.welcome_email_template and is_theirs and call.raw.method != "HEAD":
        account = verification.welcome(call, account, req.welcome_email_template)
    return _profile(account, req.fields_)


def update(call: Call, req: contract.OwnChanges) -> contract.OwnProfile:
    if not call.raw.body.strip():
        raise e.BadPutBody("The body is empty.")
    own = accounts.own(call)
    refuse_captcha(call, req, "update_profile")
    account = profile.update(call, own, req)
    return contract.OwnProfile(data=_profile(account, req.fields_))


def set_username(call: Call, req: contract.NewUsername) -> Posted:
    profile.set_username(call, accounts.own(call), req.username, is_silent=req.is_silent)
    return Posted()


def add_email(call: Call, req: contract.NewEmail) -> Posted:
    new = NewAddress(req.email or "", req.type or "", req.verification_url, req.email_template)
    emails.ask(call, accounts.own(call), new, hides_taken=call.tenant.settings.hide_unknown_accounts)
    return Posted()


def remove_email(call: Call, req: contract.OldEmail) -> Deleted:
    emails.remove(call, accounts.own(call), req.email, is_silent=req.is_silent)
    return Deleted()


def unlock(call: Call, req: contract.Unlock) -> Posted:
    unlocking.unlock(call, accounts.own(call), req)
    return Posted()


def send_welcome(call: Call, req: contract.WelcomeMail) -> Posted:
    account = accounts.own(call)
    if not account.email:
        raise e.NoEmailOnProfile
    verification.welcome(call, account, req.welcome_email_template, is_asked_for=True)
    return Posted()


def accept_policy(call: Call, req: contract.AcceptPolicy) -> Profile:
    """The token that a refused sign-in gave for this is a session from here on, unless something else stands before it."""
    account = policy.accept(call, accounts.own(call))
    way = call.account.facts.get(gates.BEFORE)
    if isinstance(way, dict) and not gates.are_clear(call, account, gates.POLICY):
        tokens.revoke_both(call, call.account.token_hash)
        gates.refuse(call, account, way_of(way), gates.POLICY)
    return _profile(account, req.fields_)


def policy_history(call: Call, req: contract.PolicyHistoryRead) -> contract.PolicyHistory:
    return policy.history(call, accounts.own(call))


def managed_policy_history(call: Call, req: Uid) -> contract.PolicyHistory:
    return policy.history(call, accounts.known(call, req.uid))


def ask_deletion(call: Call, req: contract.AskDeletion) -> contract.DeletionAsked:
    leaving.ask(call, accounts.own(call), req.delete_url, req.email_template)
    return contract.DeletionAsked()


def confirm_deletion(call: Call, req: contract.ConfirmDeletion) -> Posted:
    """A HEAD request, which scanners of mail send, uses nothing up."""
    if call.raw.method == "HEAD":
        leaving.peek(call, req.delete_token)
    else:
        leaving.confirm(call, req.delete_token)
    return Posted()


def send_deletion_code(call: Call, req: contract.DeletionCode) -> PostedSms:
    sid = leaving.send_code(call, accounts.own(call), req)
    return PostedSms(data=SmsSent(account_sid=letters.account_sid(call), sid=sid))


def delete_by_code(call: Call, req: contract.DeleteByCode) -> Deleted:
    account = accounts.own(call)
    is_open = unlocking.open_lock(call, account, req, req)
    leaving.confirm_code(call, account, req.otp, is_lock_open=is_open, is_silent=req.is_silent)
    return Deleted()


def _profile(account: Account, fields: str | None) -> Profile:
    return Profile.of(accounts.project(accounts.profile_of(account), fields))
