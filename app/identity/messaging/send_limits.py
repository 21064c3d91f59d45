"""How often one recipient gets one kind of letter. Spent outside every transaction, before anything is written for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from app.contract import errors as e
from app.contract.auth import AuthScheme
from app.contract.messages import MailKind, SendLimit, SmsKind
from app.identity.directory.accounts import identifiers
from app.identity.platform.context import Context
from app.kit.limits import OverLimit, Rate

NEW_PLACES: Final = (
    MailKind.NEW_DEVICE, MailKind.NEW_BROWSER, MailKind.NEW_CITY, MailKind.NEW_COUNTRY, MailKind.NEW_IP,
)  # fmt: skip
_NOTICES: Final = frozenset(
    {
        MailKind.WELCOME,
        MailKind.PASSWORD_CHANGED,
        MailKind.EMAIL_CHANGED,
        MailKind.USERNAME_CHANGED,
        MailKind.PHONE_CHANGED,
        MailKind.ANSWERS_CHANGED,
        MailKind.FACTOR_ADDED,
        *NEW_PLACES,
        MailKind.FACTOR_REMOVED,
        MailKind.PASSKEY_ADDED,
        MailKind.PASSKEY_REMOVED,
        MailKind.IDENTITY_LINKED,
        MailKind.IDENTITY_UNLINKED,
        MailKind.PIN_CHANGED,
        MailKind.ACCOUNT_LEAVES,
    }
)

_SECURITY_ALERTS: Final = frozenset(
    {
        MailKind.PASSWORD_CHANGED, MailKind.EMAIL_CHANGED, MailKind.ANSWERS_CHANGED, MailKind.FACTOR_ADDED,
        MailKind.FACTOR_REMOVED, MailKind.PASSKEY_ADDED, MailKind.IDENTITY_LINKED, MailKind.IDENTITY_UNLINKED, MailKind.ALARM, *NEW_PLACES,
    }
)  # fmt: skip
"""With a link to object, or what follows it: no sum keeps them back from an address that is proved."""

_UNAUTHENTICATED: Final = frozenset(
    {
        MailKind.VERIFICATION,
        MailKind.RESET,
        MailKind.SIGN_IN,
        MailKind.SMART_LOGIN,
        MailKind.ONE_TOUCH,
        MailKind.PASSKEY_LOST,
        MailKind.RESET_PIN,
    }
)
"""Whoever knows an address has them sent."""

_TO_CHOSEN_NUMBERS: Final = frozenset({SmsKind.CHANGE_PHONE, SmsKind.SECOND_FACTOR})
"""An account names the number: its messages to all numbers are counted, too."""

_COUNTED_AS: Final = {MailKind.ACCOUNT_EXISTS: MailKind.VERIFICATION, MailKind.NO_ACCOUNT: MailKind.SIGN_IN}
"""What is told in the place of a link counts as the link would."""

_DAY: Final = 86_400


@dataclass(frozen=True)
class Recipient:
    """Whom a mail reaches, and for whose account."""

    address: str
    uid: str | None = None
    is_proved: bool = False  # the account's own address, as far as its mailbox has said so
    is_reached: bool = True  # nothing is sent to somebody unknown, who is only counted as others are

    @property
    def key(self) -> str:
        """What one kind is counted under: nobody uses up what another account may get, by whichever spelling of its mailbox."""
        return f"{self._mailbox} of {self.uid}" if self.uid else f"{self._form} of nobody"

    @property
    def sum_key(self) -> str:
        """What all kinds are counted under: an account whose address is proved; else the mailbox, whoever names it.

        With a plus the spellings of one mailbox are endless, so they have one sum; not that of the plain address, which one
        account alone has.
        """
        if self.is_proved or not self.is_reached:
            return self.key
        return self._mailbox if self._mailbox == self._form else f"{self._mailbox} with a plus"

    @property
    def _form(self) -> str:
        return identifiers.normalize_email(self.address) or self.address.strip().lower()[:254]

    @property
    def _mailbox(self) -> str:
        local, _, domain = self._form.rpartition("@")
        return f"{local.partition('+')[0]}@{domain}"


@dataclass(frozen=True)
class CountedAs:
    """How a mail is counted, where that does not follow from its kind and the account that it is about."""

    kind: MailKind | None = None
    uid: str | None = None
    is_proved: bool | None = None


def is_notice(kind: MailKind) -> bool:
    """Whether it tells what is done already: over the limit it is left out, for nothing may be refused because of it."""
    return kind in _NOTICES


def spend_mail(context: Context, kind: MailKind, to: Recipient) -> None:
    """Take one from what this recipient may get; raises MailLimitReached (decisions/0063).

    A person who signs up twice is told of the account instead of getting a link: both count as one kind, so that the
    refusal tells nothing either. An account that names addresses of others is counted as such, too. All kinds together have
    a sum, or else every kind and every account would be one more mail to somebody who asked for none. What anybody has sent
    has one of its own: a refusal that somebody signed in may see would else tell what was sent to strangers.
    """
    kind = _COUNTED_AS.get(kind, kind)
    sending = context.tenant.settings.sending
    rate = _rate(sending.mails_by_type.get(kind, sending.mails))
    whom = [to.key] + ([f"uid {to.uid}"] if to.uid and kind is MailKind.ADD_EMAIL else [])
    if not all(_spend(context, f"mail {kind}", rate, who) for who in whom):
        raise e.MailLimitReached
    if kind in _SECURITY_ALERTS and to.is_proved:
        return
    of_all = "asked by anybody" if kind in _UNAUTHENTICATED and context.holder is None else "of every other kind"
    if not _spend(context, f"mails {of_all}", _rate(sending.mails_in_all), to.sum_key):
        raise e.MailLimitReached


def spend_resend(context: Context, who: str) -> None:
    """Take one from the mails that one attempt may ask for beside its first; raises MailLimitReached."""
    sending = context.tenant.settings.sending
    rate = _rate(sending.mails_by_type.get(MailKind.VERIFICATION, sending.mails))
    if not _spend(context, "mail again", replace(rate, amount=rate.amount and max(1, rate.amount - 1)), who):
        raise e.MailLimitReached


def spend_sms(context: Context, kind: SmsKind, to: str, uid: str | None = None) -> None:
    """Take one; raises NoSmsConfiguration, SmsLimitReached, or SharedSmsLimitReached where the tenant's day is used up.

    Messages cost money, and whoever gets a share of it asks for many to many numbers: who asks is counted, too. Callers
    that show a secret ask for others.
    """
    if not context.services.settings.sms_target:
        raise e.NoSmsConfiguration
    kind = SmsKind.VERIFICATION if kind is SmsKind.ACCOUNT_EXISTS else kind  # as of mails
    sending = context.tenant.settings.sending
    rate = _rate(sending.sms_by_type.get(kind, sending.sms))
    whom = [identifiers.normalize_phone(to) or to[:64]] + ([f"uid {uid}"] if uid and kind in _TO_CHOSEN_NUMBERS else [])
    if not all(_spend(context, f"sms {kind}", rate, who) for who in whom):
        raise e.SmsLimitReached
    if not context.schemes & {AuthScheme.API_SECRET, AuthScheme.MACHINE_TOKEN} and not _spend(
        context, "sms asked for", _rate(sending.sms_per_address), context.network
    ):
        raise e.SmsLimitReached
    if not _spend(context, "sms of the tenant", Rate(sending.sms_per_day, _DAY), "all"):
        raise e.SharedSmsLimitReached


def _rate(limit: SendLimit) -> Rate:
    return Rate(limit.amount, limit.minutes * 60)


def _spend(context: Context, what: str, rate: Rate, who: str) -> bool:
    if not rate.amount:
        return True
    try:
        context.services.limits.spend(what, rate, context.tenant.tenant_id, who)
    except OverLimit:
        return False
    return True
