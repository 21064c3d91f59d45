"""What people do on our pages to the addresses and the number that name their account."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.contract import hub_self_service as contract
from app.contract.groups import Posted
from app.contract.hub import AddressView
from app.contract.mailed import MailedTo
from app.contract.phones import NOT_TEXTED
from app.identity.accounts import identifiers
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.journeys import awaiting
from app.identity.journeys.own_account import done, owner, proved
from app.identity.letters import send_limits
from app.identity.proofs import cool_down
from app.identity.proofs.service import ProofKind
from app.identity.self_service import emails
from app.identity.self_service.emails import NewAddress
from app.identity.sign_in import verified
from app.identity.verification import numbers, phones
from app.identity.verification import service as verification
from app.identity.verification.service import Wish
from app.kit.errors import ApiError
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.add_email)(add_email)
    server.implements(contract.mail_email_again)(mail_email_again)
    server.implements(contract.confirm_email)(confirm_email)
    server.implements(contract.remove_email)(remove_email)
    server.implements(contract.make_primary)(make_primary)
    server.implements(contract.ask_phone)(ask_phone)
    server.implements(contract.text_phone_again)(text_phone_again)
    server.implements(contract.confirm_phone)(confirm_phone)
    server.implements(contract.remove_phone)(remove_phone)


def addresses(call: Call, account: Account) -> list[AddressView]:
    """Return the addresses of an account as its owner sees them, those that wait for a proof among them."""
    waits = cool_down.of_account(call, verification.KINDS, account.uid)
    is_on = call.tenant.settings.email_verification != "disabled"
    return [_view(account, entry, waits, is_on) for entry in account.emails]


def wait_for_number(call: Call, account: Account, phone: str) -> int:
    """Return for how many seconds the next code to the number that the account asked for has to wait."""
    return cool_down.of_account(call, (ProofKind.ADD_PHONE,), account.uid).get(phone, 0)


def add_email(call: Call, req: contract.EmailEdit) -> contract.Done:
    """What was mailed to this address a moment ago is not mailed twice: a second click goes on as the first."""
    known = proved(call, req)
    if not _wait_for_address(call, known.account, identifiers.normal_email(req.email)):
        new = NewAddress(req.email, "Secondary" if known.account.email else "Primary")
        emails.ask(call, known.account, new, hides_taken=True)
    return done(call, known)


def mail_email_again(call: Call, req: contract.EmailNamed) -> Posted:
    """An address that is the account's own already is counted for the account: what the limits of its mailbox say depends
    on what others asked for, and is kept silently."""
    account = owner(call)[1]
    form = identifiers.normal_email(req.email)
    entry = next((one for one in account.emails if identifiers.normal_email(one["Value"]) == form), None)
    if form is None or entry is None:
        raise e.EmailNotOnProfile
    if verification.is_verified(account, form):
        raise e.EmailVerifiedBefore
    shown, left = str(entry["Value"]), _wait_for_address(call, account, form)
    try:
        _refuse_too_soon(left)
        if entry.get("pending"):
            emails.ask(call, account, NewAddress(shown, str(entry["Type"])), hides_taken=True)
        else:
            _verify_again(call, account, shown)
    except (e.TooManyRequests, e.MailLimitReached) as refusal:
        raise awaiting.with_page(refusal, MailedTo(sent_to=shown, resend_in_seconds=left)) from None
    return Posted()


def confirm_email(call: Call, req: contract.EmailCode) -> Posted:
    account = owner(call)[1]
    try:
        verified.end_sessions(call, emails.confirm_code(call, account, req.email, req.code))
    except ApiError as refusal:
        left = _wait_for_address(call, account, identifiers.normal_email(req.email))
        raise awaiting.with_page(refusal, MailedTo(sent_to=req.email, resend_in_seconds=left)) from None
    return Posted()


def remove_email(call: Call, req: contract.EmailEdit) -> contract.Done:
    known = proved(call, req)
    emails.remove(call, known.account, req.email)
    return done(call, known)


def make_primary(call: Call, req: contract.EmailEdit) -> contract.Done:
    known = proved(call, req)
    emails.make_primary(call, known.account, req.email)
    return done(call, known)


def ask_phone(call: Call, req: contract.PhoneEdit) -> contract.Done:
    """As `add_email` does of an address."""
    known = proved(call, req)
    numbers.refuse_off(call)
    phone = identifiers.normal_phone(identifiers.international(req.phone, call.tenant.settings.default_country))
    if phone is None:
        raise e.MalformedPhone
    if not wait_for_number(call, known.account, phone):
        phones.ask(call, known.account, phone, hides_taken=True)
    return done(call, known)


def text_phone_again(call: Call, req: contract.PhoneNamed) -> Posted:
    """An account asks for one number at a time: a page that shows another one is out of date."""
    account = owner(call)[1]
    numbers.refuse_off(call)
    phone = phones.asked(call, account)
    if phone is None or phone != identifiers.normal_phone(req.phone):
        raise e.NoPhoneOnProfile
    left = wait_for_number(call, account, phone)
    try:
        _refuse_too_soon(left)
        phones.ask(call, account, phone, hides_taken=True)
    except (e.TooManyRequests, *NOT_TEXTED) as refusal:
        raise _with_number(refusal, phone, left) from None
    return Posted()


def confirm_phone(call: Call, req: contract.PhoneCode) -> Posted:
    """The second click of two finds its code used, and the number taken on: it is told so."""
    account = owner(call)[1]
    numbers.refuse_off(call)
    asked = phones.asked(call, account)
    try:
        proof = phones.spend_asked(call, account, req.code)
    except ApiError as refusal:
        if isinstance(refusal, e.UsedSmsCode) and phones.is_asked_one_held(call, account.uid):
            return Posted()
        left = wait_for_number(call, account, asked) if asked else 0
        raise _with_number(refusal, asked or "", left) from None
    phones.confirm(call, proof)
    return Posted()


def remove_phone(call: Call, req: contract.Proved) -> contract.Done:
    known = proved(call, req)
    numbers.refuse_off(call)
    phones.remove(call, known.account)
    return done(call, known)


def _view(account: Account, entry: dict[str, Any], waits: dict[str, int], is_on: bool) -> AddressView:
    form = identifiers.normal_email(entry["Value"])
    is_asked, is_confirmed = bool(entry.get("pending")), verification.is_verified(account, entry["Value"])
    return AddressView(
        email=entry["Value"],
        is_first=not is_asked and form == identifiers.normal_email(account.email or ""),
        is_confirmed=is_confirmed,
        is_asked=is_asked,
        can_resend=not is_confirmed and (is_asked or is_on),
        resend_in_seconds=waits.get(form or "", 0),
    )


def _verify_again(call: Call, account: Account, shown: str) -> None:
    if call.tenant.settings.email_verification == "disabled":
        raise e.EmailVerificationOff
    send_limits.spend_again(call, account.uid)
    try:
        verification.send(call, account, Wish(), email=shown)
    except e.MailLimitReached:
        call.ledger.record("verification.not_sent", uid=account.uid, reason="MailLimitReached")


def _wait_for_address(call: Call, account: Account, form: str | None) -> int:
    return cool_down.of_account(call, verification.KINDS, account.uid).get(form or "", 0)


def _refuse_too_soon(left: int) -> None:
    if left:
        raise e.TooManyRequests(retry_after_seconds=left)


def _with_number(refusal: ApiError, phone: str, left: int) -> ApiError:
    shown = awaiting.shown(phone, awaiting.SMS) if phone else ""
    return awaiting.with_page(refusal, MailedTo(sent_to=shown, resend_in_seconds=left, by=awaiting.SMS))
