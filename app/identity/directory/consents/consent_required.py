"""A sign-in that waits for consent: the refusal that says so, and the token with which it goes on (interface user.md row U83)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from app.contract import errors as e
from app.contract.consents import ConsentAnswers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import service
from app.identity.directory.consents.service import Answers
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=10)


def is_due(context: Context, account: Account) -> bool:
    """Return whether a form stands before the session of a sign-in that is made now."""
    return bool(service.due_forms(context, account, context.now))


def refusal(context: Context, account: Account, way: Mapping[str, Any]) -> e.ConsentNeeded:
    """Return the refusal of a sign-in that is whole and recorded; its token goes on once, in the `way` that it began."""
    events = [form.event for form in service.due_forms(context, account, context.now)]
    facts = {"way": dict(way), "events": events, "password_changed_at": iso(account.password_changed_at)}
    ticket = continuation_tokens.issue(
        context, ContinuationPurpose.CONSENT, account.uid, lifetime=LIFETIME, facts=facts
    )
    context.audit.record("consent.asked", uid=account.uid, events=events)
    return e.ConsentNeeded(data={"ConsentToken": ticket.text}, commit_on_raise=True)


def pending_sign_in(context: Context, token: str) -> tuple[ContinuationToken, Account]:
    """Return whose sign-in a token goes on with; it uses nothing up.

    Raises:
        WrongConsentToken: nobody made it, it is used, or the account is gone or got another password since.
        ExpiredConsentToken: it is over.
    """
    ticket = continuation_tokens.find(context, ContinuationPurpose.CONSENT, token)
    if ticket is None:
        raise e.WrongConsentToken
    if ticket.is_expired(context.now):
        raise e.ExpiredConsentToken
    account = accounts.by_uid(context, ticket.uid)
    if account is None or ticket.facts["password_changed_at"] != iso(account.password_changed_at):
        raise e.WrongConsentToken
    return ticket, account


def parse_answers(context: Context, ticket: ContinuationToken, given: ConsentAnswers) -> Answers:
    """Return the answers, which must be those of every form that was asked for and still is one.

    Raises NoConsentForm, ConsentRefused.
    """
    read = service.parse(context.tenant.settings, given)
    asked = {event for event in ticket.facts["events"] if service.form_of(context.tenant.settings, event)}
    if missing := asked - {form.event for form in read[0]}:
        raise e.ConsentRefused(f"The form for {min(missing)} is not answered.")
    return read
