"""Sends what resets a forgotten password or PIN. For somebody unknown the same work is done, and nothing is sent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from app.contract import errors as e
from app.contract.messages import MailKind, SmsKind
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import NOBODY, OneTimeToken, Purpose
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.service import Account
from app.identity.directory.tenants import allowed_addresses
from app.identity.messaging import service as messaging
from app.identity.messaging.service import DEFAULT_SMS_OPTIONS, SmsOptions
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import Outbox
from app.kit.errors import ApiError

MAIL, SMS = "mail", "sms"
"""How it was sent: a newer link or code ends older ones, to whichever address of the account they went."""
PAGE_MINUTES = 15
"""How long a new password may take once a code, or the old password, was right."""


@dataclass(frozen=True)
class ResetKind:
    """What somebody forgot, and how it is spoken of."""

    name: str  # in the audit trail
    proof: Purpose
    mail: MailKind
    sms: SmsKind
    vtype: str
    page: str
    has_codes: bool = False  # mails bear a code beside the link, whoever's page takes it


PASSWORD: Final = ResetKind(
    "password", Purpose.RESET_PASSWORD, MailKind.RESET, SmsKind.RESET, "reset", "/reset-password"
)
PIN: Final = ResetKind(
    "pin", Purpose.RESET_PIN, MailKind.RESET_PIN, SmsKind.RESET_PIN, "resetpin", "/reset-pin", has_codes=True
)


@dataclass(frozen=True)
class ResetOptions:
    """How the caller wants the message."""

    url: str | None = None  # a page of the relying party; ours where there is none
    template: str | None = None
    interaction_id: str | None = None  # the sign-in that waits for it, in the browser that began it
    needs_token: bool = False  # the caller gets the link's token, whatever the mail holds


def refuse_url(context: Context, url: str | None, refusal: type[ApiError] = e.ResetUrlRefused) -> None:
    """Raise 1251, or another refusal, for a page that the tenant's whitelist does not have."""
    if url and not allowed_addresses.is_allowed_in_mail(context, url):
        raise refusal


def is_still_recipient(account: Account, proof: OneTimeToken) -> bool:
    """Return whether the account still has what a link or a code was sent to: a mailbox that it gave up opens nothing."""
    email, phone = proof.facts.get("email"), proof.facts.get("phone")
    known = [account.email or "", *(str(one["Value"]) for one in account.emails if not one.get("pending"))]
    held = {identifiers.normalize_email(one) for one in known}
    return (not email or identifiers.normalize_email(str(email)) in held) and (not phone or phone == account.phone)


def send(
    context: Context,
    account: Account,
    options: ResetOptions,
    *,
    email: str | None = None,
    kind: MailKind | None = None,
    of: ResetKind = PASSWORD,
) -> str:
    """Mail a link, and a code where our own page takes it or the tenant's programs do; return the link's token.

    A tenant's own template says itself which of them is made; without a link there is no token.

    Args:
        kind: what the mail says, and which limit it counts to, where that is another.

    Raises:
        UnknownAccount: the account has no address that a mail could go to.
        MailLimitReached: the recipient got as many as may be.
    """
    address = recipient_email(account, email)
    if not address:
        raise e.UnknownAccount
    return _mail(context, account.uid, MAIL, address, options, account, of, kind)


def simulate_send(context: Context, name: str, options: ResetOptions, *, of: ResetKind = PASSWORD) -> None:
    """Do for a name that no account has what `send` does, without a mail. Raises MailLimitReached."""
    quiet = context.without_sending()
    _mail(quiet, NOBODY, unknown_subject(name), unknown_recipient(name), options, None, of)


def send_separately(context: Context, account: Account, options: ResetOptions) -> bool:
    """Send in a transaction of its own, so that a refusal may follow; False where the limit of mails is reached."""
    try:
        with context.work.separate_transaction() as own:
            send(
                replace(context, work=own, outbox=Outbox(own, context.services.clock, context.services.encryption)),
                account,
                options,
            )
    except (e.MailLimitReached, e.UnknownAccount):
        return False
    return True


def create_token(
    context: Context, account: Account, options: ResetOptions, *, email: str | None = None, of: ResetKind = PASSWORD
) -> str:
    """Return the token of a link that the caller brings to its owner."""
    facts = {"attempt": options.interaction_id, "email": recipient_email(account, email)}
    return one_time_tokens.new_link(
        context, of.proof, account.uid, subject=MAIL, minutes=one_time_tokens.RESET_MINUTES, facts=facts
    )


def create_code(
    context: Context, account: Account, subject: str, *, email: str | None = None, of: ResetKind = PASSWORD
) -> tuple[str, int]:
    """Return a code that the caller brings to its owner, as a mail or a message would, and its minutes."""
    minutes = context.tenant.settings.reset_code_minutes
    facts = {"attempt": None, "email": recipient_email(account, email)} if subject == MAIL else {}
    return one_time_tokens.new_code(
        context, of.proof, account.uid, subject=subject, minutes=minutes, facts=facts
    ), minutes


