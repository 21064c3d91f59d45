"""Mails and text messages to people: one row in the outbox, in the transaction of the change they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from app.contract.letters import MailKind, SmsKind
from app.identity.accounts.account import Account, full_name
from app.identity.call import Call
from app.identity.letters import drawing, send_limits, text_message
from app.identity.letters.letter import MOST_NAME_LETTERS, Facts, Look, friendly, one_line
from app.kit import randomness
from app.kit.errors import ApiError
from app.kit.languages import Language, negotiate


def mail(
    call: Call,
    kind: MailKind,
    to: str,
    *,
    account: Account | None,
    facts: Mapping[str, str],
    template: str | None = None,
    language: str | None = None,
) -> None:
    """Post a mail. One that only tells what is done is left out over the limit, and refuses nothing.

    Args:
        facts: what it says beside the account's own: `url`, `otp`, `minutes` (of the link), `otp_minutes` (where the code's
            time is another), `email` and `username` where the mail is about another one.
        template: the tenant's template of that name; the default one where there is none.
        language: what is spoken where it is asked for; else the account's, the page's, the tenant's.

    Raises:
        MailLimitReached: the recipient got as many of this kind as may be.
    """
    uid = account.uid if account else None
    try:
        send_limits.spend_mail(call, kind, to, uid)
    except ApiError:
        if not send_limits.is_notice(kind):
            raise
        call.ledger.record("mail.left_out", uid=uid, kind=kind.value)
        return
    look = Look(call.tenant.display_name, call.tenant.brand)
    letter = drawing.draw(kind, look, _facts(to, account, facts), _language(call, account, language))
    sending = call.tenant.settings.sending
    payload = {
        "to": to,
        "subject": letter.subject,
        "text": letter.text,
        "html": letter.html,
        "language": letter.language,
    }
    payload["sender_name"] = one_line(sending.sender_name or look.name, MOST_NAME_LETTERS)
    if sending.reply_to:
        payload["reply_to"] = sending.reply_to
    message_id = call.outbox.post("mail", payload)
    call.ledger.record("mail.posted", uid=uid, kind=kind.value, message_id=message_id)
    del template  # a tenant's own templates are not read yet: every name is an unknown one, which means the default


def sms(
    call: Call,
    kind: SmsKind,
    to: str,
    *,
    account: Account | None,
    facts: Mapping[str, str],
    template: str | None = None,
) -> str:
    """Post a text message and return its Sid; `account_sid` is the other half of what the operations answer.

    Raises:
        NoSmsConfiguration: nothing sends text messages here.
        SmsLimitReached: the recipient got as many of this kind as may be.
        SharedSmsLimitReached: the tenant sent as many today as may be.
    """
    uid = account.uid if account else None
    send_limits.spend_sms(call, kind, to, uid)
    said = _facts(to, account, facts)
    host = urlsplit(call.issuer).netloc
    text = text_message.write(kind, call.tenant.display_name, said, _language(call, account, None), host)
    sid = f"SM{randomness.uid()}"
    message_id = call.outbox.post("sms", {"to": to, "text": text, "sid": sid})
    call.ledger.record("sms.posted", uid=uid, kind=kind.value, message_id=message_id, sid=sid)
    del template  # as above
    return sid


def account_sid(call: Call) -> str:
    """Return the `AccountSid` that the SMS operations answer with: the tenant's, as nobody else's account is shown."""
    return f"AC{call.tenant.tenant_id}"


def count_mail(call: Call, kind: MailKind, to: str) -> None:
    """Spend what a mail to nobody would have: so that known and unknown addresses are refused alike. Raises MailLimitReached."""
    send_limits.spend_mail(call, kind, to)


def count_sms(call: Call, kind: SmsKind, to: str) -> None:
    """Spend what a message to nobody would have; raises as `sms` does."""
    send_limits.spend_sms(call, kind, to)


def _facts(to: str, account: Account | None, given: Mapping[str, str]) -> Facts:
    url = given.get("url", "")
    return Facts(
        to=one_line(to, 320),
        name=friendly(account.profile.get("FirstName") or full_name(account)) if account else "",
        url=url if url.startswith(("https://", "http://")) else "",
        otp=one_line(given.get("otp", ""), 20),
        minutes=_whole(given.get("minutes")),
        otp_minutes=_whole(given.get("otp_minutes")),
        email=one_line(given.get("email", ""), 320),
        username=one_line(given.get("username") or (account.username if account else None) or "", 64),
    )


def _whole(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0


def _language(call: Call, account: Account | None, wanted: str | None) -> Language:
    settings = call.tenant.settings
    own = account.profile.get("LocalLanguage") if account else None
    page = call.visit.language if call.visit else None
    others = (tag for tag in settings.locales if tag != settings.default_locale)
    return negotiate(([str(tag)] for tag in (wanted, own, page) if tag), (settings.default_locale, *others))


__all__ = ["MailKind", "SmsKind", "account_sid", "count_mail", "count_sms", "mail", "sms"]
