"""A sign-in that waits for consent: the refusal that says so, and the token with which it goes on (interface user.md row U83)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from app.contract import errors as e
from app.contract.consents import ConsentsGiven
from app.identity.accounts import service as accounts
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.consent_forms import service
from app.identity.consent_forms.service import Answers
from app.identity.tickets import service as tickets
from app.identity.tickets.service import Ticket, TicketKind
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=10)


def is_due(call: Call, account: Account) -> bool:
    """Return whether a form stands before the session of a sign-in that is made now."""
    return bool(service.due(call, account, call.now))


def refusal(call: Call, account: Account, way: Mapping[str, Any]) -> e.ConsentNeeded:
    """Return the refusal of a sign-in that is whole and recorded; its token goes on once, in the `way` that it began."""
    events = [form.event for form in service.due(call, account, call.now)]
    facts = {"way": dict(way), "events": events, "password_changed_at": iso(account.password_changed_at)}
    ticket = tickets.issue(call, TicketKind.CONSENT, account.uid, lives_for=LIFETIME, facts=facts)
    call.ledger.record("consent.asked", uid=account.uid, events=events)
    return e.ConsentNeeded(data={"ConsentToken": ticket.text}, commit_on_raise=True)


def waiting(call: Call, token: str) -> tuple[Ticket, Account]:
    """Return whose sign-in a token goes on with; it uses nothing up.

    Raises:
        WrongConsentToken: nobody made it, it is used, or the account is gone or got another password since.
        ExpiredConsentToken: it is over.
    """
    ticket = tickets.find(call, TicketKind.CONSENT, token)
    if ticket is None:
        raise e.WrongConsentToken
    if ticket.is_over(call.now):
        raise e.ExpiredConsentToken
    account = accounts.by_uid(call, ticket.uid)
    if account is None or ticket.facts["password_changed_at"] != iso(account.password_changed_at):
        raise e.WrongConsentToken
    return ticket, account


def answers(call: Call, ticket: Ticket, given: ConsentsGiven) -> Answers:
    """Return the answers, which must be those of every form that was asked for and still is one.

    Raises NoConsentForm, ConsentRefused.
    """
    read = service.read(call.tenant.settings, given)
    asked = {event for event in ticket.facts["events"] if service.form_of(call.tenant.settings, event)}
    if missing := asked - {form.event for form in read[0]}:
        raise e.ConsentRefused(f"The form for {min(missing)} is not answered.")
    return read
