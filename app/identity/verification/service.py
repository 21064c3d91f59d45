"""Sends what proves an address, and takes it back: the address is then verified, whoever had registered it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from app.contract import errors as e
from app.contract.letters import MailKind
from app.identity.accounts import identifiers, proving, store, waiting
from app.identity.accounts.account import is_verified
from app.identity.accounts.identifiers import EMAIL
from app.identity.accounts.naming import PRIMARY
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.letters import service as letters
from app.identity.letters.send_limits import Counted
from app.identity.outbox import Outbox, Unsent
from app.identity.proofs import service as proofs
from app.identity.proofs.service import NOBODY, Proof, ProofKind
from app.identity.tasks import events
from app.identity.tenants import whitelist
from app.identity.verification import notices, phones
from app.kit.errors import ApiError

VTYPE = "emailverification"
KINDS = (ProofKind.EMAIL, ProofKind.ADD_EMAIL)
_NOT_SENT = (e.MailLimitReached, e.SmsLimitReached, e.SharedSmsLimitReached, e.NoSmsConfiguration, e.VoiceOtpOff)


@dataclass(frozen=True)
class Wish:
    """How the caller wants the message."""

    url: str | None = None  # a page of the relying party; ours where there is none
    email_template: str | None = None
    sms_template: str | None = None
    is_voice_otp: bool = False  # the text message is read out in a call
    welcome_template: str | None = None  # for the mail that follows the proof
    sends_sms: bool = True
    attempt: str | None = None  # the sign-in that waits for it, in the browser that began it


def refuse_url(call: Call, url: str | None) -> None:
    """Raise 1249 for a page that the tenant's whitelist does not have."""
    if url and not whitelist.is_mailable(call, url):
        raise e.VerificationUrlRefused


def send(call: Call, account: Account, wish: Wish, *, email: str | None = None) -> str:
    """Mail a link, and with it a code, to the account's address; return the id of the code.

    Raises MailLimitReached.
    """
    return _mail(call, account.uid, email or account.email or "", wish, account)


def send_to_waiting(call: Call, account: Account, wish: Wish) -> None:
    """Mail a link to each address that the account may have once it is proved; limits are kept silently.

    Whose address somebody else has proved before learns that they have an account.
    """
    for entry in account.emails:
        if not entry.get("pending"):
            continue
        owner = store.by_identifier(call, EMAIL, identifiers.normal(EMAIL, entry["Value"]))
        try:
            if owner is None:
                send(call, account, wish, email=entry["Value"])
            else:
                send_to_nobody(call, entry["Value"], wish)
        except e.MailLimitReached:
            call.ledger.record("verification.not_sent", uid=account.uid, reason="MailLimitReached")


def token_only(call: Call, account: Account, email: str, minutes: int = proofs.LINK_MINUTES) -> str:
    """Return the token of a link that the caller brings to its owner."""
    subject = identifiers.normal(EMAIL, email)
    return proofs.new_link(
        call, ProofKind.EMAIL, account.uid, subject=subject, minutes=minutes, facts={"attempt": None}
    )


def code_only(call: Call, account: Account, email: str) -> str:
    """Return a code that the caller brings to its owner."""
    return proofs.new_code(call, ProofKind.EMAIL, account.uid, subject=identifiers.normal(EMAIL, email))


def send_again(call: Call, uid: str, email: str, wish: Wish) -> str:
    """Mail as before to the address of an account, of one that waits for this proof, or of `NOBODY`; return the code's id.

    Raises MailLimitReached.
    """
    return _mail(call, uid, email, wish, store.by_uid(call, uid))


def send_to_nobody(call: Call, email: str, wish: Wish) -> str:
    """Mail an address that has nothing to verify that it has an account, where it has one; it costs what `send` does.

    Raises MailLimitReached.
    """
    return _mail(call, NOBODY, email, wish, None)


def send_after_refusal(call: Call, account: Account, refusal: ApiError, wish: Wish) -> ApiError | None:
    """Send what the refused sign-in waits for, in a transaction of its own; return why nothing could be sent."""
    if wish.url and not whitelist.is_mailable(call, wish.url):
        wish = replace(wish, url=None)
    try:
        with call.work.apart() as own:
            apart = replace(call, work=own, outbox=Outbox(own, call.house.clock, call.house.vault))
            if isinstance(refusal, e.EmailUnverified):
                send(apart, account, wish)
            elif isinstance(refusal, e.PhoneUnverified) and wish.sends_sms and account.phone:
                phones.send(apart, account.uid, account.phone, account, wish)
    except _NOT_SENT as reason:
        call.ledger.record("verification.not_sent", uid=account.uid, reason=type(reason).__name__)
        return reason
    return None


