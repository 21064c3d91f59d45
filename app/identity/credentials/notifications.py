"""Notices of account changes, so that a takeover does not go unnoticed. Some carry a link with which the owner reports it."""

from __future__ import annotations

from app.contract.error_groups import SMS_SENDING
from app.contract.messages import MailKind, SmsKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.one_time_tokens import security_alerts
from app.identity.directory.accounts import previous_locale
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.messaging import service as messaging
from app.identity.messaging.send_limits import CountedAs
from app.identity.messaging.service import PlainSmsOptions
from app.identity.platform.context import Context


def notify(
    context: Context, kind: MailKind, to: str | None, account: Account, *, before: Account | None = None, **facts: str
) -> None:
    """Email a notice. Over its limit it is left out: the change stands, and the audit log records it.

    Args:
        before: the account before the change, if the address was removed from it.
    """
    if to:
        messaging.mail(
            context,
            kind,
            to,
            account=account,
            facts=facts,
            language=page_language(context),
            counted_as=_counted_as(before, to),
        )


def notify_with_alert_link(
    context: Context,
    kind: MailKind,
    to: str | None,
    account: Account,
    *,
    template: str | None = None,
    before: Account | None = None,
    **facts: str,
) -> None:
    """Email a notice as `notify` does, with a link that returns the account to this mailbox (decisions/0061)."""
    if to:
        url, token = security_alerts.create_link(context, account, to)
        facts_with_link = {**facts, "url": url, "token": token}
        messaging.mail(
            context, kind, to, account=account, facts=facts_with_link, template=template, language=_alert_language(context, account),
            counted_as=_counted_as(before, to),
        )  # fmt: skip


def notify_by_sms(
    context: Context, kind: SmsKind, account: Account, *, template: str | None = None, **facts: str
) -> bool:
    """Text a notice to the account's verified number. Return whether it was queued; a failure raises nothing."""
    if not (account.phone and account.phone_verified):
        return False
    facts_with_link, options = {**facts, "url": f"{context.issuer}/forgot-password"}, PlainSmsOptions(template)
    try:
        messaging.sms(
            context,
            kind,
            account.phone,
            account=account,
            facts=facts_with_link,
            options=options,
            language=_alert_language(context, account),
        )
    except SMS_SENDING as reason:
        context.audit.record("notice.not_sent", uid=account.uid, reason=type(reason).__name__)
        return False
    return True


def notify_profile_changes(context: Context, before: Account, after: Account) -> None:
    """Notify of a changed username, phone number, PIN or security answers. Answers alone can reset the password, so their
    notice has an alert link.
    """
    if before.username != after.username:
        context.audit.record("username.changed", uid=after.uid)
        if before.username is not None:
            notify(context, MailKind.USERNAME_CHANGED, after.email, after)
    if before.phone != after.phone:
        context.audit.record("phone.changed", uid=after.uid)
        notify(context, MailKind.PHONE_CHANGED, after.email, after)
    if before.has_pin != after.has_pin or before.pin.get("sealed") != after.pin.get("sealed"):
        context.audit.record("pin.changed", uid=after.uid, reason="UpdateProfile")
        notify(context, MailKind.PIN_CHANGED, after.email, after)
    if before.security_answers != after.security_answers:
        context.audit.record("security_answers.changed", uid=after.uid, count=len(after.security_answers))
        notify_with_alert_link(context, MailKind.ANSWERS_CHANGED, after.email, after)


def notify_factor_change(context: Context, kind: MailKind, account: Account, factor: FactorKind) -> None:
    """Notify of an added or removed second factor, with an alert link."""
    notify_with_alert_link(context, kind, account.email, account, factor=factor.value)


def page_language(context: Context) -> str | None:
    """Return the language of the page on which the change was made."""
    return context.visit.language if context.visit else None


def _counted_as(before: Account | None, to: str) -> CountedAs:
    return CountedAs(is_verified=is_verified(before, to)) if before else CountedAs()


def _alert_language(context: Context, account: Account) -> str | None:
    """Return the account's language before any recent change of it, because an attacker may have changed it."""
    earlier = previous_locale.previous(account, context.now)
    return None if earlier is None else earlier or context.tenant.settings.default_locale
