"""The first proof of an account that somebody made themselves: until then nobody knows whose anything in it is."""

from __future__ import annotations

from typing import Any

from app.identity.directory.accounts import consents, identifiers, linked_identities, pending_accounts, store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.pending_accounts import SELF_REGISTERED
from app.identity.platform.context import Context

UNCLAIMED = "unclaimed"
"""Marks an account by the address whose mailbox proved it while nobody showed its password there: two people, perhaps."""


def is_first_verification(account: Account) -> bool:
    """Return whether a proof of an address would be the first of an account that its owner, or a stranger, made."""
    is_proved = account.email_verified or any(one.get("verified") for one in account.emails)
    return bool(account.private.get(SELF_REGISTERED)) and not is_proved


def is_unproven(context: Context, account: Account, kind: str) -> bool:
    """Return whether somebody made an account with an address that must be proved and is not: a stranger may have.

    To them it must look as if it were not there: they would learn whether the address was free. By a number that was proved
    (`kind`: by what it is named) it is there.
    """
    if kind == PHONE and account.phone_verified:
        return False
    return (
        context.tenant.settings.email_verification == "required"
        and bool(account.email)
        and is_first_verification(account)
    )


def is_shared(account: Account) -> bool:
    """Return whether an address was proved while nobody showed the password there, and nobody claimed the account since."""
    return bool(account.private.get(UNCLAIMED))


def claims_account(account: Account, form: str) -> bool:
    """Return whether the mailbox of this address makes the account its own by a reset: until then two may have used it."""
    return is_first_verification(account) or account.private.get(UNCLAIMED) == form


def claim(context: Context, fresh: Account, entry: dict[str, Any]) -> dict[str, Any]:
    """Let go of every address but the one that was proved, and return the columns. Raises store.Taken."""
    form = identifiers.normalize(EMAIL, entry["Value"])
    store.remove_identifiers(context, fresh.uid, EMAIL)
    store.add_identifiers(context, fresh.uid, [(EMAIL, form, True)])
    kept = {name: value for name, value in entry.items() if name != "pending"}
    return {"emails": [{**kept, "Type": "Primary", "verified": True}], "email": entry["Value"], "email_verified": True}


def displace_unverified(context: Context, holder: Account, form: str, to: str) -> None:
    """Take an address that an account, which is locked, holds unproved, for the one that proved it.

    An account that is in use stays, and may prove the address some day; else it goes as at a registration.
    """
    if pending_accounts.is_replaceable(holder):
        pending_accounts.remove_replaceable(context, holder, to)
        return
    entries = [{**one, **_waits(one, form)} for one in holder.emails]
    values: dict[str, Any] = {"emails": entries}
    if identifiers.normalize_email(holder.email or "") == form:
        first = next((one for one in entries if one.get("verified") and not one.get("pending")), None)
        values |= {"email": first["Value"] if first else None, "email_verified": first is not None}
    store.remove_identifiers(context, holder.uid, EMAIL, form)
    store.change(context, holder.uid, values)
    context.audit.record("email.displaced", uid=holder.uid, to=to)


def _waits(entry: dict[str, Any], form: str) -> dict[str, Any]:
    return {"pending": True} if identifiers.normalize_email(entry["Value"]) == form else {}


def remove_unproven_credentials(context: Context, fresh: Account, private: dict[str, Any]) -> dict[str, Any]:
    """Take away what opens the account without its password, and return the columns; the answers, the PIN and the identities of
    other providers leave `private`, and it belongs to one mailbox from here on. What was agreed to is asked anew: it may have
    been somebody else.

    The number goes even where it was proved: whoever proved it did not need the mailbox. A username stays, as it opens nothing.
    """
    private.pop("security_answers", None)
    private.pop("pin", None)
    private.pop(UNCLAIMED, None)
    linked_identities.unlink_all(context, fresh, private)
    consents.reset(private)
    store.remove_identifiers(context, fresh.uid, PHONE)
    return {"phone": None, "phone_verified": False}


def remove_unverified(context: Context, fresh: Account) -> dict[str, Any]:
    """Let go of the addresses, answers and identities that were never proved, where a number is the first proof of an account."""
    if not is_first_verification(fresh) or fresh.phone_verified:
        return {}
    private = {name: held for name, held in fresh.private.items() if name not in ("security_answers", "pin")}
    linked_identities.unlink_all(context, fresh, private)
    store.remove_identifiers(context, fresh.uid, EMAIL)
    return {"email": None, "emails": [], "private": private}
