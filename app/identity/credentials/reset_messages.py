"""Send the link or code that resets a forgotten password or PIN; for an unknown account, do the same work and send nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final, Unpack

from app.contract import errors
from app.contract.messages.models import MailKind, SmsKind
from app.identity.credentials import channels
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.messaging import DEFAULT_SMS_OPTIONS, SmsOptions
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit.operations.errors import ApiError

MAIL, SMS = channels.MAIL, channels.SMS
PAGE_MINUTES = 15
"""The lifetime of the page token after a right code or password."""


@dataclass(frozen=True)
class ResetKind:
    """A credential that can be reset, with its messages and page."""

    name: str  # in the audit log
    purpose: Purpose
    mail: MailKind
    sms: SmsKind
    vtype: str
    page: str
    has_codes: bool = False  # mails contain a code beside the link, for any page


PASSWORD: Final = ResetKind(
    "password", Purpose.RESET_PASSWORD, MailKind.RESET, SmsKind.RESET, "reset", "/reset-password"
)
PIN: Final = ResetKind(
    "pin", Purpose.RESET_PIN, MailKind.RESET_PIN, SmsKind.RESET_PIN, "resetpin", "/reset-pin", has_codes=True
)


@dataclass(frozen=True)
class ResetOptions:
    """The caller's options for the message."""

    url: str | None = None  # a page of the relying party; None for ours
    template: str | None = None
    interaction_id: str | None = None  # the interaction that the link continues
    needs_token: bool = False  # the caller gets the link's token, whatever the mail contains


def refuse_url(context: Context, url: str | None, refusal: type[ApiError] = errors.ResetUrlRefused) -> None:
    """Raise ResetUrlRefused, or another error, for a page outside the tenant's allowed addresses."""
    if url and not allowed_urls.is_allowed_in_mail(context, url):
        raise refusal


def is_still_recipient(account: Account, token: OneTimeToken) -> bool:
    """Return whether the account still has the address or number of a token; a removed mailbox must not reset anything."""
    email, phone = token.facts.get("email"), token.facts.get("phone")
    addresses = [account.email or "", *(item.value for item in account.email_list.present)]
    forms = {identifiers.normalize_email(entry) for entry in addresses}
    return (not email or identifiers.normalize_email(str(email)) in forms) and (not phone or phone == account.phone)


def send(
    context: Context,
    account: Account,
    options: ResetOptions,
    *,
    email: str | None = None,
    kind: MailKind | None = None,
    reset_kind: ResetKind = PASSWORD,
) -> str:
    """Mail a link, and a code where our page or the tenant's programs accept it; return the link's token.

    The tenant's template decides which of them is created; without a link there is no token.

    Args:
        kind: the message, and its limit, if they differ from those of `reset_kind`.

    Raises:
        UnknownAccount: the account has no address for the mail.
        MailLimitReached: the recipient reached its limit.
    """
    address = recipient_email(account, email)
    if not address:
        raise errors.UnknownAccount
    return _mail(context, account.uid, MAIL, address, options, account, reset_kind, kind)


def simulate_send(context: Context, name: str, options: ResetOptions, *, reset_kind: ResetKind = PASSWORD) -> None:
    """Do what `send` does for an unknown identifier, without a mail. Raises MailLimitReached."""
    sending_context = context.without_sending()
    _mail(sending_context, NO_ACCOUNT, unknown_subject(name), unknown_recipient(name), options, None, reset_kind)


def send_separately(context: Context, account: Account, options: ResetOptions) -> bool:
    """Send in a separate transaction, so that a refusal may follow; return False if the mail limit is reached."""
    try:
        with context.work.separate_transaction() as work:
            send(
                context.within(work),
                account,
                options,
            )
    except (errors.MailLimitReached, errors.UnknownAccount):
        return False
    return True


def create_token(
    context: Context,
    account: Account,
    options: ResetOptions,
    *,
    email: str | None = None,
    reset_kind: ResetKind = PASSWORD,
) -> str:
    """Return the token of a link that the caller delivers itself."""
    facts: OneTimeTokenFacts = {"attempt": options.interaction_id, "email": recipient_email(account, email)}
    return one_time_tokens.new_link(
        context, reset_kind.purpose, account.uid, subject=MAIL, minutes=one_time_tokens.RESET_MINUTES, facts=facts
    )


def create_link(context: Context, account: Account) -> str:
    """Return a link to the page of a new password, which the caller delivers itself."""
    options = ResetOptions()
    return _link(context, create_token(context, account, options), options, PASSWORD)


def create_code(
    context: Context, account: Account, subject: str, *, email: str | None = None, reset_kind: ResetKind = PASSWORD
) -> tuple[str, int]:
    """Return a code that the caller delivers itself, and its lifetime in minutes."""
    minutes = context.tenant.settings.reset_code_minutes
    facts: OneTimeTokenFacts = {"attempt": None, "email": recipient_email(account, email)} if subject == MAIL else {}
    return one_time_tokens.new_code(
        context, reset_kind.purpose, account.uid, subject=subject, minutes=minutes, facts=facts
    ), minutes


