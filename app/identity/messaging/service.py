"""Mails and text messages to people: one row in the outbox, in the transaction of the change they speak of."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from app.contract import errors as e
from app.contract.messages import Carries, MailKind, SmsKind
from app.identity.directory.accounts.account import Account, full_name, is_verified
from app.identity.messaging import gsm7, placeholder_values, rendering, send_limits, template_selection, text_message
from app.identity.messaging.message import MOST_NAME_LETTERS, Branding, Facts, RenderedMessage, one_line, safe_name
from app.identity.messaging.placeholders import RenderError
from app.identity.messaging.send_limits import CountedAs, Recipient
from app.identity.messaging.tenant_templates import TenantEmailTemplate, TenantSmsTemplate
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import NullOutbox
from app.kit import randomness
from app.kit.errors import ApiError
from app.kit.languages import Language, negotiate

log = logging.getLogger("gatehouse.letters")

_BY_DEFAULT = CountedAs()
FactsSource = Mapping[str, str] | Callable[[], Mapping[str, str]]
"""What a letter says; or what makes it, once no limit refuses the letter."""


class SmsOptions(Protocol):
    """How the caller wants a text message."""

    @property
    def sms_template(self) -> str | None: ...

    @property
    def is_voice_otp(self) -> bool: ...


@dataclass(frozen=True)
class PlainSmsOptions:
    """As text, by the template of that name."""

    sms_template: str | None = None
    is_voice_otp: bool = False


DEFAULT_SMS_OPTIONS: Final = PlainSmsOptions()


def mail(
    context: Context,
    kind: MailKind,
    to: str,
    *,
    account: Account | None,
    facts: FactsSource,
    template: str | None = None,
    language: str | None = None,
    is_asked_for: bool = False,
    counted: CountedAs = _BY_DEFAULT,
) -> None:
    """Post a mail. One that only tells what is done is left out over the limit, and refuses nothing.

    Args:
        facts: what it says beside the account's own: `url`, its `token`, `otp`, `minutes` (of the link), `otp_minutes` (where the code's
            time is another), `email` and `username` where the mail is about another one, `device`: which browser asks.
        template: the tenant's template of that name; its default one, and then ours, where there is none.
        language: what is spoken where it is asked for; else the account's, the page's, the tenant's.
        is_asked_for: whether the caller wants this very mail, so that over the limit it is refused, whatever it tells.
        counted: what of its kind and its account counts, where that is another.

    Raises:
        MailLimitReached: the recipient got as many of this kind as may be.
    """
    uid = account.uid if account else None
    try:
        send_limits.spend_mail(context, counted.kind or kind, _recipient(context, to, account, counted))
    except ApiError:
        if is_asked_for or not send_limits.is_notice(kind):
            raise
        context.audit.record("mail.left_out", uid=uid, kind=kind.value)
        return
    look = Branding(context.tenant.display_name, context.tenant.brand)
    speaks = _language(context, account, language)
    said = _facts(to, account, facts)
    letter = _tenant_email(context, kind, account, said, template, speaks) or rendering.render(kind, look, said, speaks)
    sending = context.tenant.settings.sending
    payload = {
        "to": to,
        "subject": letter.subject,
        "text": letter.text,
        "html": letter.html,
        "language": letter.language,
    }
    payload["sender_name"] = one_line(letter.sender_name or sending.sender_name or look.name, MOST_NAME_LETTERS)
    if sending.reply_to:
        payload["reply_to"] = sending.reply_to
    message_id = context.outbox.post("mail", payload)
    context.audit.record("mail.posted", uid=uid, kind=kind.value, message_id=message_id)


def sms(
    context: Context,
    kind: SmsKind,
    to: str,
    *,
    account: Account | None,
    facts: FactsSource,
    options: SmsOptions = DEFAULT_SMS_OPTIONS,
    changes_for: str | None = None,
    language: str | None = None,
) -> str:
    """Post a text message and return its Sid; `account_sid` is the other half of what the operations answer.

    Args:
        wish: by which of the tenant's templates; and whether a code is read out in a call.
        changes_for: the uid of who wants this number for another one; it is counted alike, whoever has the number.
        language: as of mails.

    Raises:
        NoSmsConfiguration: nothing sends text messages here. VoiceOtpOff: nothing calls.
        SmsLimitReached: the recipient got as many of this kind as may be.
        SharedSmsLimitReached: the tenant sent as many today as may be.
    """
    uid = account.uid if account else None
    if options.is_voice_otp and context.services.settings.sms_target and not context.services.settings.sms_speaks:
        raise e.VoiceOtpOff
    send_limits.spend_sms(context, SmsKind.CHANGE_PHONE if changes_for else kind, to, changes_for or uid)
    said = _facts(to, account, facts)
    host = urlsplit(context.issuer).netloc
    speaks = _language(context, account, language)
    text = _tenant_text_message(context, kind, account, said, options.sms_template, speaks) or text_message.sentence(
        kind, context.tenant.display_name, said, speaks
    )
    sid = f"SM{randomness.uid()}"
    payload = {"to": to, "text": text_message.append_origin_line(gsm7.simplify(text), said.otp, host), "sid": sid}
    if options.is_voice_otp and said.otp:
        payload |= {"spoken": text_message.voice_text(text, said.otp), "language": speaks.tag}
    message_id = context.outbox.post("sms", payload)
    context.audit.record("sms.posted", uid=uid, kind=kind.value, message_id=message_id, sid=sid)
    return sid


def carries(
    context: Context,
    kind: MailKind,
    *,
    account: Account | None,
    template: str | None = None,
    language: str | None = None,
) -> Carries | None:
    """Return whether the mail that `mail` would send holds a link, a code or both; None where ours is sent, which has both.

    What it does not hold need not be made (interface user.md section 4).
    """
    chosen = template_selection.select(context, kind, template, _language(context, account, language))
    return chosen.template.carries if chosen and chosen.template else None


def account_sid(context: Context) -> str:
    """Return the `AccountSid` that the SMS operations answer with: the tenant's, as nobody else's account is shown."""
    return f"AC{context.tenant.tenant_id}"


def _recipient(context: Context, to: str, account: Account | None, counted: CountedAs) -> Recipient:
    is_proved = counted.is_proved
    if is_proved is None:
        is_proved = account is not None and is_verified(account, to)
    uid = counted.uid or (account.uid if account else None)
    return Recipient(to, uid, is_proved, not isinstance(context.outbox, NullOutbox))


def _tenant_email(
    context: Context, kind: MailKind, account: Account | None, said: Facts, asked: str | None, language: Language
) -> RenderedMessage | None:
    """Return the mail that the tenant's own template makes; None where there is none, or none that can be drawn."""
    chosen = template_selection.select(context, kind, asked, language)
    problem = chosen.problem if chosen else ""
    if chosen and isinstance(chosen.template, TenantEmailTemplate):
        look = Branding(context.tenant.display_name, context.tenant.brand)
        told = placeholder_values.values_for(context, kind, account, said, chosen.language)
        try:
            return chosen.template.draw(look, told, chosen.language, placeholder_values.kept_sections(account))
        except RenderError as missing:
            problem = str(missing)
    if chosen:
        _record_render_failure(context, kind, chosen.name, problem, account)
    return None


