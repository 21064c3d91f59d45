"""Passwords that are right and too old: a new one comes before the session."""

from __future__ import annotations

from app.contract.hub import Next, Step
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.recovery import sending
from app.identity.sign_in.attempts import Attempt
from app.identity.sign_in.second_factor import Way

REASON = "expired"


def step(call: Call, account: Account, attempt: Attempt | None, way: Way) -> Next | None:
    """Return the step of somebody whose password is too old; None where it is not."""
    if account.password_expires_at is None or account.password_expires_at > call.now:
        return None
    token = sending.page_token(call, account, reason=REASON, remember=way.remember, methods=list(way.methods))
    call.ledger.record("password.expired", uid=account.uid)
    return Next(step=Step.NEW_PASSWORD, attempt=attempt.attempt_id if attempt else None, address=token)
