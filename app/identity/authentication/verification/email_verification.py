"""Verification of email addresses by a mailed link or code."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from app.contract import errors
from app.contract.messages.models import MailKind
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.verification import phone_verification
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts import account_store, identifiers, linked_identities
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.email_list import EmailAddress, EmailList
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.unverified import first_verification, pending_accounts
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform import events
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit.operations.errors import ApiError

VTYPE = "emailverification"
KINDS = (Purpose.EMAIL, Purpose.ADD_EMAIL)
_SEND_ERRORS = (
    errors.MailLimitReached,
    errors.SmsLimitReached,
    errors.SharedSmsLimitReached,
    errors.NoSmsConfiguration,
    errors.VoiceOtpOff,
)


@dataclass(frozen=True)
class VerificationOptions:
    """The caller's options for the message."""

    url: str | None = None  # a page of the relying party; None for ours
    email_template: str | None = None
    sms_template: str | None = None
    is_voice_otp: bool = False  # deliver the text message by a call
    welcome_template: str | None = None  # of the mail after verification
    sends_sms: bool = True
    interaction_id: str | None = None  # the interaction that the link continues


def refuse_url(context: Context, url: str | None) -> None:
    """Raise VerificationUrlRefused for a page that is not on the tenant's whitelist."""
    if url and not allowed_urls.is_allowed_in_mail(context, url):
        raise errors.VerificationUrlRefused


def send(context: Context, account: Account, options: VerificationOptions, *, email: str | None = None) -> str:
    """Mail a link and a code to the account's address; return the id of the code.

    Raises MailLimitReached.
    """
    return _mail(context, account.uid, email or account.email or "", options, account)


def send_to_pending_emails(
    context: Context, account: Account, options: VerificationOptions, *, only: Collection[str] | None = None
) -> None:
    """Mail a link to each pending address of the account, or to these normalized ones `only`; a reached limit is silent.

    An address that another account verified gets a notice about that account instead.
    """
    for item in account.email_list.pending:
        if only is not None and item.normalized not in only:
            continue
        owner = account_store.by_identifier(context, EMAIL, item.normalized)
        try:
            if owner is None:
                send(context, account, options, email=item.value)
            else:
                send_account_exists(context, item.value, options)
        except errors.MailLimitReached:
            context.audit.record("verification.not_sent", uid=account.uid, reason="MailLimitReached")


def create_token(context: Context, account: Account, email: str, minutes: int = one_time_tokens.LINK_MINUTES) -> str:
    """Return the token of a link that the caller delivers itself."""
    subject = identifiers.normalize(EMAIL, email)
    return one_time_tokens.new_link(
        context, Purpose.EMAIL, account.uid, subject=subject, minutes=minutes, facts={"attempt": None}
    )


def create_code(context: Context, account: Account, email: str) -> str:
    """Return a code that the caller delivers itself."""
    return one_time_tokens.new_code(context, Purpose.EMAIL, account.uid, subject=identifiers.normalize(EMAIL, email))


def resend(context: Context, uid: str, email: str, options: VerificationOptions) -> str:
    """Mail again to the address of an account, a pending account, or `NO_ACCOUNT`; return the code's id.

    Raises MailLimitReached.
    """
    return _mail(context, uid, email, options, account_store.by_uid(context, uid))


def send_account_exists(context: Context, email: str, options: VerificationOptions) -> str:
    """Mail to an address that it has an account, if it has one, at the cost of `send`.

    Raises MailLimitReached.
    """
    return _mail(context, NO_ACCOUNT, email, options, None)


def send_after_refusal(
    context: Context, account: Account, refusal: ApiError, options: VerificationOptions
) -> ApiError | None:
    """Send the verification that the refused sign-in needs, in a separate transaction; return the error if it could not be sent."""
    if options.url and not allowed_urls.is_allowed_in_mail(context, options.url):
        options = replace(options, url=None)
    try:
        with context.work.separate_transaction() as work:
            separate = context.within(work)
            if isinstance(refusal, errors.EmailUnverified):
                send(separate, account, options)
            elif isinstance(refusal, errors.PhoneUnverified) and options.sends_sms and account.phone:
                phone_verification.send(separate, account.uid, account.phone, account, options)
    except _SEND_ERRORS as reason:
        context.audit.record("verification.not_sent", uid=account.uid, reason=type(reason).__name__)
        return reason
    return None


