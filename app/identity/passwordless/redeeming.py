"""What a proof of a mailbox or of a number opens: the account that has it, made its own where nobody proved it before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract.accounts import EmailEntry, PinInfo
from app.identity.accounts import identifiers, linked, proving, store, waiting
from app.identity.accounts import service as accounts
from app.identity.accounts.identifiers import EMAIL, PHONE
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.consent_forms import service as consent_forms
from app.identity.credentials import store as credentials
from app.identity.proofs import service as proofs
from app.identity.proofs.service import NOBODY, Proof, ProofKind
from app.identity.providers.social import Claimed
from app.identity.recovery.sending import still_reaches
from app.identity.registration import demands, drafting
from app.identity.registration import service as registration
from app.identity.sign_in import recovered
from app.identity.tasks import events
from app.identity.verification import phones
from app.identity.verification import service as verification
from app.kit.errors import ApiError

SOURCE = "one-touch"


@dataclass
class _Newcomer:
    """What is known of somebody who is new: the registration model without a password."""

    email: list[EmailEntry] | None = None
    phone_id: str | None = None
    free: Any = None
    user_name: str | None = None
    password: str | None = None
    security_question_answer: dict[str, str] | None = None
    uid: str | None = None
    pin_info: PinInfo | None = None


def account_of(
    call: Call,
    proof: Proof,
    gone: type[ApiError],
    *,
    is_silent: bool = False,
    template: str | None = None,
    by: Claimed | None = None,
) -> Account:
    """Return the account that a proof, just used up, opens, as it is then.

    Args:
        gone: what is raised where no account has the address or the number any more.
        template: of the welcome that follows the first proof of an address.
        by: what a provider said, whose word is the proof: somebody new gets the name.

    Raises:
        RegistrationOff, EmailRefused, EmailDomainRefused, PhoneLoginOff: somebody new, whom the tenant does not take.
        ClosedLink, EmailRegistered, PhoneTaken: it became another's in this very moment.
    """
    email, phone = str(proof.facts.get("email") or ""), str(proof.facts.get("phone") or "")
    if proof.uid != NOBODY:
        known = store.change(call, proof.uid, {})
        if known is None or not still_reaches(known, proof):
            raise gone
    elif not proof.facts.get("registers"):
        raise gone
    else:
        known = _holder(call, email, phone)
        if known is None:
            template = template or proof.facts.get("welcome")
            name = str(proof.facts.get("name") or "")
            return register(call, email=email, phone=phone, name=name, is_silent=is_silent, template=template, by=by)
    if email:
        return _mailbox_proved(call, known, email, is_silent, template or proof.facts.get("welcome"))
    return _number_proved(call, known, phone, is_silent)


def register(
    call: Call,
    *,
    email: str = "",
    phone: str = "",
    name: str = "",
    is_silent: bool = False,
    template: str | None = None,
    by: Claimed | None = None,
) -> Account:
    """Make an account of a proved address or number. Raises RegistrationOff, EmailRefused, EmailDomainRefused, PhoneLoginOff,
    EmailRegistered, PhoneTaken."""
    registration.refuse_off(call)
    entries = [EmailEntry(type="Primary", value=email)] if email else None
    free = linked.names(by) if by is not None else {"FirstName": name} if name else {}
    source = by.provider if by is not None else SOURCE
    drafted = drafting.read(
        call, _Newcomer(email=entries, phone_id=phone or None, free=free), source, needs_password=False
    )
    demands.refuse_person(call, drafted)
    proved = {"email_verified": bool(email), "phone_verified": bool(phone)}
    private = consent_forms.at_registration(call, None) | (
        {linked.REGISTERED_BY: by.provider} if by is not None else {}
    )
    made = drafting.add(call, drafted, drafting.row(call, drafted, **proved, private=private))
    for form in filter(None, (identifiers.normal_email(email), phone)):
        waiting.end(call, form)
    call.ledger.record("account.registered", uid=made.uid, source=source)
    events.emit(call, "Register", made, is_silent)
    return verification.welcome(call, made, template) if email else made


def refuse_new(call: Call, *, email: str = "") -> None:
    """Raise why the tenant does not take somebody new: RegistrationOff, EmailRefused, EmailDomainRefused."""
    registration.refuse_off(call)
    if form := identifiers.normal_email(email):
        demands.refuse_address(call.tenant.settings.email_access, form)


def _holder(call: Call, email: str, phone: str) -> Account | None:
    """Return who has the name; who only stated a number, which somebody else proved now, loses it."""
    found = accounts.by_email(call, email) if email else accounts.by_phone(call, phone)
    locked = store.change(call, found.uid, {}) if found is not None else None
    if locked is not None and phone and not locked.phone_verified and waiting.yields(locked, PHONE):
        take = waiting.give_way if waiting.gives_way(locked) else waiting.give_number_up
        take(call, locked, "")
        return None
    return locked


def _mailbox_proved(call: Call, account: Account, email: str, is_silent: bool, template: str | None) -> Account:
    """Let the address be proved. Who only stated it before keeps no way into an account that its mailbox signs in to."""
    form = identifiers.normal(EMAIL, email)
    if verification.is_verified(account, form):
        return account
    is_first = proving.is_first(account)
    proof = Proof(ProofKind.EMAIL, account.uid, form, {}, call.now)
    after = verification.confirm(call, proof, is_silent=is_silent, template=template, knows_password=True)
    return _dispossess(call, after) if is_first else after


def _number_proved(call: Call, account: Account, phone: str, is_silent: bool) -> Account:
    if account.phone_verified:
        return account
    proof = Proof(ProofKind.PHONE, account.uid, phone, {}, call.now)
    return phones.confirm(call, proof, is_silent=is_silent)


def _dispossess(call: Call, account: Account) -> Account:
    """Take every way in that was there before the first proof: password, number, answers, factors, passkeys, sessions, tokens."""
    private = dict(account.private)
    values = {"password_hash": None, "password_changed_at": None, **proving.drop_ways_in(call, account, private)}
    private.pop("password_history", None)
    after = store.change(call, account.uid, {**values, "private": private}) or account
    credentials.remove_all(call, account.uid)
    for kind in (ProofKind.RESET_PASSWORD, ProofKind.DELETE_ACCOUNT, ProofKind.ADD_EMAIL, ProofKind.ADD_PHONE):
        proofs.close(call, account.uid, kind)
    recovered.end_everything(call, after)
    call.ledger.record("account.claimed", uid=account.uid)
    return after


__all__ = ["account_of", "refuse_new", "register"]
