"""People delete their account: asked for by mail or by a code, then kept for a while, then removed (user.md rows U18 to U21)."""

from __future__ import annotations

from datetime import timedelta

from app.contract import errors as e
from app.contract.letters import MailKind, SmsKind
from app.identity.accounts import store
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.letters import service as letters
from app.identity.letters.service import PLAINLY, TextWish
from app.identity.proofs import service as proofs
from app.identity.proofs.service import SMS_CODE, Proof, ProofKind
from app.identity.recovery import sending
from app.identity.sign_in import sessions, undoing
from app.identity.store import removal
from app.identity.tasks import events
from app.identity.tenants import whitelist
from app.identity.tokens import service as tokens
from app.identity.verification import notices
from app.kit.clock import iso

VTYPE = "deleteuser"
PATH = "/delete-account"


def ask(call: Call, account: Account, url: str | None = None, template: str | None = None) -> None:
    """Mail a link that deletes the account.

    Raises:
        NoEmailOnProfile: there is no address to mail to.
        NotProcessable: the address is not verified, so it may be somebody else's.
        VerificationUrlRefused: the page is not on the tenant's whitelist.
        MailLimitReached.
    """
    if not account.email:
        raise e.NoEmailOnProfile
    if not account.email_verified and call.tenant.settings.email_verification != "disabled":
        raise e.NotProcessable
    if url and not whitelist.is_mailable(call, url):
        raise e.VerificationUrlRefused
    token = token_only(call, account)
    facts = {
        "url": whitelist.with_query(url or f"{call.issuer}{PATH}", vtype=VTYPE, vtoken=token),
        "token": token,
        "minutes": str(proofs.LINK_MINUTES),
    }
    letters.mail(
        call, MailKind.DELETE_ACCOUNT, account.email, account=account, facts=facts, template=template,
        language=notices.language(call),
    )  # fmt: skip
    call.ledger.record("deletion.asked", uid=account.uid)


def token_only(call: Call, account: Account) -> str:
    """Return the token of a link that the caller brings to its owner."""
    return proofs.new_link(
        call, ProofKind.DELETE_ACCOUNT, account.uid, subject=account.uid, facts={"email": account.email}
    )


def code_only(call: Call, account: Account) -> str:
    """Return a code that the caller brings to its owner. Raises NoPhoneOnProfile."""
    if not account.phone or not account.phone_verified:
        raise e.NoPhoneOnProfile
    return proofs.new_code(call, ProofKind.DELETE_ACCOUNT, account.uid, subject=account.phone)


def peek(call: Call, token: str) -> Proof:
    """Return what a link stands for, without using it. Raises WrongDeleteToken, UsedLink, ExpiredLink."""
    try:
        return proofs.peek_link(call, ProofKind.DELETE_ACCOUNT, token)
    except e.UnknownLink:
        raise e.WrongDeleteToken from None


def confirm(call: Call, token: str) -> Account:
    """Use a link: its account leaves. Of many at once one wins. Raises WrongDeleteToken, UsedLink, ExpiredLink."""
    proof = peek(call, token)
    fresh = store.change(call, proof.uid, {})
    if fresh is not None and not sending.still_reaches(fresh, proof):
        raise e.ExpiredLink
    try:
        proofs.spend_link(call, ProofKind.DELETE_ACCOUNT, token)
    except e.UnknownLink:  # the account is gone meanwhile, and its links with it
        raise e.WrongDeleteToken from None
    return leave(call, proof.uid)


def send_code(call: Call, account: Account, wish: TextWish = PLAINLY) -> str:
    """Send a code that deletes the account; return the message's Sid.

    A number that nobody proved may be anybody's: whoever holds no more than a session could write their own there.

    Raises NoPhoneOnProfile, RequestInvalid where nothing sends text messages, SmsLimitReached, SharedSmsLimitReached.
    """
    if not account.phone or not account.phone_verified:
        raise e.NoPhoneOnProfile
    facts = {"otp": code_only(call, account), "minutes": str(proofs.CODE_MINUTES)}
    try:
        sid = letters.sms(call, SmsKind.DELETE_ACCOUNT, account.phone, account=account, facts=facts, wish=wish)
    except e.NoSmsConfiguration:
        raise e.RequestInvalid from None
    call.ledger.record("deletion.asked", uid=account.uid)
    return sid


def confirm_code(
    call: Call, account: Account, code: str, *, is_lock_open: bool = False, is_silent: bool = False
) -> None:
    """Use a code: the account leaves. Raises NoPhoneOnProfile, and what `proofs.spend_code` does."""
    if not account.phone or not account.phone_verified:
        raise e.NoPhoneOnProfile
    proofs.spend_code(
        call, ProofKind.DELETE_ACCOUNT, account.uid, code, subject=account.phone, errors=SMS_CODE,
        is_lock_open=is_lock_open,
    )  # fmt: skip
    leave(call, account.uid, is_silent=is_silent)


def leave(call: Call, uid: str, *, is_silent: bool = False) -> Account:
    """Delete an account: at once, or, where the tenant keeps such accounts for some days, after these.

    Until then nobody is signed in to it, and whoever knows its password may keep it; so may the mailbox that was told of
    a change, by its alarm: a thief would delete what they cannot hold.

    Raises WrongDeleteToken: it is gone already, or on its way.
    """
    account = store.change(call, uid, {})
    if account is None or account.is_deleted:
        raise e.WrongDeleteToken
    days = call.tenant.settings.deletion_days
    if not days:
        removal.rows_of_account(call.work, uid)
        call.ledger.record("account.deleted", uid=uid)
        events.emit(call, "DeleteAccount", account, is_silent)
        return account
    leaves_at = call.now + timedelta(days=days)
    after = store.change(call, uid, {"is_deleted": True, "leaves_at": leaves_at}) or account
    sessions.end_all(call, uid)
    tokens.revoke_all(call, uid)
    proofs.close(call, uid, but=ProofKind.ALARM)
    notices.tell(call, MailKind.ACCOUNT_LEAVES, after.email, after, url=f"{call.issuer}/login")
    call.ledger.record("account.leaves", uid=uid, at=iso(leaves_at))
    events.emit(call, "DeleteAccount", after, is_silent)
    return after


def keep_by(call: Call, token: str) -> bool:
    """Undo a deletion by the token that a refused sign-in gave; returns whether there was one to undo."""
    uid = undoing.uid_of(call, token)
    return uid is not None and keep(call, uid)


def keep(call: Call, uid: str) -> bool:
    """Undo a deletion while the account is still there; returns whether there was one."""
    account = store.change(call, uid, {})
    if account is None or account.leaves_at is None or account.leaves_at <= call.now:
        return False
    after = store.change(call, uid, {"is_deleted": False, "leaves_at": None}) or account
    call.ledger.record("account.kept", uid=uid)
    events.emit(call, "UpdateProfile", after, False)
    return True