def account_of(call: Call, email: str) -> Account | None:
    """Return the account that holds an address, else the one that asked last for a proof that it is theirs.

    Where nobody is to learn who has an account all is asked in every case: the time of the answer tells nothing.
    """
    form = identifiers.normal(EMAIL, email)
    held = store.by_identifier(call, EMAIL, form)
    if held is not None and not call.tenant.settings.hide_unknown_accounts:
        return held
    account = store.by_uid(call, proofs.asked_for(call, KINDS, form) or proofs.NOBODY)
    pending = [one for one in account.emails if one.get("pending")] if account is not None else []
    asking = account if any(identifiers.normal_email(one["Value"]) == form for one in pending) else None
    return held or asking


def added_by(account: Account, email: str) -> str:
    """Return whose account, masked, an address would be added to; nothing where it makes the account its own."""
    form = identifiers.normal_email(email)
    if proving.is_first(account) or form == identifiers.normal_email(account.email or ""):
        return ""
    return identifiers.masked(account.email or account.username or account.phone or "")


def peek(call: Call, token: str) -> Proof:
    """Return what a link of an address stands for, without using it; raises 1063, 974, 975."""
    return proofs.peek_link(call, _kind_of(call, token), token)


def spend_link(call: Call, token: str) -> Proof:
    """Use a link of an address; raises 1063, 974, 975."""
    return proofs.spend_link(call, _kind_of(call, token), token)


def known(call: Call, token: str) -> Proof | None:
    """Return what a link of an address stands or stood for, whatever became of it."""
    return proofs.known_link(call, _kind_of(call, token), token)


def confirm(
    call: Call, proof: Proof, *, is_silent: bool = False, template: str | None = None, knows_password: bool = False
) -> Account:
    """Make the address that was proved a verified one of its account, and return the account as it is then.

    Args:
        knows_password: whether the account's password was shown where the proof is; else another one may have made it.

    Raises:
        ClosedLink: 979, the account is closed or gave the address up.
        EmailVerifiedBefore: 1126, it is verified already.
        EmailRegistered: 936, another account took it meanwhile.
    """
    fresh = store.change(call, proof.uid, {}) or waiting.settle(call, proof.uid)
    if fresh is None or not fresh.is_active or fresh.is_deleted:
        raise e.ClosedLink
    if is_verified(fresh, proof.subject):
        raise e.EmailVerifiedBefore
    entries = [dict(one) for one in fresh.emails]
    held = _entry(call, fresh, entries, proof)
    waiting.end(call, proof.subject)
    if fresh.email is None:
        entries = [held, *(one for one in entries if one is not held)]
    values: dict[str, Any] = {"emails": entries}
    if fresh.email is None:
        values["email"] = held["Value"]
    if identifiers.normal_email(fresh.email or held["Value"]) == proof.subject:
        values["email_verified"] = True
    is_first = proving.is_first(fresh)
    if is_first:  # what else was stated may be anybody's
        values = proving.claim(call, fresh, held)
        if not knows_password:
            values["private"] = {**fresh.private, proving.UNCLAIMED: proof.subject}
    after = store.change(call, fresh.uid, values) or fresh
    for kind in KINDS:
        proofs.close(call, fresh.uid, kind, subject=None if is_first else proof.subject)
    if proof.kind is ProofKind.ADD_EMAIL:
        _tell_added(call, fresh.email, after, proof)
    events.emit(call, "EmailVerification", after, is_silent)
    template = template or proof.facts.get("welcome")
    return welcome(call, after, template) if values.get("email_verified") else after


def _tell_added(call: Call, to: str | None, after: Account, proof: Proof) -> None:
    """Tell the address that was there: a thief would add one of their own."""
    call.ledger.record("email.added", uid=after.uid)
    shown = str(proof.facts.get("email") or proof.subject)
    notices.tell_with_alarm(call, MailKind.EMAIL_CHANGED, to, after, email=shown, change="added")


def welcome(call: Call, account: Account, template: str | None = None, *, is_asked_for: bool = False) -> Account:
    """Mail a welcome, once in an account's life; a limit that is reached is kept silently.

    One that `is_asked_for` may come again; over the limit it raises MailLimitReached.
    """
    if not account.email or (account.private.get("is_welcomed") and not is_asked_for):
        return account
    try:
        letters.mail(
            call,
            MailKind.WELCOME,
            account.email,
            account=account,
            facts={},
            template=template,
            language=notices.language(call),
            is_asked_for=is_asked_for,
        )
    except e.MailLimitReached:
        if is_asked_for:
            raise
        return account
    return store.change(call, account.uid, {"private": {**account.private, "is_welcomed": True}}) or account