def _tenant_text_message(
    context: Context, kind: SmsKind, account: Account | None, said: Facts, asked: str | None, language: Language
) -> str | None:
    """Return the text that the tenant's own template makes; None as of mails."""
    chosen = template_selection.select(context, kind, asked, language)
    problem = chosen.problem if chosen else ""
    if chosen and isinstance(chosen.template, TenantSmsTemplate):
        try:
            return chosen.template.draw(placeholder_values.values_for(context, kind, account, said, chosen.language))
        except RenderError as missing:
            problem = str(missing)
    if chosen:
        _record_render_failure(context, kind, chosen.name, problem, account)
    return None


def _record_render_failure(
    context: Context, kind: MailKind | SmsKind, name: str, problem: str, account: Account | None
) -> None:
    """A template that cannot be drawn loses no letter: ours is sent, and the tenant can read why."""
    facts = {"channel": "mail" if isinstance(kind, MailKind) else "sms", "kind": kind.value, "name": name}
    context.audit.record("template.not_drawn", uid=account.uid if account else None, **facts, problem=problem)
    log.warning("template %s of tenant %s was not drawn: %s", name, context.tenant.name, problem)


def _facts(to: str, account: Account | None, said: FactsSource) -> Facts:
    given = said() if callable(said) else said
    url = given.get("url", "")
    return Facts(
        to=one_line(to, 320),
        name=safe_name(account.profile.get("FirstName") or full_name(account)) if account else "",
        url=url if url.startswith(("https://", "http://")) else "",
        token=given.get("token", ""),
        otp=one_line(given.get("otp", ""), 20),
        minutes=_integer(given.get("minutes")),
        otp_minutes=_integer(given.get("otp_minutes")),
        email=one_line(given.get("email", ""), 320),
        username=one_line(given.get("username") or (account.username if account else None) or "", 64),
        added_by=one_line(given.get("added_by", ""), 64),
        device=one_line(given.get("device", ""), 160),
        factor=given.get("factor", ""),
        provider=one_line(given.get("provider", ""), 60),
    )


def _integer(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0


def _language(context: Context, account: Account | None, wanted: str | None) -> Language:
    settings = context.tenant.settings
    own = account.profile.get("LocalLanguage") if account else None
    page = context.visit.language if context.visit else None
    others = (tag for tag in settings.locales if tag != settings.default_locale)
    return negotiate(([str(tag)] for tag in (wanted, own, page) if tag), (settings.default_locale, *others))


__all__ = ["MailKind", "SmsKind", "account_sid", "carries", "mail", "sms"]
