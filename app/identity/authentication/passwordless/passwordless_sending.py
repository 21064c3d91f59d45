"""Send links and codes for passwordless sign-in; an unknown identifier costs the same work, and its mailbox gets a notice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from app.contract import errors
from app.contract.messages.models import MailKind, SmsKind
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.reset_messages import MAIL, SMS, recipient_email, unknown_recipient, unknown_subject
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.messaging import DEFAULT_SMS_OPTIONS, SmsOptions
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit.operations.errors import ApiError
from app.kit.web.user_agents import parse_user_agent

SEND_ERRORS: Final = (
    errors.MailLimitReached, errors.SmsLimitReached, errors.SharedSmsLimitReached, errors.NoSmsConfiguration, errors.VoiceOtpOff,
)  # fmt: skip


@dataclass(frozen=True)
class SendOptions:
    """The caller's options for the message."""

    url: str | None = None  # a page of the relying party; None for ours
    template: str | None = None
    welcome_template: str | None = None  # of the mail after the first verification
    interaction_id: str | None = None  # the interaction that the link continues
    registers: bool = False  # whether redemption registers a new account
    name: str = ""  # of a new account

    @property
    def facts(self) -> OneTimeTokenFacts:
        """The facts that the one-time token stores."""
        facts = OneTimeTokenFacts()
        if self.interaction_id:
            facts["attempt"] = self.interaction_id
        if self.welcome_template:
            facts["welcome"] = self.welcome_template
        if self.registers:
            facts["registers"] = True
        if self.name:
            facts["name"] = self.name
        return facts


@dataclass(frozen=True)
class SignInMessage:
    """A kind of sign-in mail: its token, its template and its page."""

    purpose: Purpose
    mail: MailKind
    vtype: str
    page: str  # our page for the link
    has_code: bool  # beside the link, unless a template of the tenant decides


SIGN_IN: Final = SignInMessage(Purpose.SIGN_IN, MailKind.SIGN_IN, "oneclicksignin", "/sign-in/link", has_code=True)
SMART_LOGIN: Final = SignInMessage(
    Purpose.SMART_LOGIN, MailKind.SMART_LOGIN, "autologin", "/sign-in/approve", has_code=False
)
ONE_TOUCH: Final = SignInMessage(Purpose.ONE_TOUCH, MailKind.ONE_TOUCH, "autologin", "/sign-in/approve", has_code=False)


def raise_unless_hidden(context: Context, lookup: AccountLookup, reason: ApiError) -> None:
    """Raise `reason` unless accounts are hidden, where a limit would reveal an earlier message."""
    if not lookup.is_hidden:
        raise reason
    context.work.rollback()
    uid = lookup.account.uid if lookup.account else None
    context.audit.record("passwordless.not_sent", uid=uid, reason=type(reason).__name__)


def count_request(context: Context) -> None:
    """Count a request for a link or a code against this address; raises TooManyRequests."""
    context.count_request("passwordless", context.tenant.settings.limits.passwordless_per_minute_per_address)


def count_attempt(context: Context) -> None:
    """Count an attempt to use a link or a code against this address; raises TooManyRequests."""
    context.count_attempt("passwordless_try", context.tenant.settings.limits.sign_in_per_minute_per_address)


def send_mail(
    context: Context,
    kind: SignInMessage,
    account: Account | None,
    name: str,
    options: SendOptions,
    *,
    device_hash: str | None = None,
) -> None:
    """Mail a link, and a code where one is accepted; revoke older ones of the kind.

    Args:
        account: the account of the identifier; None for an unknown identifier, and where the token identifies the account.
            Then the mail is sent to the identifier, if that is an address.
        device_hash: the hash of the pending device's token that the link approves.

    Raises:
        UnknownAccount: the account has no address for the mail.
        MailLimitReached: the recipient reached its limit.
    """
    form = identifiers.normalize_email(name)
    address = recipient_email(account, name if form else None) if account else unknown_recipient(name)
    if account is not None and not address:
        raise errors.UnknownAccount
    uid, subject = (account.uid, MAIL) if account else (NO_ACCOUNT, unknown_subject(name))
    facts: OneTimeTokenFacts = {**options.facts, "email": address, **_device(device_hash)}
    message_facts = _create_tokens(context, kind, account, uid, subject, facts, options)
    mail_kind = kind.mail
    if account is None:
        mail_kind = MailKind.ONE_TOUCH if options.registers else MailKind.NO_ACCOUNT
        if not options.registers:
            page = "register" if context.tenant.settings.registration else "login"
            message_facts = MessageFacts(url=f"{context.pages_url}/{page}")
        if form is None:
            context = context.without_sending()
    messaging.mail(
        context, mail_kind, address, account=account, facts=message_facts, template=options.template, language=_language(context),
        counted_as=CountedAs(kind=kind.mail),
    )  # fmt: skip
    context.audit.record("passwordless.asked", uid=account.uid if account else None, by="mail", kind=kind.purpose.value)