def _kind_of(call: Call, token: str) -> ProofKind:
    """Return which of the two kinds a link is; older mails lead to one address for both."""
    return next((kind for kind in KINDS if proofs.known_link(call, kind, token)), ProofKind.EMAIL)


def _entry(call: Call, fresh: Account, entries: list[dict[str, Any]], proof: Proof) -> dict[str, Any]:
    """Return the entry of the address that was proved, which is held and verified from now on."""
    held = next((one for one in entries if identifiers.normal_email(one["Value"]) == proof.subject), None)
    if held is None:
        held = _added(call, fresh, entries, proof)
    elif held.pop("pending", None):
        _hold(call, fresh, proof.subject)
        held["Type"] = "Primary" if fresh.email is None else _not_primary(held["Type"])
    else:
        store.verify(call, fresh.uid, EMAIL, proof.subject, True)
    held["verified"] = True
    return held


def _added(call: Call, account: Account, entries: list[dict[str, Any]], proof: Proof) -> dict[str, Any]:
    """Give the account the address that it asked for; one that it gave up since is none of its own any more."""
    if proof.kind is not ProofKind.ADD_EMAIL:
        raise e.ClosedLink
    _hold(call, account, proof.subject)
    kind = "Primary" if account.email is None else str(proof.facts.get("type") or "Secondary")
    added = {"Type": kind, "Value": str(proof.facts.get("email") or proof.subject)}
    entries.append(added)
    return added


def _hold(call: Call, account: Account, form: str) -> None:
    try:
        store.hold(call, account.uid, [(EMAIL, form, True)])
    except store.Taken:
        raise e.EmailRegistered from None


def _not_primary(kind: str) -> str:
    return "Secondary" if kind.lower() == PRIMARY else kind


def _mail(call: Call, uid: str, email: str, wish: Wish, account: Account | None) -> str:
    subject = identifiers.normal(EMAIL, email)
    carries = letters.carries(
        call, MailKind.VERIFICATION, account=account, template=wish.email_template, language=notices.language(call)
    )
    is_contested = waiting.is_contested(call, subject)
    if is_contested:  # only our page asks which registration is meant
        wish = replace(wish, url=None)
    kept = {"attempt": wish.attempt, "welcome": wish.welcome_template}
    facts: dict[str, str] = {}
    if carries == "otp":
        proofs.close(call, uid, ProofKind.EMAIL, subject=subject)  # a link of before is over
    else:
        token = proofs.new_link(call, ProofKind.EMAIL, uid, subject=subject, facts=kept)
        facts |= {"url": _address(call, token, wish, email), "token": token, "minutes": str(proofs.LINK_MINUTES)}
    code = proofs.issue_code(
        call, ProofKind.EMAIL, uid, subject=subject, facts=kept
    )  # its id names the page that waits
    is_free = store.by_identifier(call, EMAIL, subject) is None  # asked for everybody: it takes its time
    if uid == NOBODY and is_free:
        # there is no account to tell of
        call = replace(call, outbox=Unsent(call.work, call.house.clock, call.house.vault))
    takes_code = wish.url is None or call.tenant.settings.email_verification_codes
    has_code = takes_code and (wish.attempt is not None or not is_contested)
    if carries in ("otp", "both") or (carries is None and has_code):
        facts |= {"otp": code.text, "otp_minutes": str(proofs.CODE_MINUTES)}
    letters.mail(
        call,
        MailKind.VERIFICATION if uid != NOBODY else MailKind.ACCOUNT_EXISTS,
        email,
        account=account,
        facts=facts if uid != NOBODY else {"url": f"{call.issuer}/login"},
        template=wish.email_template,
        language=notices.language(call),
        counted=Counted(uid=uid if uid != NOBODY else None),  # an account that waits has one, too
    )
    call.ledger.record("verification.sent", uid=account.uid if account else None)
    return code.code_id


def _address(call: Call, token: str, wish: Wish, email: str) -> str:
    asked = {"vtype": VTYPE, "vtoken": token}
    if wish.url is None:
        asked |= {"attempt": wish.attempt} if wish.attempt else {}
        return f"{call.issuer}/verify?{urlencode(asked)}"
    asked |= {"email": email} if call.tenant.settings.email_verification_codes else {}
    return whitelist.with_query(wish.url, **asked)


__all__ = [
    "KINDS", "Account", "Wish", "account_of", "added_by", "code_only", "confirm", "is_verified", "known", "peek",
    "refuse_url", "send", "send_after_refusal", "send_again", "send_to_nobody", "send_to_waiting", "spend_link",
    "token_only", "welcome",
]  # fmt: skip
