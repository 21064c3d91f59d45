"""Registration: somebody makes an account of their own, by the interface's operations or on our pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from app.contract import errors as e
from app.contract.consents import ConsentsGiven
from app.identity.accounts import identifiers, linked, naming, policies, waiting
from app.identity.accounts import service as accounts
from app.identity.accounts.identifiers import PHONE
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.consent_forms import service as consent_forms
from app.identity.pins import service as pins
from app.identity.providers.social import Claimed
from app.identity.registration import demands, drafting, links
from app.identity.registration.drafting import Draft, Given
from app.identity.tasks import events
from app.identity.verification import phones
from app.identity.verification import service as verification
from app.identity.verification.service import Wish
from app.kit.limits import Rate

API = "API"
_MOST_SOURCE_LETTERS = 500
_NOT_TEXTED = (e.NoSmsConfiguration, e.VoiceOtpOff, e.SmsLimitReached, e.SharedSmsLimitReached)


@dataclass(frozen=True)
class Ask:
    """How somebody registers, beside the model itself."""

    wish: Wish
    source: str = API
    accepts_terms: bool | None = None
    consents: ConsentsGiven | None = None
    sends_mail: bool = True
    is_silent: bool = False  # prevent_webhook
    has_password: bool = True  # else something stands in its place
    brought: Claimed | None = None  # whom another provider named, whose word stands there
    hides_taken: bool = False  # an address that has an account is answered as one that has none


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    account: Account | None  # as it is, or will be once its address is proved; None: the address is its owner's already
    may_sign_in: bool = False
    waits_for: str = ""  # email or phone: what has to be proved first
    held: dict[str, Any] = field(default_factory=dict, repr=False)  # what was typed, whoever has the address

    @property
    def password_hash(self) -> str:
        """Of what was typed."""
        return str(self.held.get("password_hash") or "")


def refuse_off(call: Call) -> None:
    """Raise 1190 where the tenant takes no registrations."""
    if not call.tenant.settings.registration:
        raise e.RegistrationOff


def draft(call: Call, given: Given, ask: Ask) -> Draft:
    """Return what is asked for, once nothing but what others hold may refuse it. Spends from the limit of registrations.

    Raises:
        TooManyRequests: too many registrations from this address.
        VerificationUrlRefused, NoConsentForm, ConsentRefused, and the refusals of `demands`, `drafting` and `links`.
    """
    spend(call)
    return weighed(call, given, ask)


def weighed(call: Call, given: Given, ask: Ask) -> Draft:
    """Return the draft, as `draft` does, of what is not sent yet: nothing is spent."""
    settings = call.tenant.settings
    verification.refuse_url(call, ask.wish.url)
    has_a_step = call.visit is not None and ask.accepts_terms is None  # our pages ask before they go on
    if policies.is_strict(settings) and not ask.accepts_terms and not has_a_step:
        raise e.PolicyNotAccepted
    demands.refuse_incomplete(settings, given, ask.accepts_terms, needs_password=ask.has_password)
    consent_forms.stated(call, ask.consents)
    if call.visit is None:  # our pages have a step for it
        pins.refuse_missing(settings, given.pin_info)
    drafted = drafting.read(call, given, ask.source, needs_password=ask.has_password)
    if len(drafted.addresses.forms) > naming.MOST_EMAILS:
        raise e.BadParameter(f"An account has at most {naming.MOST_EMAILS} addresses.")
    demands.refuse_person(call, drafted)
    links.refuse(call, given.free)
    return drafted


def spend(call: Call) -> None:
    """Take one from the limit of registrations. Raises TooManyRequests."""
    if most := call.tenant.settings.limits.register_per_minute_per_address:
        call.spend("register", Rate(most, 60), call.network)


def register(call: Call, drafted: Draft, ask: Ask) -> Outcome:
    """Make the account and send what proves its address; one hash in every case, whoever holds the address.

    Raises:
        EmailRegistered, EmailOfProvider, UsernameTaken, PhoneTaken, UidTaken: another account has it.
        MailLimitReached, SmsLimitReached and others of `letters`: unless the address may not tell anything.
        FieldsRefused, WeakPassword and what else `passwords.setting` refuses.
    """
    waits_for = _waits_for(call, drafted)
    if ask.hides_taken:
        refuse_taken_names(call, drafted)
    private: dict[str, Any] = {waiting.SELF_REGISTERED: True}
    if ask.accepts_terms:
        private["terms_accepted_at"] = call.now.isoformat()
        private |= policies.first_acceptance(call.tenant.settings.privacy_policy, ask.source, call.now)
    private |= consent_forms.at_registration(call, consent_forms.stated(call, ask.consents))
    private |= linked.brought(ask.brought) if ask.brought else {}
    begun = {} if waits_for else {"logins": 1, "last_login_at": call.now}
    columns = drafting.row(call, drafted, private=private, emails=drafted.addresses.first_held, **begun)
    try:
        account = _add(call, drafted, columns)
    except e.EmailRegistered as refusal:
        if not ask.hides_taken:
            raise _opened_elsewhere(call, drafted) or refusal from None
        return _hidden(call, drafted, columns, ask)
    except e.PhoneTaken:
        if waits_for != "phone" or not (ask.hides_taken or _is_anothers_word(call, drafted.phone or "")):
            raise
        return _beside_number(call, drafted.phone or "", columns, ask)
    call.ledger.record("account.registered", uid=account.uid, source=ask.source[:100])
    events.emit(call, "Register", account, ask.is_silent)
    if not waits_for:
        events.emit(call, "Login", account, ask.is_silent)
    _send(call, account, ask)
    return Outcome(account, not waits_for, waits_for, waiting.kept(columns))


def _add(call: Call, drafted: Draft, columns: dict[str, Any]) -> Account:
    """Add the account; of two who state a number in the same moment the second one does not hold it."""
    try:
        return drafting.add(call, drafted, columns)
    except e.PhoneTaken:
        call.work.rollback()
        is_named = bool(drafted.addresses.forms or drafted.username)
        if not (is_named and waiting.is_only_stated(call, drafted.phone or "")):
            raise
    return drafting.add(call, drafted, columns)


def refuse_taken_names(call: Call, drafted: Draft) -> None:
    """Raise UsernameTaken or PhoneTaken before the address is looked at: that they are said tells nothing of it."""
    if drafted.username and accounts.by_username(call, drafted.username) is not None:
        raise e.UsernameTaken
    is_told = bool(drafted.addresses.forms or drafted.username)  # a number alone is answered as one that nobody has
    holder = accounts.by_phone(call, drafted.phone) if is_told and drafted.phone else None
    if holder is not None and not waiting.yields(holder, PHONE):
        raise e.PhoneTaken


def source_of(referer: str | None) -> str:
    """Return the page that somebody registered on, without what may be secret in its address; else `API`."""
    try:
        parts = urlsplit((referer or "").strip())
    except ValueError:
        return API
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return API
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:_MOST_SOURCE_LETTERS]


def _waits_for(call: Call, drafted: Draft) -> str:
    """Return what has to be proved before a sign-in: the same as sign-in itself asks for."""
    if drafted.addresses.forms:
        return "email" if call.tenant.settings.email_verification == "required" else ""
    return "phone" if drafted.phone and not drafted.username else ""


def _hidden(call: Call, drafted: Draft, columns: dict[str, Any], ask: Ask) -> Outcome:
    """Answer for an address that has an account: its owner is told by mail, and nobody else.

    An account that never proved the address does not keep others from it: who registers now waits beside it.
    """
    call.work.rollback()
    holders = ((form, accounts.by_email(call, form)) for form in drafted.addresses.forms)
    form, holder = next(((form, holder) for form, holder in holders if holder), ("", None))
    if holder is None:  # gone again in this very moment: as little is known as of anybody
        return Outcome(None, waits_for="email", held=waiting.kept(columns))
    call.ledger.record("register.taken", uid=holder.uid)
    is_open = waiting.gives_way(holder) and len(drafted.addresses.forms) == 1 and not drafted.phone
    account = None
    try:
        if is_open and call.tenant.settings.email_verification != "disabled":
            account = waiting.add(call, form, columns)
            verification.send(call, account, ask.wish)
        elif ask.sends_mail:
            verification.send_to_nobody(call, _spelling(holder, form), ask.wish)
    except e.MailLimitReached:
        call.work.rollback()
        account = None
    _text(call, None, drafted.phone, ask)
    return Outcome(account, waits_for="email", held=waiting.kept(columns))


def _opened_elsewhere(call: Call, drafted: Draft) -> e.EmailOfProvider | None:
    """Return the refusal of an address whose account opens by another provider, and by no password."""
    call.work.rollback()
    holders = [accounts.by_email(call, form) for form in drafted.addresses.forms]
    is_elsewhere = any(one and linked.of(one) and not one.password_hash for one in holders)
    return e.EmailOfProvider() if is_elsewhere else None


def _is_anothers_word(call: Call, phone: str) -> bool:
    """Return whether an account that is in use only states the number: it keeps nobody out. One that was never used goes by
    the code, as the interface has it (U62, U63)."""
    call.work.rollback()
    holder = accounts.by_phone(call, phone)
    return holder is not None and waiting.is_anothers_word(holder)


def _beside_number(call: Call, phone: str, columns: dict[str, Any], ask: Ask) -> Outcome:
    """Answer for a number that has an account as `_hidden` does for an address."""
    call.work.rollback()
    holder, account = accounts.by_phone(call, phone), None
    call.ledger.record("register.taken", uid=holder.uid if holder else None)
    try:
        if holder is not None and waiting.yields(holder, PHONE):
            account = waiting.add(call, phone, columns)
            phones.send(call, account.uid, phone, account, ask.wish)
        else:
            phones.tell_owner(call, phone, ask.wish)
    except _NOT_TEXTED:
        if not ask.hides_taken:
            raise
        call.work.rollback()
        account = None
    return Outcome(account, waits_for="phone", held=waiting.kept(columns))


def _spelling(holder: Account, form: str) -> str:
    """Return the address as its holder wrote it."""
    written = (str(one["Value"]) for one in holder.emails)
    return next((one for one in written if identifiers.normal_email(one) == form), form)


def _send(call: Call, account: Account, ask: Ask) -> None:
    """Send the link that proves the address and the code that proves the number.

    Where nobody is to learn whose address it is, a limit that is reached is kept silently, and only the first address is
    written to: the others are the caller's own, maybe, and would tell.
    """
    if account.email and ask.sends_mail and call.tenant.settings.email_verification != "disabled":
        try:
            verification.send(call, account, ask.wish)
        except e.MailLimitReached:
            if not ask.hides_taken:
                raise
            call.ledger.record("verification.not_sent", uid=account.uid, reason="MailLimitReached")
        if not ask.hides_taken:
            verification.send_to_waiting(call, account, ask.wish)
    _text(call, account, account.phone, ask)


def _text(call: Call, account: Account | None, phone: str | None, ask: Ask) -> None:
    """Text the code that proves a number; one that proves nothing where the address is somebody's, as no text would tell that."""
    if not phone or not ask.wish.sends_sms:
        return
    try:
        phones.send(call, account.uid if account else phones.NOBODY, phone, account, ask.wish)
    except _NOT_TEXTED as reason:
        if account is not None and not (
            account.email or ask.hides_taken
        ):  # nothing else proves anything of this account
            raise
        call.ledger.record("verification.not_sent", uid=account.uid if account else None, reason=type(reason).__name__)


__all__ = [
    "API",
    "Ask",
    "Outcome",
    "draft",
    "refuse_off",
    "refuse_taken_names",
    "register",
    "source_of",
    "spend",
    "weighed",
]
