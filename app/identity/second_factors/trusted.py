"""Browsers that are not asked again for a second factor, for as long as the tenant says."""

from __future__ import annotations

from datetime import timedelta

from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.tickets import service as tickets
from app.identity.tickets.service import TicketKind
from app.kit.clock import iso


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
    return found.facts.get("password_changed_at") == (iso(account.password_changed_at) or "")


def forget(call: Call, uid: str) -> None:
    """Trust none of an account's browsers any more."""
    tickets.close_all(call, uid, TicketKind.TRUSTED_BROWSER)
