"""Registration of an account by its owner, by API operations or on our pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from app.contract import errors
from app.contract.consents.consent_operations import ConsentAnswers
from app.identity.authentication.registration import drafts, registration_data, requirements
from app.identity.authentication.registration.drafts import AccountDraft, RegistrationInput
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials.pins import pins
from app.identity.directory.accounts import accounts, email_list, linked_identities, privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import PHONE
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.directory.consents import consent_forms
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import events
from app.identity.platform.context import NO_ACCOUNT, Context

API = "API"
_MAX_SOURCE_LENGTH = 500
_SMS_ERRORS = (errors.NoSmsConfiguration, errors.VoiceOtpOff, errors.SmsLimitReached, errors.SharedSmsLimitReached)


@dataclass(frozen=True)
class RegistrationOptions:
    """Options of a registration, beside the registration model."""

    message_options: VerificationOptions
    source: str = API
    accepts_terms: bool | None = None
    consents: ConsentAnswers | None = None
    sends_mail: bool = True
    has_password: bool = True  # otherwise a passkey or a provider replaces it
    federated_identity: ProviderIdentity | None = None  # the provider's identity that replaces the password
    has_later_steps: bool = False  # our pages ask for the privacy policy and the PIN after the registration
    hides_taken: bool = False  # respond for a taken address as for a free one
    invited_email: str = ""  # normalized address that a mailed invitation has verified


@dataclass(frozen=True)
class RegistrationResult:
    """The outcome of a registration."""

    account: Account | None  # or the pending account; None if the address is taken
    may_sign_in: bool = False
    waits_for: str = ""  # email or phone: it must be verified first
    pending_columns: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # the typed data, even if the address is taken

    @property
    def password_hash(self) -> str:
        """The hash of the typed password."""
        return str(self.pending_columns.get("password_hash") or "")


def require_enabled(context: Context) -> None:
    """Raise RegistrationOff if the tenant disabled registration."""
    if not context.tenant.settings.registration:
        raise errors.RegistrationOff


def read_draft(context: Context, request: RegistrationInput, options: RegistrationOptions) -> AccountDraft:
    """Return the validated draft, which may still conflict with other accounts; counts against the limit of registrations.

    Raises:
        TooManyRequests: too many registrations from this address.
        VerificationUrlRefused, NoConsentForm, ConsentRefused, and the refusals of `requirements`, `drafts` and
        `registration_data`.
    """
    count_attempt(context)
    return validate(context, request, options)


def validate(context: Context, request: RegistrationInput, options: RegistrationOptions) -> AccountDraft:
    """Return the draft as `read_draft` does, without counting against the limit."""
    settings = context.tenant.settings
    email_verification.refuse_url(context, options.message_options.url)
    has_policy_step = options.has_later_steps and options.accepts_terms is None
    if privacy_policy.is_strict(settings) and not options.accepts_terms and not has_policy_step:
        raise errors.PolicyNotAccepted
    requirements.refuse_incomplete(settings, request, options.accepts_terms, needs_password=options.has_password)
    consent_forms.parse_optional(context, options.consents)
    if not options.has_later_steps:
        pins.refuse_missing(settings, request.pin_info)
    draft = drafts.read(context, request, options.source, needs_password=options.has_password)
    if len(draft.addresses.forms) > email_list.MAX_EMAILS:
        raise errors.BadParameter(f"An account has at most {email_list.MAX_EMAILS} addresses.")
    requirements.refuse_registrant(context, draft)
    registration_data.refuse_invalid_links(context, request.free)
    return draft


def count_attempt(context: Context) -> None:
    """Count an attempt to register, right or wrong, against the limit. Raises TooManyRequests."""
    context.count_request("register", context.tenant.settings.limits.register_per_minute_per_address)


def register(context: Context, draft: AccountDraft, options: RegistrationOptions) -> RegistrationResult:
    """Create the account and send its verification; costs one hash even if the address is taken.

    Raises:
        WrongInvitationEmail: the invitation is for another address, or there are several.
        EmailRegistered, EmailOfProvider, UsernameTaken, PhoneTaken, UidTaken: another account has the identifier.
        MailLimitReached, SmsLimitReached and others of `messaging`: unless taken addresses are hidden.
        FieldsRefused, WeakPassword and other refusals of the password policy.
    """
    is_verified = bool(options.invited_email) and draft.addresses.forms == (options.invited_email,)
    if options.invited_email and not is_verified:
        raise errors.WrongInvitationEmail
    waits_for = "" if is_verified else _waits_for(context, draft)
    if options.hides_taken:
        refuse_taken_names(context, draft)
    private = private_members(context, options)
    private |= consent_forms.at_registration(context, consent_forms.parse_optional(context, options.consents))
    private |= linked_identities.pending_identity(options.federated_identity) if options.federated_identity else {}
    first_login = {} if waits_for else {"logins": 1, "last_login_at": context.now}
    columns = drafts.to_columns(
        context, draft, private=private, **first_login,
        **({"email_verified": True} if is_verified else draft.addresses.at_registration().columns()),
    )  # fmt: skip
    try:
        account = _add(context, draft, columns)
    except errors.EmailRegistered as refusal:
        if not options.hides_taken:
            raise _federated_refusal(context, draft) or refusal from None
        return _register_hidden(context, draft, columns, options)
    except errors.PhoneTaken:
        if waits_for != "phone" or not (options.hides_taken or _is_unverified_number(context, draft.phone or "")):
            raise
        return _register_beside_number(context, draft.phone or "", columns, options)
    context.audit.record("account.registered", uid=account.uid, source=options.source[:100])
    events.emit(context, "Register", account)
    send_verifications(context, account, options)
    return RegistrationResult(account, not waits_for, waits_for, pending_accounts.pending_columns(columns))


def _add(context: Context, draft: AccountDraft, columns: dict[str, Any]) -> Account:
    """Add the account; of two concurrent registrations with a number, the second does not get it."""
    try:
        return drafts.add(context, draft, columns)
    except errors.PhoneTaken:
        context.work.rollback()
        is_named = bool(draft.addresses.forms or draft.username)
        if not (is_named and pending_accounts.is_phone_claimable(context, draft.phone or "")):
            raise
    return drafts.add(context, draft, columns)


def refuse_taken_names(context: Context, draft: AccountDraft) -> None:
    """Raise UsernameTaken or PhoneTaken before the address is looked up, so that these errors reveal nothing about it."""
    if draft.username and accounts.by_username(context, draft.username) is not None:
        raise errors.UsernameTaken
    has_other_identifier = bool(draft.addresses.forms or draft.username)  # a number alone is treated as a free one
    holder = accounts.by_phone(context, draft.phone) if has_other_identifier and draft.phone else None
    if holder is not None and not pending_accounts.is_claimable(holder, PHONE):
        raise errors.PhoneTaken


def registration_source(referer: str | None) -> str:
    """Return the address of the registration page without query and credentials; else `API`."""
    try:
        parts = urlsplit((referer or "").strip())
    except ValueError:
        return API
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return API
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:_MAX_SOURCE_LENGTH]


def _waits_for(context: Context, draft: AccountDraft) -> str:
    """Return `email` or `phone` if it must be verified before sign-in, else an empty text."""
    if draft.addresses.forms:
        return "email" if context.tenant.settings.email_verification == "required" else ""
    return "phone" if draft.phone and not draft.username else ""


def _register_hidden(
    context: Context, draft: AccountDraft, columns: dict[str, Any], options: RegistrationOptions
) -> RegistrationResult:
    """Respond for a taken address, and notify its owner by mail.

    An account that never verified the address does not block it: the new registration is pending beside it.
    """
    context.work.rollback()
    holders = ((normalized, accounts.by_email(context, normalized)) for normalized in draft.addresses.forms)
    normalized, holder = next(((normalized, holder) for normalized, holder in holders if holder), ("", None))
    if holder is None:  # removed concurrently
        return RegistrationResult(None, waits_for="email", pending_columns=pending_accounts.pending_columns(columns))
    context.audit.record("register.taken", uid=holder.uid)
    is_replaceable = pending_accounts.is_replaceable(holder) and len(draft.addresses.forms) == 1 and not draft.phone
    account = None
    try:
        if is_replaceable and context.tenant.settings.email_verification != "disabled":
            account = pending_accounts.add(context, normalized, columns)
            email_verification.send(context, account, options.message_options)
        elif options.sends_mail:
            email_verification.send_account_exists(
                context, _original_spelling(holder, normalized), options.message_options
            )
    except errors.MailLimitReached:
        context.work.rollback()
        account = None
    _send_sms(context, None, draft.phone, options)
    return RegistrationResult(account, waits_for="email", pending_columns=pending_accounts.pending_columns(columns))


def _federated_refusal(context: Context, draft: AccountDraft) -> errors.EmailOfProvider | None:
    """Return the refusal of an address whose account signs in by another provider and has no password."""
    context.work.rollback()
    holders = [accounts.by_email(context, normalized) for normalized in draft.addresses.forms]
    is_elsewhere = any(holder and linked_identities.of(holder) and not holder.password_hash for holder in holders)
    return errors.EmailOfProvider() if is_elsewhere else None


def _is_unverified_number(context: Context, phone: str) -> bool:
    """Return whether the account with the number never verified it, so that it does not block the number."""
    context.work.rollback()
    holder = accounts.by_phone(context, phone)
    return holder is not None and pending_accounts.has_unverified_phone(holder)


def _register_beside_number(
    context: Context, phone: str, columns: dict[str, Any], options: RegistrationOptions
) -> RegistrationResult:
    """Respond for a taken number, as `_register_hidden` does for an address."""
    context.work.rollback()
    holder, account = accounts.by_phone(context, phone), None
    context.audit.record("register.taken", uid=holder.uid if holder else None)
    try:
        if holder is not None and pending_accounts.is_claimable(holder, PHONE):
            account = pending_accounts.add(context, phone, columns)
            phone_verification.send(context, account.uid, phone, account, options.message_options)
        else:
            phone_verification.send_account_exists(context, phone, options.message_options)
    except _SMS_ERRORS:
        if not options.hides_taken:
            raise
        context.work.rollback()
        account = None
    return RegistrationResult(account, waits_for="phone", pending_columns=pending_accounts.pending_columns(columns))


def _original_spelling(holder: Account, normalized: str) -> str:
    """Return the address as its holder wrote it."""
    found = holder.email_list.find(normalized)
    return found.value if found is not None else normalized


def private_members(context: Context, options: RegistrationOptions) -> dict[str, Any]:
    """Return the `private` members of an account that its owner registers: with the accepted terms, if there were any."""
    private: dict[str, Any] = {pending_accounts.SELF_REGISTERED: True}
    if options.accepts_terms:
        private["terms_accepted_at"] = context.now.isoformat()
        private |= privacy_policy.first_acceptance(context.tenant.settings.privacy_policy, options.source, context.now)
    return private


def send_verifications(context: Context, account: Account, options: RegistrationOptions) -> None:
    """Send the link that verifies the address and the code that verifies the number.

    Where taken addresses are hidden, a reached limit is silent, and only the first address gets a mail, because the others may
    be the caller's own, and would reveal it.
    """
    if (
        account.email
        and not account.email_verified
        and options.sends_mail
        and context.tenant.settings.email_verification != "disabled"
    ):
        try:
            email_verification.send(context, account, options.message_options)
        except errors.MailLimitReached:
            if not options.hides_taken:
                raise
            context.audit.record("verification.not_sent", uid=account.uid, reason="MailLimitReached")
        if not options.hides_taken:
            email_verification.send_to_pending_emails(context, account, options.message_options)
    _send_sms(context, account, account.phone, options)


def _send_sms(context: Context, account: Account | None, phone: str | None, options: RegistrationOptions) -> None:
    """Send the code that verifies a number; for a taken address send a useless code, because a missing SMS would reveal it."""
    if not phone or not options.message_options.sends_sms:
        return
    try:
        phone_verification.send(
            context, account.uid if account else NO_ACCOUNT, phone, account, options.message_options
        )
    except _SMS_ERRORS as reason:
        if account is not None and not (account.email or options.hides_taken):  # the number alone identifies it
            raise
        context.audit.record(
            "verification.not_sent", uid=account.uid if account else None, reason=type(reason).__name__
        )
