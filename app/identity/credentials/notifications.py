"""Notices of account changes, so that a takeover does not go unnoticed.

Some carry an alert link, with which the owner of an address reports the change as not theirs (decision 0061).
"""

from __future__ import annotations

from dataclasses import replace

from app.contract.error_groups import SMS_SENDING
from app.contract.messages.models import MailKind, SmsKind
from app.contract.messages.short_link_paths import ALERT_LINK_DAYS
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.changes import former_language
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.messaging import PlainSmsOptions
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso

ALERT_LINK_MINUTES = ALERT_LINK_DAYS * 24 * 60
"""The lifetime of a link. It outlives the removal of its address from the account."""
_MAX_ADDRESS_LENGTH = 250
_NO_FACTS = MessageFacts()
_OF_FACTORS = frozenset({MailKind.FACTOR_ADDED, MailKind.PASSKEY_ADDED})
_FACTOR = "factor"
"""Marks the subject of an alert about a new second factor."""


def notify(
    context: Context,
    kind: MailKind,
    to: str | None,
    account: Account,
    facts: MessageFacts = _NO_FACTS,
    *,
    before: Account | None = None,
) -> None:
    """Email a notice. Over its limit it is left out: the change stands, and the audit log records it.

    Its button leads to the security page, unless the facts have another `url`.

    Args:
        before: the account before the change, if the address was removed from it.
    """
    if to:
        messaging.mail(
            context,
            kind,
            to,
            account=account,
            facts=replace(facts, url=facts.url or f"{context.pages_url}/security"),
            language=page_language(context),
            counted_as=_counted_as(before, to),
        )


def notify_with_alert_link(
    context: Context,
    kind: MailKind,
    to: str | None,
    account: Account,
    facts: MessageFacts = _NO_FACTS,
    *,
    template: str | None = None,
    before: Account | None = None,
) -> None:
    """Email a notice as `notify` does, with an alert link, which returns the account to this mailbox."""
    if to:
        url, token = _create_alert_link(context, account, to, mark=_FACTOR if kind in _OF_FACTORS else "")
        facts_with_link = replace(facts, url=url, token=token, minutes=ALERT_LINK_MINUTES)
        messaging.mail(
            context, kind, to, account=account, facts=facts_with_link, template=template, language=_alert_language(context, account),
            counted_as=_counted_as(before, to),
        )  # fmt: skip


def notify_by_sms(
    context: Context, kind: SmsKind, account: Account, facts: MessageFacts = _NO_FACTS, *, template: str | None = None
) -> bool:
    """Text a notice to the account's verified number. Return whether it was queued; a failure raises nothing."""
    if not (account.phone and account.phone_verified):
        return False
    facts_with_link = replace(facts, url=f"{context.pages_url}/forgot-password")
    try:
        messaging.sms(
            context,
            kind,
            account.phone,
            account=account,
            facts=facts_with_link,
            options=PlainSmsOptions(template),
            language=_alert_language(context, account),
        )
    except SMS_SENDING as reason:
        context.audit.record("notice.not_sent", uid=account.uid, reason=type(reason).__name__)
        return False
    return True


def notify_profile_changes(context: Context, before: Account, after: Account) -> None:
    """Notify of a changed username, phone number, PIN or security answers. A number or answers alone can reset the password,
    so their notice has an alert link.
    """
    if before.username != after.username:
        context.audit.record("username.changed", uid=after.uid)
        if before.username is not None:
            notify(context, MailKind.USERNAME_CHANGED, after.email, after)
    if before.phone != after.phone:
        context.audit.record("phone.changed", uid=after.uid)
        change = change_of(before.phone, after.phone)
        notify_with_alert_link(context, MailKind.PHONE_CHANGED, after.email, after, MessageFacts(change=change))
    if before.has_pin != after.has_pin or before.pin.get("sealed") != after.pin.get("sealed"):
        context.audit.record("pin.changed", uid=after.uid, reason="UpdateProfile")
        change = change_of(before.has_pin, after.has_pin)
        notify(context, MailKind.PIN_CHANGED, after.email, after, MessageFacts(change=change))
    if before.security_answers != after.security_answers:
        context.audit.record("security_answers.changed", uid=after.uid, count=len(after.security_answers))
        notify_with_alert_link(context, MailKind.ANSWERS_CHANGED, after.email, after)


def change_of(before: object, after: object) -> str:
    """Return `added`, `removed`, or empty where one value replaces another."""
    if before and after:
        return ""
    return "added" if after else "removed"


def notify_factor_change(context: Context, kind: MailKind, account: Account, factor: FactorKind | None) -> None:
    """Notify of an added or removed second factor, or of the removal of all of them, with an alert link."""
    notify_with_alert_link(context, kind, account.email, account, MessageFacts(factor=factor.value if factor else ""))


def page_language(context: Context) -> str | None:
    """Return the language of the page on which the change was made."""
    return context.visit.language if context.visit else None


def _counted_as(before: Account | None, to: str) -> CountedAs:
    return CountedAs(is_verified=is_verified(before, to)) if before else CountedAs()


def _alert_language(context: Context, account: Account) -> str | None:
    """Return the account's language before any recent change of it."""
    former = former_language.of(account, context.now)
    return None if former is None else former or context.tenant.settings.default_locale


def _create_alert_link(context: Context, account: Account, to: str, *, mark: str) -> tuple[str, str]:
    """Return the URL and the token of a link that reserves the account for the mailbox `to`.

    Each change has its own link. The earliest link restores the state before all later changes and ends their links.
    """
    subject = " ".join(filter(None, (_normal_address(to), mark, iso(context.now), randomness.token(6))))
    facts: OneTimeTokenFacts = {"email": to}
    token = one_time_tokens.new_link(
        context, Purpose.ALARM, account.uid, subject=subject, minutes=ALERT_LINK_MINUTES, facts=facts
    )
    return allowed_urls.own_link(context, "/not-me", token), token


def close_alert_links(context: Context, uid: str, to: str) -> None:
    """Close the alert links of an account that were sent to an address, after a reset by it.

    Those about a new second factor stay: a reset keeps the factor, which locks the owner out if it is another person's.
    """
    address = _normal_address(to)
    one_time_tokens.close_addressed(context, uid, Purpose.ALARM, address, spared=f"{address} {_FACTOR} ")


def close_alert_links_until(context: Context, alert: OneTimeToken) -> None:
    """Close an alert link and the earlier links to the same address."""
    one_time_tokens.close_addressed(
        context, alert.uid, Purpose.ALARM, _normal_address(str(alert.facts["email"])), alert.expires_at
    )


def _normal_address(to: str) -> str:
    return (identifiers.normalize_email(to) or to)[:_MAX_ADDRESS_LENGTH]