def find_account(context: Context, email: str) -> Account | None:
    """Return the account with an address, else the account that requested it last and has not verified it.

    Where accounts are hidden, all queries run in every case, for equal timing.
    """
    normalized = identifiers.normalize(EMAIL, email)
    holder = account_store.by_identifier(context, EMAIL, normalized)
    if holder is not None and not context.tenant.settings.hide_unknown_accounts:
        return holder
    account = account_store.by_uid(context, one_time_tokens.last_recipient(context, KINDS, normalized) or NO_ACCOUNT)
    found = account.email_list.find(normalized) if account is not None else None
    return holder or (account if found is not None and found.is_pending else None)


def masked_owner(account: Account, email: str) -> str:
    """Return the masked identifier of the account that an address would be added to; empty if it claims the account."""
    normalized = identifiers.normalize_email(email)
    if first_verification.is_first_verification(account) or normalized == identifiers.normalize_email(
        account.email or ""
    ):
        return ""
    return identifiers.masked(account.email or account.username or account.phone or "")


def peek(context: Context, token: str) -> OneTimeToken:
    """Return the one-time token of a verification link, without using it; raises UnknownLink, UsedLink, ExpiredLink."""
    return one_time_tokens.peek_link(context, _kind_of(context, token), token)


def spend_link(context: Context, token: str) -> OneTimeToken:
    """Use a verification link; raises UnknownLink, UsedLink, ExpiredLink."""
    return one_time_tokens.spend_link(context, _kind_of(context, token), token)


def find_link(context: Context, token: str) -> OneTimeToken | None:
    """Return the one-time token of a verification link in any state."""
    return one_time_tokens.find_link(context, _kind_of(context, token), token)


def confirm(
    context: Context,
    token: OneTimeToken,
    *,
    template: str | None = None,
    knows_password: bool = False,
) -> Account:
    """Mark the verified address on its account, and return the account.

    Args:
        knows_password: whether the caller also gave the account's password; otherwise another person may have set it.

    Raises:
        ClosedLink: the account is closed or removed the address.
        EmailVerifiedBefore: the address is verified already.
        EmailRegistered: another account verified it meanwhile.
    """
    locked = account_store.lock(context, token.uid) or pending_accounts.activate(context, token.uid)
    if locked is None or not locked.is_active or locked.is_deleted:
        raise errors.ClosedLink
    if is_verified(locked, token.subject):
        raise errors.EmailVerifiedBefore
    is_first = first_verification.is_first_verification(locked)
    address, before = _verified_address(locked, token), locked.email_list
    # at the first verification, its other addresses may be from another person
    after = EmailList.single(address.value, is_verified=True) if is_first else before.with_verified(address)
    try:
        account_store.change_email_identifiers(context, locked.uid, before, after)
    except account_store.IdentifierTaken:
        raise errors.EmailRegistered from None
    pending_accounts.remove_pending(context, token.subject)
    values = after.columns() if is_first else after.changes_since(before)
    if is_first and not knows_password:
        values["private"] = {**locked.private, first_verification.UNCLAIMED: token.subject}
    changed = account_store.change(context, locked.uid, values) or locked
    for kind in KINDS:
        one_time_tokens.close(context, locked.uid, kind, subject=None if is_first else token.subject)
    events.emit(context, "EmailVerification", changed)
    if token.purpose is Purpose.ADD_EMAIL:
        _notify_added(context, locked.email, changed, token)
        events.emit(one_time_tokens.context_of_change(context, token), "AddEmail", changed)
    template = template or token.facts.get("welcome")
    return send_welcome(context, changed, template) if values.get("email_verified") else changed


def _notify_added(context: Context, recipient: str | None, changed: Account, token: OneTimeToken) -> None:
    """Notify the former address, because an attacker would add an address."""
    context.audit.record("email.added", uid=changed.uid)
    email = token.facts.get("email") or token.subject
    facts = MessageFacts(email=email, change="added")
    notifications.notify_with_alert_link(context, MailKind.EMAIL_CHANGED, recipient, changed, facts)


