"""How often one recipient gets one kind of letter. Spent outside every transaction, before anything is written for it."""

from __future__ import annotations

from typing import Final

from app.contract import errors as e
from app.contract.letters import MailKind, SendLimit, SmsKind
from app.identity.accounts import identifiers
from app.identity.call import Call
from app.kit.limits import OverLimit, Rate
from app.kit.operation import Letter

_NOTICES: Final = frozenset(
    {
        MailKind.WELCOME,
        MailKind.PASSWORD_CHANGED,
        MailKind.EMAIL_CHANGED,
        MailKind.USERNAME_CHANGED,
        MailKind.PHONE_CHANGED,
        MailKind.ACCOUNT_LEAVES,
    }
)

_ALARMS: Final = frozenset({MailKind.PASSWORD_CHANGED, MailKind.EMAIL_CHANGED, MailKind.ALARM})
"""With a link to object. Counted for each account, so that nobody uses up another's by naming a spelling of the mailbox."""

_DAY: Final = 86_400


def is_notice(kind: MailKind) -> bool:
    """Whether it tells what is done already: over the limit it is left out, for nothing may be refused because of it."""
    return kind in _NOTICES


def spend_mail(call: Call, kind: MailKind, to: str, uid: str | None = None) -> None:
    """Take one from what this recipient may get; raises MailLimitReached.

    A person who signs up twice is told of the account instead of getting a link: both count as one kind, so that the
    refusal tells nothing either. An account that names addresses of others is counted as such, too. All kinds together have
    a sum of their own, or else every kind would be one more mail to somebody who asked for none; alarms are never kept back by it.
    """
    kind = MailKind.VERIFICATION if kind is MailKind.ACCOUNT_EXISTS else kind
    sending = call.tenant.settings.sending
    rate = _rate(sending.mails_by_type.get(kind, sending.mails))
    mailbox = _mailbox(to)
    whom = [f"{mailbox} of {uid}" if kind in _ALARMS else mailbox] + (
        [f"uid {uid}"] if uid and kind is MailKind.ADD_EMAIL else []
    )
    if not all(_spend(call, f"mail {kind}", rate, who) for who in whom):
        raise e.MailLimitReached
    if kind not in _ALARMS and not _spend(call, "mails of every kind", _rate(sending.mails_in_all), mailbox):
        raise e.MailLimitReached


def spend_sms(call: Call, kind: SmsKind, to: str, uid: str | None = None) -> None:
    """Take one; raises NoSmsConfiguration, SmsLimitReached, or SharedSmsLimitReached where the tenant's day is used up.

    Messages cost money, and whoever gets a share of it asks for many to many numbers: who asks is counted, too. Callers
    that show a secret ask for others.
    """
    if not call.house.settings.sms_target:
        raise e.NoSmsConfiguration
    kind = SmsKind.VERIFICATION if kind is SmsKind.ACCOUNT_EXISTS else kind  # as of mails
    sending = call.tenant.settings.sending
    rate = _rate(sending.sms_by_type.get(kind, sending.sms))
    whom = [identifiers.normal_phone(to) or to[:64]] + ([f"uid {uid}"] if uid and kind is SmsKind.CHANGE_PHONE else [])
    if not all(_spend(call, f"sms {kind}", rate, who) for who in whom):
        raise e.SmsLimitReached
    if not call.letters & {Letter.S, Letter.M} and not _spend(
        call, "sms asked for", _rate(sending.sms_per_address), call.address
    ):
        raise e.SmsLimitReached
    if not _spend(call, "sms of the tenant", Rate(sending.sms_per_day, _DAY), "all"):
        raise e.SharedSmsLimitReached


def _rate(limit: SendLimit) -> Rate:
    return Rate(limit.amount, limit.minutes * 60)


def _spend(call: Call, what: str, rate: Rate, who: str) -> bool:
    if not rate.amount:
        return True
    try:
        call.house.limits.spend(what, rate, call.tenant.tenant_id, who)
    except OverLimit:
        return False
    return True


def _mailbox(to: str) -> str:
    """One person's spellings of one mailbox: case and what stands behind a plus make no new recipient."""
    local, _, domain = (identifiers.normal_email(to) or to.strip().lower()[:254]).rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"
