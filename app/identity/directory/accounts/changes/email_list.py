"""The email addresses of an account: which may be added and removed, and their order, in which the first one is primary."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from app.contract import errors
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.input_checks import MAX_EMAILS, PRIMARY
from app.identity.platform.context import Context

Entry = dict[str, Any]


def lock(context: Context, account: Account) -> Account:
    """Lock the account and return it. Raises NotAuthenticated where it was deleted meanwhile."""
    fresh = account_store.lock(context, account.uid)
    if fresh is None:
        raise errors.NotAuthenticated
    return fresh


def entry_of(account: Account, form: str) -> Entry | None:
    """Return the entry of a normalized address, pending ones included."""
    return next((email for email in account.emails if identifiers.normalize_email(email["Value"]) == form), None)


def refuse_addition(context: Context, account: Account, kind: str, form: str) -> None:
    """Refuse another address of this type.

    Raises:
        EmailTypeMissing.
        EmailActionRefused: there is a primary address already.
        EmailNotAddable: the account has an address that is not verified yet.
        EmailUpdateRefused: the account has the maximum number of addresses.
    """
    if not kind.strip():
        raise errors.EmailTypeMissing
    if account.email and kind.strip().lower() == PRIMARY:
        raise errors.EmailActionRefused
    if account.email and not account.email_verified and context.tenant.settings.email_verification != "disabled":
        raise errors.EmailNotAddable
    if len(others_of(account, form)) >= MAX_EMAILS:
        raise errors.EmailUpdateRefused


def add_pending(context: Context, account: Account, kind: str, email: str, form: str) -> None:
    """Add an address that counts once it is verified."""
    pending = {"Type": kind.strip(), "Value": identifiers.display_email(email), "pending": True}
    account_store.change(context, account.uid, {"emails": [*others_of(account, form), pending]})


def is_removable(account: Account, entry: Entry) -> bool:
    """Return whether an address remains without this one, and a verified one if this one is verified."""
    if entry.get("pending"):
        return True
    others = others_of(account, identifiers.normalize_email(entry["Value"]) or "")
    remaining = [other for other in others if not other.get("pending")]
    if not is_verified(account, entry["Value"]):
        return bool(remaining)
    return any(is_verified(account, other["Value"]) for other in remaining)


def others_of(account: Account, form: str) -> list[Entry]:
    """Return the entries of all other addresses."""
    return [email for email in account.emails if identifiers.normalize_email(email["Value"]) != form]


def store_in_order(
    context: Context, fresh: Account, entries: Sequence[Entry], *, verified: Collection[str] = ()
) -> Account:
    """Store the addresses in this order: the primary one first, else the first verified one; pending ones last.

    Args:
        verified: normalized addresses that are verified by this change.

    Raises store.IdentifierTaken.
    """
    pending = [entry for entry in entries if entry.get("pending")]
    verified_values = {
        entry["Value"]: identifiers.normalize_email(entry["Value"]) in verified or is_verified(fresh, entry["Value"])
        for entry in entries
    }
    stored = [{**entry, "verified": verified_values[entry["Value"]]} for entry in entries if not entry.get("pending")]
    if stored and stored[0]["Value"] != fresh.email:
        stored.sort(key=lambda entry: not entry["verified"])
    if not stored:
        return account_store.change(context, fresh.uid, {"emails": pending}) or fresh
    types = [entry["Type"] for entry in fresh.emails] or ["Primary"]
    first, *others = stored
    former = first["Type"] if str(first["Type"]).lower() != PRIMARY else "Secondary"
    ordered = [{**first, "Type": types[0] if types[0].lower() == PRIMARY else "Primary"}]
    ordered += [{**other, "Type": former} if str(other["Type"]).lower() == PRIMARY else other for other in others]
    account_store.remove_identifiers(context, fresh.uid, EMAIL)
    account_store.add_identifiers(
        context, fresh.uid, [(EMAIL, identifiers.normalize(EMAIL, item["Value"]), item["verified"]) for item in ordered]
    )
    values = {"emails": [*ordered, *pending], "email": first["Value"], "email_verified": first["verified"]}
    after = account_store.change(context, fresh.uid, values)
    return after or fresh
