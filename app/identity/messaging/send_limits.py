"""Limits of emails and text messages per recipient and kind. They are spent outside transactions, before any write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from app.contract import errors
from app.contract.auth import AuthScheme
from app.contract.messages.models import MailKind, SendLimit, SmsKind
from app.identity.directory.accounts import identifiers
from app.identity.platform.context import Context
from app.kit.caching.cached_attribute import cached_attribute
from app.kit.limits.rate_limits import OverLimit, Rate

NEW_PLACES: Final = (
    MailKind.NEW_DEVICE, MailKind.NEW_BROWSER, MailKind.NEW_CITY, MailKind.NEW_COUNTRY, MailKind.NEW_IP,
)  # fmt: skip
_NOTICES: Final = frozenset(
    {
        MailKind.WELCOME,
        MailKind.ORGANIZATION_DOMAIN,
        MailKind.WEBHOOK_DISABLED,
        MailKind.THEME_FAILED,
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
        MailKind.OWNER_ADDED,
        MailKind.OWNERSHIP_CHANGED,
        MailKind.JOIN_REQUESTED,
        MailKind.JOIN_APPROVED,
        MailKind.JOIN_DECLINED,
    }
)

_SECURITY_ALERTS: Final = frozenset(
    {
        MailKind.PASSWORD_CHANGED, MailKind.EMAIL_CHANGED, MailKind.PHONE_CHANGED, MailKind.ANSWERS_CHANGED, MailKind.FACTOR_ADDED,
        MailKind.FACTOR_REMOVED, MailKind.PASSKEY_ADDED, MailKind.IDENTITY_LINKED, MailKind.IDENTITY_UNLINKED, MailKind.ALARM, *NEW_PLACES,
    }
)  # fmt: skip
"""Messages about account security: for a verified address the limit over all kinds does not apply."""

_UNAUTHENTICATED: Final = frozenset(
    {
        MailKind.VERIFICATION,
        MailKind.RESET,
        MailKind.SIGN_IN,
        MailKind.SMART_LOGIN,
        MailKind.ONE_TOUCH,
        MailKind.PASSKEY_LOST,
        MailKind.RESET_PIN,
        MailKind.CAPTCHA,
    }
)
"""Emails that a caller can request for any address without signing in."""

_TO_CHOSEN_NUMBERS: Final = frozenset({SmsKind.CHANGE_PHONE, SmsKind.SECOND_FACTOR})
"""The account chooses the number, so its messages to all numbers are counted too."""

_COUNTED_AS: Final = {MailKind.ACCOUNT_EXISTS: MailKind.VERIFICATION, MailKind.NO_ACCOUNT: MailKind.SIGN_IN}
"""A notice sent instead of a link counts as that link, so that the limits do not reveal which was sent."""

_DAY: Final = 86_400


@dataclass(frozen=True)
class Recipient:
    """The address of an email and the account it is about."""

    address: str
    uid: str | None = None
    is_verified: bool = False  # the account's own, verified address
    is_delivered: bool = True  # False: nothing is sent, but the limits are spent as for a known account

    @property
    def key(self) -> str:
        """Return the key of the limit per kind. Accounts have separate limits; the spellings of one mailbox share them."""
        return f"{self._mailbox} of {self.uid}" if self.uid else f"{self._normal} of nobody"

    @property
    def sum_key(self) -> str:
        """Return the key of the limit over all kinds: the account if the address is verified, else the mailbox.

        All spellings of a mailbox with a plus share one limit, because there are endlessly many. It is not that of the plain
        address, which only one account can have.
        """
        if self.is_verified or not self.is_delivered:
            return self.key
        return self._mailbox if self._mailbox == self._normal else f"{self._mailbox} with a plus"

    @cached_attribute
    def _normal(self) -> str:
        return identifiers.normalize_email(self.address) or self.address.strip().lower()[:254]

    @cached_attribute
    def _mailbox(self) -> str:
        local, _, domain = self._normal.rpartition("@")
        return f"{local.partition('+')[0]}@{domain}"


@dataclass(frozen=True)
class CountedAs:
    """How the limits count an email, if that does not follow from its kind and account."""

    kind: MailKind | None = None
    uid: str | None = None
    is_verified: bool | None = None


def is_notice(kind: MailKind) -> bool:
    """Return whether the email announces a change already made: over the limit it is left out, without an error."""
    return kind in _NOTICES


def count_mail(context: Context, kind: MailKind, to: Recipient) -> None:
    """Count an email against the recipient's limits. Raises MailLimitReached (decision 0063).

    A second registration sends a notice instead of a link: both count as one kind, so that the error does not reveal the
    account. Emails to addresses that an account adds are also counted by account. A limit over all kinds bounds what one
    mailbox gets. Emails that need no sign-in have their own: else a signed-in caller could learn what others requested.
    """
    kind = _COUNTED_AS.get(kind, kind)
    sending = context.tenant.settings.sending
    rate = _rate(sending.mails_by_type.get(kind, sending.mails))
    keys = [to.key] + ([f"uid {to.uid}"] if to.uid and kind is MailKind.ADD_EMAIL else [])
    if not all(_count_message(context, f"mail {kind}", rate, key) for key in keys):
        raise errors.MailLimitReached
    if kind in _SECURITY_ALERTS and to.is_verified:
        return
    group = "asked by anybody" if kind in _UNAUTHENTICATED and context.holder is None else "of every other kind"
    if not _count_message(context, f"mails {group}", _rate(sending.mails_in_all), to.sum_key):
        raise errors.MailLimitReached


def count_resend(context: Context, key: str) -> None:
    """Count an email that an interaction requests after its first. Raises MailLimitReached."""
    sending = context.tenant.settings.sending
    rate = _rate(sending.mails_by_type.get(MailKind.VERIFICATION, sending.mails))
    if not _count_message(context, "mail again", replace(rate, amount=rate.amount and max(1, rate.amount - 1)), key):
        raise errors.MailLimitReached


def count_sms(context: Context, kind: SmsKind, to: str, uid: str | None = None) -> None:
    """Count a text message. Raises NoSmsConfiguration, SmsLimitReached, or SharedSmsLimitReached for the tenant's daily limit.

    Text messages cost money, and fraudsters earn from messages to many numbers (toll fraud), so requests are also limited by
    network address, except from callers with a secret, which act for many visitors.
    """
    if not context.services.settings.sms_target:
        raise errors.NoSmsConfiguration
    kind = SmsKind.VERIFICATION if kind is SmsKind.ACCOUNT_EXISTS else kind  # as in `count_mail`
    sending = context.tenant.settings.sending
    rate = _rate(sending.sms_by_type.get(kind, sending.sms))
    keys = [identifiers.normalize_phone(to) or to[:64]] + ([f"uid {uid}"] if uid and kind in _TO_CHOSEN_NUMBERS else [])
    if not all(_count_message(context, f"sms {kind}", rate, key) for key in keys):
        raise errors.SmsLimitReached
    if not context.schemes & {AuthScheme.API_SECRET, AuthScheme.MACHINE_TOKEN} and not _count_message(
        context, "sms asked for", _rate(sending.sms_per_address), context.network
    ):
        raise errors.SmsLimitReached
    if not _count_message(context, "sms of the tenant", Rate(sending.sms_per_day, _DAY), "all"):
        raise errors.SharedSmsLimitReached


def _rate(limit: SendLimit) -> Rate:
    return Rate(limit.amount, limit.minutes * 60)


def _count_message(context: Context, limit: str, rate: Rate, key: str) -> bool:
    if not rate.amount:
        return True
    try:
        context.services.limits.count_against(limit, rate, context.tenant.tenant_id, key)
    except OverLimit:
        return False
    return True
