"""The first proof of an account that somebody made themselves: until then nobody knows whose anything in it is."""

from __future__ import annotations

from typing import Any

from app.identity.accounts import identifiers, store
from app.identity.accounts.account import Account
from app.identity.accounts.identifiers import EMAIL, PHONE
from app.identity.accounts.waiting import SELF_REGISTERED
from app.identity.call import Call


def is_first(account: Account) -> bool:
    """Return whether a proof of an address would be the first of an account that its owner, or a stranger, made."""
    is_proved = account.email_verified or any(one.get("verified") for one in account.emails)
    return bool(account.private.get(SELF_REGISTERED)) and not is_proved


def claim(call: Call, fresh: Account, entry: dict[str, Any]) -> dict[str, Any]:
    """Let go of every address but the one that was proved, and return the columns. Raises store.Taken."""
    form = identifiers.normal(EMAIL, entry["Value"])
    store.let_go(call, fresh.uid, EMAIL)
    store.hold(call, fresh.uid, [(EMAIL, form, True)])
    kept = {name: value for name, value in entry.items() if name != "pending"}
    return {"emails": [{**kept, "Type": "Primary", "verified": True}], "email": entry["Value"], "email_verified": True}


def drop_ways_in(call: Call, fresh: Account, private: dict[str, Any]) -> dict[str, Any]:
    """Take away what opens the account without its password, and return the columns; the answers leave `private`.

    The number goes even where it was proved: whoever proved it did not need the mailbox. A username stays, as it opens nothing.
    """
    private.pop("security_answers", None)
    store.let_go(call, fresh.uid, PHONE)
    return {"phone": None, "phone_verified": False}
