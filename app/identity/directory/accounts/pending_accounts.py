"""Accounts that wait: asked for with an address, or a number, that another account holds without having proved it (decisions/0052).

Whoever proves the address first gets it, with what they themselves typed. What held it unproved is then gone, whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.contract import errors as e
from app.identity.directory.accounts import linked_identities, store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME, normalize_email
from app.identity.directory.accounts.tables import waiting_accounts
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.store import removal

LIFETIME = timedelta(days=3)  # of the link that proves the address
SELF_REGISTERED = "self_registered"
"""Marks accounts that people made themselves: only these give way."""
WAS_PENDING = "waited"
"""Marks accounts that waited: who typed their password elsewhere does not get in by somebody else's click."""
W = waiting_accounts.c
_KEPT = ("uid", "profile_id", "email", "emails", "username", "phone", "password_hash", "profile", "private")
_INSTANTS = ("created_at", "modified_at", "profile_modified_at", "password_changed_at")
_FRESH: dict[str, Any] = {
    **{each.name: None for each in fields(Account)},
    **dict.fromkeys(("email_verified", "phone_verified", "is_deleted", "login_disabled", "is_locked"), False),
    **dict.fromkeys(("failed_attempts", "logins", "session_limit", "sessions_allowed"), 0),
    "is_active": True,
    "lock_type": "None",
}


class AccountInUse(Exception):
    """What was registered is no longer its maker's alone to change: it was proved, signed in to, or is somebody else's."""


def is_replaceable(account: Account) -> bool:
    """Return whether an account holds its names without having proved any: its address is then anybody's to prove.

    One that was ever signed in to is in use, and stays whoever registers: its owner may have proved nothing either.
    """
    is_own, is_proved = (
        bool(account.private.get(SELF_REGISTERED)),
        account.phone_verified or _has_proved_address(account),
    )
    return is_own and not _is_used(account) and not is_proved and account.is_active and not account.is_deleted


def has_unproven_phone(account: Account) -> bool:
    """Return whether the number that an account states may be that of somebody else than who uses the account: they signed
    in, or proved an address that they registered with, and not the number. What a server states is the tenant's word."""
    is_own = bool(account.private.get(SELF_REGISTERED))
    return not account.phone_verified and (_is_used(account) or (is_own and _has_proved_address(account)))


def is_claimable(holder: Account, kind: str) -> bool:
    """Return whether whoever proves a name gets it: an account that gives way goes whole; a number that its account only
    stated leaves it, however much that account is used."""
    return is_replaceable(holder) or (kind == PHONE and has_unproven_phone(holder))


def _is_used(account: Account) -> bool:
    return account.logins > 0 or account.last_login_at is not None


def _has_proved_address(account: Account) -> bool:
    return account.email_verified or any(one.get("verified") for one in account.emails)


def add(context: Context, email: str, columns: dict[str, Any]) -> Account:
    """Let an account wait for the proof of its normalized address or number, and return it as it would be.

    Raises UidTaken: another one waits under the id that was wished for.
    """
    held = pending_columns(columns)
    ends = context.now + LIFETIME
    row = {
        "tenant_id": context.tenant.tenant_id,
        "uid": columns["uid"],
        "email": email,
        "held": held,
        "expires_at": ends,
    }
    try:
        context.work.run(insert(waiting_accounts), row)
    except IntegrityError:
        raise e.UidTaken from None
    return _waiting(context, held)


def unprovable_identifier(uid: str) -> str:
    """Return under what an account waits for an address that nobody can prove: that of an account in use. It may be named
    another one yet."""
    return f"?{uid}"