def send_welcome(
    context: Context, account: Account, template: str | None = None, *, is_requested: bool = False
) -> Account:
    """Mail the welcome message, once per account; a reached limit is silent.

    With `is_requested` it may be sent again, and a reached limit raises MailLimitReached.
    """
    if not account.email or (account.private.get("is_welcomed") and not is_requested):
        return account
    try:
        messaging.mail(
            context,
            MailKind.WELCOME,
            account.email,
            account=account,
            facts=MessageFacts(sign_in_name=_sign_in_name(context, account)),
            template=template,
            language=notifications.page_language(context),
            is_requested=is_requested,
        )
    except errors.MailLimitReached:
        if is_requested:
            raise
        return account
    return account_store.change(context, account.uid, {"private": {**account.private, "is_welcomed": True}}) or account


def _sign_in_name(context: Context, account: Account) -> str:
    """Return what an account signs in with on the pages, if not its address: a username, a number, or its provider."""
    number = account.phone if account.phone_verified else None
    names = {"email": account.email, "username": account.username, "phone": number}
    kind = next((kind for kind in context.tenant.settings.login_kinds if names[kind]), "")
    if kind and account.password_hash:
        return "" if kind == "email" else str(names[kind])
    provider = account.private.get(linked_identities.REGISTERED_BY) or linked_identities.provider_name(account)
    return "" if provider == linked_identities.OWN_PROVIDER else offered_connections.title_for(context, provider)


def _kind_of(context: Context, token: str) -> Purpose:
    """Return the purpose of a link; older mails use one path for both purposes."""
    return next((kind for kind in KINDS if one_time_tokens.find_link(context, kind, token)), Purpose.EMAIL)


def _verified_address(locked: Account, token: OneTimeToken) -> EmailAddress:
    """Return the address of a link: the account's, or the one that it asked to add. Raises ClosedLink if that was withdrawn."""
    found = locked.email_list.find(token.subject)
    if found is None and token.purpose is not Purpose.ADD_EMAIL:
        raise errors.ClosedLink
    added = EmailAddress(token.facts.get("email") or token.subject, token.facts.get("type") or "Secondary")
    return found or added


def _mail(context: Context, uid: str, email: str, options: VerificationOptions, account: Account | None) -> str:
    subject = identifiers.normalize(EMAIL, email)
    language, template = notifications.page_language(context), options.email_template
    content = messaging.carries(context, MailKind.VERIFICATION, account=account, template=template, language=language)
    holders = pending_accounts.holders(context, subject)  # queried for every address, for equal timing
    if holders.is_contested:
        options = replace(options, url=None)  # only our page can tell the registrations apart
    stored: OneTimeTokenFacts = {"attempt": options.interaction_id, "welcome": options.welcome_template}
    facts = MessageFacts()
    link_minutes = one_time_tokens.LINK_MINUTES if content != "otp" else None
    code_minutes = one_time_tokens.CODE_MINUTES  # always: the page that awaits the code has its id
    token, code = one_time_tokens.issue(
        context, Purpose.EMAIL, uid, subject=subject, link_minutes=link_minutes, code_minutes=code_minutes, facts=stored
    )
    if link_minutes is not None:
        facts = replace(facts, url=_link(context, token, options, email), token=token, minutes=link_minutes)
    if uid == NO_ACCOUNT and not holders.has_account:
        context = context.without_sending()
    takes_code = options.url is None or context.tenant.settings.email_verification_codes
    has_code = takes_code and (options.interaction_id is not None or not holders.is_contested)
    if content in ("otp", "both") or (content is None and has_code):
        facts = replace(facts, otp=code.text, otp_minutes=code_minutes)
    messaging.mail(
        context,
        MailKind.VERIFICATION if uid != NO_ACCOUNT else MailKind.ACCOUNT_EXISTS,
        email,
        account=account,
        facts=facts if uid != NO_ACCOUNT else MessageFacts(url=f"{context.pages_url}/login"),
        template=template,
        language=language,
        counted_as=CountedAs(uid=uid if uid != NO_ACCOUNT else None),  # a pending account has a uid, too
    )
    context.audit.record("verification.sent", uid=account.uid if account else None)
    return code.code_id


def _link(context: Context, token: str, options: VerificationOptions, email: str) -> str:
    more = {"email": email} if context.tenant.settings.email_verification_codes else {}
    return allowed_urls.mailed_link(
        context, "/verify", token, options.url, vtype=VTYPE, interaction_id=options.interaction_id, **more
    )
