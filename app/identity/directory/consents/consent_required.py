"""Sign-ins that require consent: the error, and the token that continues the sign-in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.consents.consent_operations import ConsentAnswers
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_forms
from app.identity.directory.consents.consent_forms import Answers
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=10)


def is_due(context: Context, account: Account) -> bool:
    """Return whether a form must be answered before a sign-in now gets a session."""
    return bool(consent_forms.due_forms(context, account, context.now))


def refusal(context: Context, account: Account, authentication: Mapping[str, Any]) -> errors.ConsentNeeded:
    """Return the error for a complete, recorded sign-in; its token continues the sign-in once, with the same `authentication`."""
    events = [form.event for form in consent_forms.due_forms(context, account, context.now)]
    facts = {"way": dict(authentication), "events": events, "password_changed_at": iso(account.password_changed_at)}
    token = continuation_tokens.issue(context, ContinuationPurpose.CONSENT, account.uid, lifetime=LIFETIME, facts=facts)
    context.audit.record("consent.asked", uid=account.uid, events=events)
    return errors.ConsentNeeded(data={"ConsentToken": token.text}, commit_on_raise=True)


def pending_sign_in(context: Context, text: str) -> tuple[ContinuationToken, Account]:
    """Return the token of a pending sign-in and its account, without spending the token.

    Raises:
        WrongConsentToken: unknown or spent, or the account is gone or has a new password.
        ExpiredConsentToken: the token has expired.
    """
    token = continuation_tokens.find(context, ContinuationPurpose.CONSENT, text)
    if token is None:
        raise errors.WrongConsentToken
    if token.is_expired(context.now):
        raise errors.ExpiredConsentToken
    account = account_store.by_uid(context, token.uid)
    if account is None or token.facts["password_changed_at"] != iso(account.password_changed_at):
        raise errors.WrongConsentToken
    return token, account


def parse_answers(context: Context, token: ContinuationToken, consent_answers: ConsentAnswers) -> Answers:
    """Parse the answers, which must cover every requested form that still exists.

    Raises NoConsentForm, ConsentRefused.
    """
    answers = consent_forms.parse(context.tenant.settings, consent_answers)
    requested = {event for event in token.facts["events"] if consent_forms.form_of(context.tenant.settings, event)}
    if missing := requested - {form.event for form in answers[0]}:
        raise errors.ConsentRefused(f"The form for {min(missing)} is not answered.")
    return answers
