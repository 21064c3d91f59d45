"""Guesses at what is short, such as a PIN or an app's code: counted before they are weighed, in the account's one counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.contract import errors as e
from app.identity.accounts import gate
from app.identity.accounts import service as accounts
from app.identity.accounts.gate import Failure
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.proofs import service as proofs
from app.kit.errors import ApiError


def begin(call: Call, account: Account, refuse_over: Callable[[Call], None] | None = None) -> Failure:
    """Count the try before the proof is weighed; raises the lock's refusal where the tries are used up.

    Args:
        refuse_over: raises where that which is proved came to its end by another proof meanwhile; such a try counts for nothing.
    """
    with call.work.apart() as own:
        tried = gate.count_try(own, account, call.tenant.settings, call.now)
        if refuse_over is not None:
            refuse_over(replace(call, work=own))
    if tried is None:
        raise lock_of(call, account) or e.LockedDuringStep()
    return tried


def right(call: Call, account: Account, *, is_whole: bool = True) -> None:
    """Take back what `begin` counted, in the call's transaction; where the sign-in `is_whole` by it, all that was counted."""
    gate.was_right(call.work, account.uid, call.tenant.settings, is_whole=is_whole)


def refused(call: Call, account: Account, tried: Failure | None, refusal: ApiError) -> tuple[ApiError, int]:
    """Return the refusal of a wrong proof, of the one that locks the account the lock's; and how many there were.

    Args:
        tried: what `begin` counted; None where a lock was just opened, and what is wrong then counts afterwards.
    """
    with call.work.apart() as own:
        if tried is None:
            tried = gate.count_failure(own, account, call.tenant.settings, call.now)
        elif tried.is_locked:
            gate.fail(own, account, call.tenant.settings, call.now)
    return (lock_of(call, account) if tried.is_locked else None) or refusal, tried.attempts


def lock_of(call: Call, account: Account) -> ApiError | None:
    """Return the refusal of the lock that the account has by now."""
    present = accounts.by_uid(call, account.uid)
    try:
        if present is not None:
            proofs.refuse_locked(call, present)
    except ApiError as locked:
        return locked
    return None
