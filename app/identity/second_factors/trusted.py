"""Browsers that are not asked again for a second factor, for as long as the tenant says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.tickets import service as tickets
from app.identity.tickets.service import Ticket, TicketKind
from app.kit.clock import iso

_ID_LETTERS: Final = 16


def trust(call: Call, account: Account) -> tuple[str, int] | None:
    """Return the text for this browser's cookie and its lifetime in seconds; None where the tenant always asks."""
    days = call.tenant.settings.second_factors.trusted_browser_days
    if not days or call.visit is None:
        return None
    facts = {"agent": call.agent, "address": call.address[:64]}
    facts["password_changed_at"] = iso(account.password_changed_at) or ""
    made = tickets.issue(call, TicketKind.TRUSTED_BROWSER, account.uid, lives_for=timedelta(days=days), facts=facts)
    call.ledger.record("browser.trusted", uid=account.uid)
    return made.text, days * 86_400


def is_trusted(call: Call, account: Account) -> bool:
    """Return whether this browser was trusted by this account, and the tenant still allows that."""
    shown = call.visit.trusted if call.visit else None
    if not shown or not call.tenant.settings.second_factors.trusted_browser_days:
        return False
    found = tickets.find(call, TicketKind.TRUSTED_BROWSER, shown)
    if found is None or found.uid != account.uid or found.is_over(call.now):
        return False
    return _is_of_password(found, account)


@dataclass(frozen=True)
class Trusted:
    """A browser that is not asked."""

    browser_id: str
    agent: str
    address: str
    trusted_at: datetime
    ends_at: datetime


def of_account(call: Call, account: Account) -> list[Trusted]:
    """Return the browsers that an account trusts, the newest first; none where the tenant asks always."""
    if not call.tenant.settings.second_factors.trusted_browser_days:
        return []
    held = tickets.of_account(call, TicketKind.TRUSTED_BROWSER, account.uid)
    found = [one for one in held if _is_of_password(one, account)]
    return [
        Trusted(_id(one), str(one.facts["agent"]), str(one.facts["address"]), one.created_at, one.expires_at)
        for one in found
    ]


def forget_one(call: Call, uid: str, browser_id: str) -> None:
    """Ask one browser again."""
    for one in tickets.of_account(call, TicketKind.TRUSTED_BROWSER, uid):
        if _id(one) == browser_id:
            tickets.spend(call, one)
            call.ledger.record("browser.forgotten", uid=uid)


def forget(call: Call, uid: str) -> None:
    """Trust none of an account's browsers any more."""
    tickets.close_all(call, uid, TicketKind.TRUSTED_BROWSER)


def _is_of_password(ticket: Ticket, account: Account) -> bool:
    """With a new password, whoever sets it, the trust is over."""
    return ticket.facts.get("password_changed_at") == (iso(account.password_changed_at) or "")


def _id(ticket: Ticket) -> str:
    """What lists name a browser by: enough to tell those of one account apart, and nothing that opens one."""
    return ticket.ticket_hash[:_ID_LETTERS]