def send_sms(
    context: Context,
    account: Account | None,
    phone: str,
    options: SmsOptions = DEFAULT_SMS_OPTIONS,
    *,
    device_hash: str | None = None,
) -> str:
    """Send a code to the account's number and return the message's Sid; without an account nothing is sent.

    Raises NoSmsConfiguration, VoiceOtpOff, SmsLimitReached, SharedSmsLimitReached.
    """
    sending_context = context if account else context.without_sending()
    uid, subject = (account.uid, SMS) if account else (NO_ACCOUNT, unknown_subject(phone))
    kind = Purpose.SMART_LOGIN if device_hash else Purpose.SIGN_IN
    facts: OneTimeTokenFacts = {"phone": phone, **_device(device_hash)}
    return _send_code_sms(sending_context, SmsKind.SIGN_IN, kind, account, uid, subject, facts, options)


def send_one_touch_sms(
    context: Context,
    kind: Purpose,
    phone: str,
    options: SmsOptions = DEFAULT_SMS_OPTIONS,
    *,
    name: str = "",
    interaction_id: str | None = None,
) -> str:
    """Send a code that signs in the account with the number, or registers a new one. Raises the errors of `send_sms`."""
    stored_facts = SendOptions(registers=True, name=name, interaction_id=interaction_id).facts
    return _send_code_sms(
        context, SmsKind.ONE_TOUCH, kind, None, NO_ACCOUNT, unknown_subject(phone), {**stored_facts, "phone": phone}, options
    )  # fmt: skip


def create_link(
    context: Context,
    kind: SignInMessage,
    account: Account | None,
    name: str,
    options: SendOptions,
    device_hash: str | None = None,
) -> str:
    """Return the token of a link that a server delivers itself."""
    address = recipient_email(account, name if identifiers.normalize_email(name) else None) if account else name.strip()
    uid, subject = (account.uid, MAIL) if account else (NO_ACCOUNT, unknown_subject(name))
    facts: OneTimeTokenFacts = {**options.facts, "email": address, **_device(device_hash)}
    return one_time_tokens.new_link(
        context, kind.purpose, uid, subject=subject, minutes=link_minutes(context), facts=facts
    )


def create_code(
    context: Context,
    kind: Purpose,
    account: Account | None,
    name: str,
    channel: str,
    options: SendOptions,
    device_hash: str | None = None,
) -> tuple[str, int]:
    """Return a code that a server delivers itself, and its lifetime in minutes."""
    uid, subject = (account.uid, channel) if account else (NO_ACCOUNT, unknown_subject(name))
    destination = recipient_email(account, None) if account and channel == MAIL else account.phone if account else name
    address: OneTimeTokenFacts = {"email": destination} if channel == MAIL else {"phone": destination}
    return one_time_tokens.new_code(
        context, kind, uid, subject=subject, facts={**options.facts, **address, **_device(device_hash)}
    ), one_time_tokens.CODE_MINUTES


def carries_code(context: Context, kind: SignInMessage) -> bool:
    """Return whether mails of this kind contain a code and no link."""
    return messaging.carries(context, kind.mail, account=None) == "otp"


def link_minutes(context: Context) -> int:
    """Return the lifetime of a sign-in link."""
    return context.tenant.settings.sign_in_link_minutes


def describe_device(context: Context) -> str:
    """Return the browser and the address of the request, as text for people."""
    agent = parse_user_agent(context.agent)
    client = ", ".join(part for part in (agent.browser, agent.system) if part)
    return " · ".join(part for part in (client, context.ip_address) if part)


def _device(device_hash: str | None) -> OneTimeTokenFacts:
    return {"ticket": device_hash} if device_hash else {}


def _create_tokens(
    context: Context,
    kind: SignInMessage,
    account: Account | None,
    uid: str,
    subject: str,
    facts: OneTimeTokenFacts,
    options: SendOptions,
) -> MessageFacts:
    """Store the link and code of a mail, and return the facts of the mail."""
    message_facts = MessageFacts(device=describe_device(context))
    content = messaging.carries(
        context, kind.mail, account=account, template=options.template, language=_language(context)
    )
    has_code = content in ("otp", "both") or (content is None and kind.has_code)
    minutes = link_minutes(context) if content != "otp" else None
    code_minutes = one_time_tokens.CODE_MINUTES if has_code else None
    token, code = one_time_tokens.issue(
        context, kind.purpose, uid, subject=subject, link_minutes=minutes, code_minutes=code_minutes, facts=facts
    )
    if minutes is not None:
        message_facts = replace(message_facts, url=_link(context, kind, token, options), token=token, minutes=minutes)
    if code_minutes is not None:
        message_facts = replace(message_facts, otp=code.text, otp_minutes=code_minutes)
    return message_facts


def _send_code_sms(
    context: Context,
    kind: SmsKind,
    purpose: Purpose,
    account: Account | None,
    uid: str,
    subject: str,
    facts: OneTimeTokenFacts,
    options: SmsOptions,
) -> str:
    code = one_time_tokens.new_code(context, purpose, uid, subject=subject, facts=facts)
    message_facts = MessageFacts(otp=code, minutes=one_time_tokens.CODE_MINUTES)
    sid = messaging.sms(context, kind, str(facts["phone"]), account=account, facts=message_facts, options=options)
    context.audit.record("passwordless.asked", uid=account.uid if account else None, by="sms", kind=purpose.value)
    return sid


def _link(context: Context, kind: SignInMessage, token: str, options: SendOptions) -> str:
    return allowed_urls.mailed_link(
        context, kind.page, token, options.url, vtype=kind.vtype, interaction_id=options.interaction_id
    )


def _language(context: Context) -> str | None:
    return context.visit.language if context.visit else None
