"""An identity of another provider that waits in an attempt for the one account it is to be linked to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from app.identity.accounts import linked
from app.identity.accounts.account import Account
from app.identity.accounts.store import Taken
from app.identity.call import Call
from app.identity.providers.social import Claimed
from app.identity.sign_in import attempts
from app.identity.sign_in.attempts import Attempt
from app.identity.tickets.service import NOBODY
from app.identity.verification import service as verification

FEDERATED: Final = "fed"
"""The `amr` of whoever another provider vouches for: RFC 8176 has no name for it."""
_KEY: Final = "connected"


@dataclass(frozen=True)
class Waiting:
    """What a provider said, and the account that was registered with it in this attempt."""

    claimed: Claimed
    uid: str = NOBODY


def note(call: Call, attempt: Attempt, claimed: Claimed, uid: str = NOBODY) -> Attempt:
    """Let an identity wait for the end of a sign-in."""
    held: dict[str, Any] = {"claimed": asdict(claimed), "uid": uid}
    return attempts.note(call, attempt, lives_for=attempts.LIFETIME, **{_KEY: held})


def forget(call: Call, attempt: Attempt) -> Attempt:
    """Let none wait any more."""
    return attempts.note(call, attempt, lives_for=attempts.LIFETIME, **{_KEY: None}) if of(attempt) else attempt


def of(attempt: Attempt | None) -> Waiting | None:
    """Return what waits in the attempt."""
    held = attempt.request.get(_KEY) if attempt is not None else None
    return Waiting(Claimed(**held["claimed"]), str(held["uid"])) if held else None


def waits_for(attempt: Attempt | None, uid: str) -> bool:
    """Return whether this attempt's browser came from a provider to this very account, or registered it with what it brought."""
    waits = of(attempt)
    return waits is not None and waits.uid != NOBODY and waits.uid == uid


def settle(call: Call, attempt: Attempt | None, account: Account) -> None:
    """Link what waits to the account, whose sign-in is whole: to the one that was registered with it, or that has the address
    which the provider vouches for. Whoever else signs in here may not be who brought it; they link it on their own page.
    """
    waits = of(attempt)
    if waits is None or not (waits.uid == account.uid or _is_theirs(call, account, waits)):
        return
    try:
        linked.link(call, account, waits.claimed)
    except Taken as reason:
        call.ledger.record("identity.not_linked", uid=account.uid, reason=type(reason).__name__)


def _is_theirs(call: Call, account: Account, waits: Waiting) -> bool:
    email = (waits.claimed.email or "") if waits.claimed.email_verified else ""
    may = waits.uid == NOBODY and call.tenant.settings.account_linking
    return may and bool(email) and verification.is_verified(account, email)