def create_page_token(
    context: Context,
    account: Account,
    minutes: int = PAGE_MINUTES,
    *,
    of: ResetKind = PASSWORD,
    **facts: str | bool | list[str] | None,
) -> str:
    """Return a token for our own page of the new password, after a code or an expired password was right."""
    subject = str(facts.get("reason") or "page")
    return one_time_tokens.new_link(context, of.proof, account.uid, subject=subject, minutes=minutes, facts=facts)


def send_sms(
    context: Context, account: Account, options: SmsOptions = DEFAULT_SMS_OPTIONS, *, of: ResetKind = PASSWORD
) -> str:
    """Text a code to the account's phone number; return the message's Sid.

    Raises NoSmsConfiguration, SmsLimitReached, SharedSmsLimitReached.
    """
    minutes = context.tenant.settings.reset_code_minutes
    code = one_time_tokens.new_code(
        context, of.proof, account.uid, subject=SMS, minutes=minutes, facts={"phone": account.phone}
    )
    facts = {"otp": code, "minutes": str(minutes)}
    sid = messaging.sms(context, of.sms, account.phone or "", account=account, facts=facts, options=options)
    context.audit.record(f"{of.name}.forgot", uid=account.uid, by="sms")
    return sid


def simulate_sms(
    context: Context, phone: str, options: SmsOptions = DEFAULT_SMS_OPTIONS, *, of: ResetKind = PASSWORD
) -> str:
    """Do for a number that no account has what `text` does, without a message."""
    quiet = context.without_sending()
    minutes = context.tenant.settings.reset_code_minutes
    code = one_time_tokens.new_code(context, of.proof, NOBODY, subject=unknown_subject(phone), minutes=minutes)
    facts = {"otp": code, "minutes": str(minutes)}
    return messaging.sms(quiet, of.sms, phone, account=None, facts=facts, options=options)


def unknown_subject(name: str) -> str:
    """Return what proofs for a name that no account has are kept under."""
    return hashlib.sha256(name.strip().casefold().encode("utf-8", "surrogatepass")).hexdigest()


def recipient_email(account: Account, email: str | None) -> str:
    """Return the account's address as it is kept: the one that was typed, in the account's own spelling."""
    form = identifiers.normalize_email(email) if email else None
    held = next((one["Value"] for one in account.emails if identifiers.normalize_email(one["Value"]) == form), None)
    return held or account.email or ""


def unknown_recipient(name: str) -> str:
    """Return what limits of mails are kept under: each name has its own, as each account has."""
    return name.strip() if identifiers.normalize_email(name) else f"{unknown_subject(name)[:32]}@unknown.invalid"


def _mail(
    context: Context,
    uid: str,
    subject: str,
    email: str,
    options: ResetOptions,
    account: Account | None,
    of: ResetKind,
    kind: MailKind | None = None,
) -> str:
    facts, reset, kind = {"attempt": options.interaction_id, "email": email}, of.proof, kind or of.mail
    told: dict[str, str] = {}
    language = context.visit.language if context.visit else None
    carries = messaging.carries(context, kind, account=account, template=options.template, language=language)
    if carries in ("link", "otp"):
        one_time_tokens.close(context, uid, reset, subject=subject)  # the half that is not made anew is over, too
    token = ""
    if carries != "otp" or options.needs_token:
        token = one_time_tokens.new_link(
            context, reset, uid, subject=subject, minutes=one_time_tokens.RESET_MINUTES, facts=facts
        )
        told |= {
            "url": _link(context, token, options, of),
            "token": token,
            "minutes": str(one_time_tokens.RESET_MINUTES),
        }
    has_code = of.has_codes or options.url is None or context.tenant.settings.reset_password_codes
    if carries in ("otp", "both") or (carries is None and has_code):
        minutes = context.tenant.settings.reset_code_minutes
        code = one_time_tokens.new_code(context, reset, uid, subject=subject, minutes=minutes, facts=facts)
        told |= {"otp": code, "otp_minutes": str(minutes)}
    messaging.mail(
        context, kind, email, account=account, facts=told, template=options.template, language=language
    )  # fmt: skip
    context.audit.record(f"{of.name}.forgot", uid=account.uid if account else None, by="mail")
    return token


def _link(context: Context, token: str, options: ResetOptions, of: ResetKind) -> str:
    if options.url is not None:
        return allowed_addresses.with_query(options.url, vtype=of.vtype, vtoken=token)
    asked = {"vtype": of.vtype, "vtoken": token} | (
        {"attempt": options.interaction_id} if options.interaction_id else {}
    )
    return f"{context.issuer}{of.page}?{urlencode(asked)}"
