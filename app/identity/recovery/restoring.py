"""Gives an account back to whoever held it before somebody else changed its password: "this was not me"."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.identity.accounts import identifiers, store
from app.identity.accounts.identifiers import EMAIL, PHONE
from app.identity.accounts.naming import PRIMARY
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.proofs import service as proofs
from app.identity.proofs.service import Proof, ProofKind

Entry = dict[str, Any]
_OPENS_AGAIN = (
    ProofKind.RESET_PASSWORD, ProofKind.DELETE_ACCOUNT, ProofKind.ADD_EMAIL, ProofKind.EMAIL, ProofKind.PHONE,
)  # fmt: skip


def held_by(account: Account) -> dict[str, Any]:
    """Return what an alarm must know to give the account back as it is now; its mail goes to the primary address."""
    return {
        "email": account.email,
        "emails": account.emails,
        "phone": account.phone if account.phone_verified else None,
    }


def restore(call: Call, alarm: Proof, password_hash: str) -> Account:
    """Close the account to everybody but the mailbox that the alarm was sent to.

    That address is the primary one again. Addresses and a phone that came after the change go, and so do security
    answers, links and codes; alarms of later changes, too, which would give the account to who made these.

    Raises UnknownLink: the account is gone.
    """
    fresh = store.change(call, alarm.uid, {})
    if fresh is None:
        raise e.UnknownLink
    values: dict[str, Any] = {"password_hash": password_hash}
    values["private"] = {name: kept for name, kept in fresh.private.items() if name != "security_answers"}
    if alarm.facts.get("email"):
        values |= _addresses(call, fresh, alarm.facts)
        values |= _phone(call, fresh, alarm.facts)
    after = store.change(call, fresh.uid, values) or fresh
    for kind in _OPENS_AGAIN:
        proofs.close(call, fresh.uid, kind)
    proofs.close_later(call, alarm)
    call.ledger.record("password.alarm", uid=fresh.uid)
    return after


def _addresses(call: Call, fresh: Account, facts: dict[str, Any]) -> dict[str, Any]:
    """The address of the alarm first, then those that were there before the change and still are."""
    form = identifiers.normal_email(str(facts["email"])) or ""
    owner = store.by_identifier(call, EMAIL, form)
    before = {identifiers.normal_email(one["Value"]): one for one in facts.get("emails") or ()}
    now = {identifiers.normal_email(one["Value"]): one for one in fresh.emails}
    kept: list[Entry] = [one for known, one in now.items() if known in before and known != form]
    if owner is None or owner.uid == fresh.uid:
        first = {**before.get(form, {"Value": facts["email"]}), "Type": "Primary", "verified": True}
        first.pop("pending", None)
        kept = [first, *({**one, "Type": "Secondary"} if _is_primary(one) else one for one in kept)]
    held = [one for one in kept if not one.get("pending")]
    store.let_go(call, fresh.uid, EMAIL)
    proved = [
        (identifiers.normal(EMAIL, one["Value"]), bool(one.get("verified") or _is_proved_first(fresh, one)))
        for one in held
    ]
    store.hold(call, fresh.uid, [(EMAIL, *one) for one in proved])
    is_verified = bool(proved) and proved[0][1]
    return {"emails": kept, "email": held[0]["Value"] if held else None, "email_verified": is_verified}


def _phone(call: Call, fresh: Account, facts: dict[str, Any]) -> dict[str, Any]:
    if fresh.phone is None or "phone" not in facts or fresh.phone == facts["phone"]:
        return {}
    store.let_go(call, fresh.uid, PHONE)
    return {"phone": None, "phone_verified": False}


def _is_proved_first(fresh: Account, entry: Entry) -> bool:
    return fresh.email_verified and entry["Value"] == fresh.email


def _is_primary(entry: Entry) -> bool:
    return str(entry["Type"]).lower() == PRIMARY


__all__ = ["held_by", "restore"]