def pending_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of an account that waits, out of its columns."""
    return {name: columns[name] for name in _KEPT}


def release(context: Context, held: dict[str, Any]) -> dict[str, Any]:
    """Take back what was registered and never proved, account or waiting, and return its columns.

    As many statements run where nothing is there, since the address was somebody else's: how long it takes tells nothing.

    Raises InUse.
    """
    uid = held["uid"]
    fresh = store.change(context, uid, {})
    if fresh is not None and not (is_replaceable(fresh) and fresh.password_hash == held["password_hash"]):
        raise AccountInUse
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid)
    found = context.work.one(delete(waiting_accounts).where(*where).returning(W.held))
    removal.delete_account_rows(
        context.work, uid, keep_tables=("credentials",)
    )  # what was made for it goes on waiting with it
    if fresh is not None:
        events.emit(context, "DeleteAccount", fresh, False)
        return {name: getattr(fresh, name) for name in _KEPT}
    return dict(found.held) if found is not None else held


def with_identifier(held: dict[str, Any], kind: str, shown: str) -> dict[str, Any]:
    """Return the columns with another address, or number, in the place of the one that was to be proved."""
    if kind == PHONE:
        return {**held, "phone": shown}
    former = normalize_email(held["email"] or "")
    others = [one for one in held["emails"] if normalize_email(one["Value"]) not in (former, normalize_email(shown))]
    return {**held, "email": shown, "emails": [{"Type": "Primary", "Value": shown}, *others]}


def extend(context: Context, uid: str) -> Account | None:
    """Let an account wait on for the proof of its address, because a new link is wanted; None where it is gone."""
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid)
    longer = update(waiting_accounts).where(*where).values(expires_at=context.now + LIFETIME)
    found = context.work.one(longer.returning(W.held))
    if found is None:
        return None
    return _waiting(context, found.held)


def activate(context: Context, uid: str) -> Account | None:
    """Make the waiting account whose address is being proved a real one; None where there is none, or it comes too late.

    The account that held the address is removed with its sessions, tokens, links and factors: its maker keeps nothing,
    and the one who proved the address inherits nothing.
    """
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid, W.expires_at > context.now)
    found = context.work.one(select(W.email).where(*where))
    if found is None:
        return None
    kind = _kind(found.email)
    holder = store.by_identifier(context, kind, found.email)
    locked = store.change(context, holder.uid, {}) if holder is not None else None
    if holder is not None and (locked is None or not is_claimable(locked, kind)):
        return None
    waited = remove_pending(
        context, found.email, but=uid
    )  # after the lock: who proves what the holder has comes in this order, too
    if uid not in waited:
        return None
    if locked is not None:
        take = remove_replaceable if is_replaceable(locked) else release_phone
        take(context, locked, uid)
    account = _add(context, waited[uid], found.email)
    events.emit(context, "Register", account, False)
    return account


def remove_pending(context: Context, email: str, *, but: str = "") -> dict[str, dict[str, Any]]:
    """Forget the accounts that wait for a normalized address or number which has been proved, and return their columns.

    Args:
        but: the id of the one that becomes real: it keeps its passkeys.
    """
    where = (W.tenant_id == context.tenant.tenant_id, W.email == email)
    ended = context.work.run(delete(waiting_accounts).where(*where).returning(W.uid, W.held)).all()
    removal.delete_orphaned_passkeys(context.work, [row.uid for row in ended if row.uid != but])
    return {row.uid: dict(row.held) for row in ended}


def remove_replaceable(context: Context, holder: Account, to: str) -> None:
    """Remove an account that `gives_way`, whole, for the one that proved its address."""
    removal.delete_account_rows(context.work, holder.uid)
    events.emit(context, "DeleteAccount", holder, False)
    context.audit.record("account.gave_way", uid=holder.uid, to=to)


def release_phone(context: Context, holder: Account, to: str) -> None:
    """Take a number from an account, which is locked, that only stated it, for the one that proved it."""
    store.remove_identifiers(context, holder.uid, PHONE)
    store.change(context, holder.uid, {"phone": None})
    context.audit.record("phone.gave_way", uid=holder.uid, to=to)


def is_phone_claimable(context: Context, phone: str) -> bool:
    """Return whether a person's account has the number and nobody proved it: others may state it as well, and hold it once
    they prove it."""
    holder = store.by_identifier(context, PHONE, phone)
    return holder is not None and is_claimable(holder, PHONE)


def is_contested(context: Context, email: str) -> bool:
    """Return whether more than one registered with the normalized address: who proves it need not have been this one."""
    where = (W.tenant_id == context.tenant.tenant_id, W.email == email, W.expires_at > context.now)
    waiting = context.work.run(select(W.uid).where(*where).limit(2)).all()
    return len(waiting) > 1 or bool(waiting and store.by_identifier(context, _kind(email), email))


def only_pending(context: Context, email: str) -> Account | None:
    """Return the account that waits for a normalized address or number, where only one does."""
    where = (W.tenant_id == context.tenant.tenant_id, W.email == email, W.expires_at > context.now)
    found = context.work.run(select(W.held).where(*where).limit(2)).all()
    return _waiting(context, found[0].held) if len(found) == 1 else None


def password_hash(context: Context, uid: str) -> str | None:
    """Return the hash of the password that was typed for an account that waits."""
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid, W.expires_at > context.now)
    found = context.work.one(select(W.held).where(*where))
    return found.held["password_hash"] if found else None


def _waiting(context: Context, held: Mapping[str, Any]) -> Account:
    """Return an account that waits, as it would be."""
    return Account(**{**_FRESH, **dict.fromkeys(_INSTANTS, context.now), **held, "read_at": context.now})


def _kind(form: str) -> str:
    return PHONE if form.startswith("+") and "@" not in form else EMAIL


def _add(context: Context, held: dict[str, Any], email: str) -> Account:
    """Add the account; a username, number or identity that somebody else took meanwhile is theirs."""
    names = [(_kind(email), email, False)]
    username = held.get("username")
    if username and store.by_identifier(context, USERNAME, username) is None:
        names.append((USERNAME, username, True))
    else:
        held["username"] = None
    phone = held.get("phone")
    if phone and phone != email:
        if store.by_identifier(context, PHONE, phone) is None:
            names.append((PHONE, phone, False))
        else:
            held["phone"] = None
    held["private"] = {**linked_identities.without_taken_identities(context, held["private"]), WAS_PENDING: True}
    return store.add(context, {**held, **dict.fromkeys(_INSTANTS, context.now)}, names)
