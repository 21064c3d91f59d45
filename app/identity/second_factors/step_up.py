"""Validation tokens: that somebody who is signed in proved once more who they are (interface mfa.md section 7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.contract.step_up import Proved, ValidationToken
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.tickets import service as tickets
from app.identity.tickets.service import TicketKind
from app.identity.tokens import service as tokens
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=5)


def earned(call: Call, account: Account, by: Proved) -> ValidationToken:
    """Return a new validation token of an account; the session of the access token that was shown counts as proved just now."""
    tokens.note_proof(call, call.account)
    made = tickets.issue(call, TicketKind.STEP_UP, account.uid, lives_for=LIFETIME, facts={"by": by.value})
    call.ledger.record("step_up.passed", uid=account.uid, by=by.value)
    return ValidationToken(second_factor_validation_token=made.text, expire_in=iso(made.expires_at) or "")


def is_good(call: Call, account: Account, text: str, by: Proved) -> bool:
    """Return whether a token is the account's and was earned so; it is used up by that, and by nothing else. Of many at once
    one is told True.
    """
    found = tickets.find(call, TicketKind.STEP_UP, text)
    is_own = found is not None and found.uid == account.uid and found.facts["by"] == by.value
    is_open = account.is_active and not account.is_deleted
    return found is not None and is_own and is_open and tickets.spend(call, found)