def create_page_token(
    context: Context,
    account: Account,
    minutes: int = PAGE_MINUTES,
    *,
    reset_kind: ResetKind = PASSWORD,
    **facts: Unpack[OneTimeTokenFacts],
) -> str:
    """Return a token for our new-password page, after a right code or an expired password."""
    subject = str(facts.get("reason") or "page")
    return one_time_tokens.new_link(
        context, reset_kind.purpose, account.uid, subject=subject, minutes=minutes, facts=facts
    )


def send_sms(
    context: Context, account: Account, options: SmsOptions = DEFAULT_SMS_OPTIONS, *, reset_kind: ResetKind = PASSWORD
) -> str:
    """Send a code to the account's phone number; return the message's Sid.

    Raises NoSmsConfiguration, SmsLimitReached, SharedSmsLimitReached.
    """
    minutes = context.tenant.settings.reset_code_minutes
    code = one_time_tokens.new_code(
        context, reset_kind.purpose, account.uid, subject=SMS, minutes=minutes, facts={"phone": account.phone}
    )
    facts = MessageFacts(otp=code, minutes=minutes)
    sid = messaging.sms(context, reset_kind.sms, account.phone or "", account=account, facts=facts, options=options)
    context.audit.record(f"{reset_kind.name}.forgot", uid=account.uid, by="sms")
    return sid


def simulate_sms(
    context: Context, phone: str, options: SmsOptions = DEFAULT_SMS_OPTIONS, *, reset_kind: ResetKind = PASSWORD
) -> str:
    """Do what `send_sms` does for an unknown number, without a message."""
    sending_context = context.without_sending()
    minutes = context.tenant.settings.reset_code_minutes
    code = one_time_tokens.new_code(
        context, reset_kind.purpose, NO_ACCOUNT, subject=unknown_subject(phone), minutes=minutes
    )
    facts = MessageFacts(otp=code, minutes=minutes)
    return messaging.sms(sending_context, reset_kind.sms, phone, account=None, facts=facts, options=options)


def unknown_subject(name: str) -> str:
    """Return the subject of one-time tokens for an identifier that has no account."""
    return hashlib.sha256(name.strip().casefold().encode("utf-8", "surrogatepass")).hexdigest()


def recipient_email(account: Account, email: str | None) -> str:
    """Return the typed address as the account spells it; else the account's primary one."""
    found = account.email_list.find(identifiers.normalize_email(email)) if email else None
    return found.value if found is not None else account.email or ""


def unknown_recipient(name: str) -> str:
    """Return the address under which mail limits count an unknown identifier."""
    return name.strip() if identifiers.normalize_email(name) else f"{unknown_subject(name)[:32]}@unknown.invalid"


def _mail(
    context: Context,
    uid: str,
    subject: str,
    email: str,
    options: ResetOptions,
    account: Account | None,
    reset_kind: ResetKind,
    kind: MailKind | None = None,
) -> str:
    purpose, kind = reset_kind.purpose, kind or reset_kind.mail
    facts: OneTimeTokenFacts = {"attempt": options.interaction_id, "email": email}
    message_facts = MessageFacts()
    language = context.visit.language if context.visit else None
    content = messaging.carries(context, kind, account=account, template=options.template, language=language)
    takes_code = reset_kind.has_codes or options.url is None or context.tenant.settings.reset_password_codes
    # a code beside an email sets no password on an account that has none (1039), so that its mail has the link alone
    is_link_alone = account is not None and account.password_hash is None and reset_kind is PASSWORD
    has_link = content != "otp" or options.needs_token or is_link_alone
    has_code = not is_link_alone and (content in ("otp", "both") or (content is None and takes_code))
    link_minutes = one_time_tokens.RESET_MINUTES if has_link else None
    code_minutes = context.tenant.settings.reset_code_minutes if has_code else None
    token, code = one_time_tokens.issue(
        context, purpose, uid, subject=subject, link_minutes=link_minutes, code_minutes=code_minutes, facts=facts
    )
    if link_minutes is not None:
        page = _link(context, token, options, reset_kind)
        message_facts = replace(message_facts, url=page, token=token, minutes=link_minutes)
    if code_minutes is not None:
        message_facts = replace(message_facts, otp=code.text, otp_minutes=code_minutes)
    messaging.mail(
        context, kind, email, account=account, facts=message_facts, template=options.template, language=language
    )  # fmt: skip
    context.audit.record(f"{reset_kind.name}.forgot", uid=account.uid if account else None, by="mail")
    return token


def _link(context: Context, token: str, options: ResetOptions, reset_kind: ResetKind) -> str:
    return allowed_urls.mailed_link(
        context, reset_kind.page, token, options.url, vtype=reset_kind.vtype, interaction_id=options.interaction_id
    )
