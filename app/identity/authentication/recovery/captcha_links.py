"""Emails a link that solves the captcha of a form without scripts: a program that fills in forms cannot read the mailbox.

The link is single-use, because its challenge is, and opens in any browser. The stored token has what was typed, without a password.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.contract import errors
from app.contract.captcha.models import CaptchaUse
from app.contract.messages.models import MailKind
from app.identity.credentials import reset_messages
from app.identity.credentials.captcha import built_in
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform.context import NO_ACCOUNT, Context

PAGE: Final = "/human"
_VTYPE: Final = "captcha"
_MINUTES: Final = int(built_in.LIFETIME.total_seconds()) // 60


@dataclass(frozen=True)
class UnsolvedForm:
    """The form that the link continues."""

    use: CaptchaUse
    identifier: str
    typed: Mapping[str, str]
    interaction_id: str | None = None


def send_to_account(context: Context, account: Account | None, form: UnsolvedForm) -> None:
    """Email the account; for an unknown identifier do the same work and send nothing."""
    if account is not None and (email := reset_messages.recipient_email(account, form.identifier)):
        _send(context, account.uid, reset_messages.MAIL, email, account, form)
        return
    subject, recipient = (
        reset_messages.unknown_subject(form.identifier),
        reset_messages.unknown_recipient(form.identifier),
    )
    _send(context.without_sending(), NO_ACCOUNT, subject, recipient, None, form)


def send_to_address(context: Context, email: str, form: UnsolvedForm) -> None:
    """Email an address, whether or not it has an account."""
    _send(context, NO_ACCOUNT, email, email, None, form)


def open_form(context: Context, token: str) -> tuple[UnsolvedForm, OneTimeToken]:
    """Return the form of a link, which stays unused. Raises UnknownLink, UsedLink, ExpiredLink."""
    link = one_time_tokens.peek_link(context, Purpose.CAPTCHA, token)
    if built_in.is_link_spent(context, link.token_id):
        raise errors.UsedLink
    facts = link.facts
    form = UnsolvedForm(
        CaptchaUse(facts["use"]), facts.get("identifier", ""), facts.get("typed", {}), facts.get("attempt")
    )
    return form, link


def _send(context: Context, uid: str, subject: str, email: str, account: Account | None, form: UnsolvedForm) -> None:
    facts: OneTimeTokenFacts = {
        "attempt": form.interaction_id, "email": email, "use": form.use, "identifier": form.identifier, "typed": dict(form.typed),
    }  # fmt: skip
    try:
        token = one_time_tokens.new_link(context, Purpose.CAPTCHA, uid, subject=subject, minutes=_MINUTES, facts=facts)
        url = allowed_urls.mailed_link(context, PAGE, token, None, vtype=_VTYPE, interaction_id=form.interaction_id)
        message = MessageFacts(url=url, token=token, minutes=_MINUTES)
        language = context.visit.language if context.visit else None
        messaging.mail(context, MailKind.CAPTCHA, email, account=account, facts=message, language=language)
    except errors.MailLimitReached:  # the response would reveal an earlier mail
        context.work.rollback()
    context.audit.record("captcha.mailed", uid=account.uid if account else None, use=form.use)
