"""Pending accounts: registrations with an address or phone number that another account has unverified (decision 0052).

The first registration whose address is verified becomes an account, with the data of that registration; the other account,
which had the address unverified, is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, exists, func, insert, literal_column, select, update
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.identity.directory.accounts import account_store, linked_identities, provider_tokens
from app.identity.directory.accounts.account import Account, no_organizations
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME, normalize_email
from app.identity.directory.accounts.tables import identifiers, waiting_accounts
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.store import removal
from app.identity.platform.store.compiled_statements import Compiled

LIFETIME = timedelta(days=3)  # of the verification link
SELF_REGISTERED = "self_registered"
"""The key in `private` of self-registered accounts: only these are replaceable."""
WAS_PENDING = "waited"
"""The key in `private` of accounts that were pending; verifying their address does not sign in another browser."""
_IS_SILENT = "is_silent"
"""The key in `private` of pending accounts whose registration asked that no webhook receives its event."""
W, I = waiting_accounts.c, identifiers.c  # noqa: E741 - short names of columns, as in all stores
_OF_ADDRESS = (W.tenant_id == bindparam("tenant"), W.email == bindparam("held"), W.expires_at > bindparam("now"))
_AS_IDENTIFIER = (I.tenant_id == bindparam("tenant"), I.kind == bindparam("held_as"), I.value == bindparam("held"))
_TWO = select(W.uid).where(*_OF_ADDRESS).limit(literal_column("2")).subquery("two")
_HOLDERS = Compiled(
    select(
        exists(select(I.uid).where(*_AS_IDENTIFIER)).label("has_account"),
        select(func.count()).select_from(_TWO).scalar_subquery().label("pending"),
    )
)
_COLUMNS = ("uid", "profile_id", "email", "emails", "username", "phone", "password_hash", "profile", "private")
_INSTANTS = ("created_at", "modified_at", "profile_modified_at", "password_changed_at")
_DEFAULTS: dict[str, Any] = {
    **{field.name: None for field in fields(Account)},
    **dict.fromkeys(("email_verified", "phone_verified", "is_deleted", "login_disabled", "is_locked"), False),
    **dict.fromkeys(("failed_attempts", "logins", "session_limit", "sessions_allowed"), 0),
    "is_active": True,
    "lock_type": "None",
    "organizations": no_organizations,
}


class AccountInUse(Exception):
    """The account was verified, signed in to, or belongs to another person, so its registration cannot change."""


def is_replaceable(account: Account) -> bool:
    """Return whether another registration may replace the account: self-registered, unverified and never signed in to."""
    is_self_registered = bool(account.private.get(SELF_REGISTERED))
    is_verified = account.phone_verified or account.has_verified_email
    return (
        is_self_registered
        and not _is_used(account)
        and not is_verified
        and not account.is_blocked
        and not account.is_deleted
    )


def has_unverified_phone(account: Account) -> bool:
    """Return whether an account in use has a phone number that it never verified, so that it may be another person's.

    A number set by the tenant's server counts as verified.
    """
    is_self_registered = bool(account.private.get(SELF_REGISTERED))
    return not account.phone_verified and (_is_used(account) or (is_self_registered and account.has_verified_email))


def is_claimable(holder: Account, kind: str) -> bool:
    """Return whether an account that verifies this identifier takes it from `holder`.

    A replaceable account is deleted; an unverified phone number is removed even from an account in use.
    """
    return is_replaceable(holder) or (kind == PHONE and has_unverified_phone(holder))


def _is_used(account: Account) -> bool:
    return account.logins > 0 or account.last_login_at is not None


def add(context: Context, email: str, columns: dict[str, Any]) -> Account:
    """Store a pending account for its normalized address or phone number, and return the account that it would become.

    Raises UidTaken: another pending account has the requested id.
    """
    data = pending_columns(columns)
    if context.suppresses_webhooks:
        data["private"] = {**data["private"], _IS_SILENT: True}
    expires_at = context.now + LIFETIME
    row = {
        "tenant_id": context.tenant.tenant_id,
        "uid": columns["uid"],
        "email": email,
        "held": data,
        "expires_at": expires_at,
    }
    try:
        context.work.run(insert(waiting_accounts), row)
    except IntegrityError:
        raise errors.UidTaken from None
    return _pending(context, data)


def unverifiable_identifier(uid: str) -> str:
    """Return the key of a pending account whose address belongs to an account in use, so that it cannot be verified.

    The registration may still change to another address.
    """
    return f"?{uid}"


def pending_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a pending account stores: without tokens of providers, which belong to accounts."""
    private = provider_tokens.without_unlinked(columns["private"], ())
    return {**{name: columns[name] for name in _COLUMNS}, "private": private}


def release(context: Context, columns: dict[str, Any]) -> dict[str, Any]:
    """Delete an unverified registration, account or pending account, and return its columns. Raises AccountInUse.

    Runs as many statements if there is none, so that the response time does not reveal whether the address was taken.
    """
    uid = columns["uid"]
    fresh = account_store.lock(context, uid)
    if fresh is not None and not (is_replaceable(fresh) and fresh.password_hash == columns["password_hash"]):
        raise AccountInUse
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid)
    removed = context.work.one(delete(waiting_accounts).where(*where).returning(W.held))
    # its passkeys stay with the pending account
    removal.delete_account_rows(context.work, uid, keep_tables=("credentials",))
    if fresh is not None:
        events.emit(context, "DeleteAccount", fresh)
        return {name: getattr(fresh, name) for name in _COLUMNS}
    return dict(removed.held) if removed is not None else columns


def with_identifier(columns: dict[str, Any], kind: str, entered: str) -> dict[str, Any]:
    """Return the columns with another address or phone number in place of the one to verify."""
    if kind == PHONE:
        return {**columns, "phone": entered}
    former = normalize_email(columns["email"] or "")
    replaced = (former, normalize_email(entered))
    stored = EmailList.read(columns["emails"], columns["email"], email_verified=False)
    others = (item for item in stored if item.normalized not in replaced)
    return {**columns, **EmailList((*EmailList.single(entered), *others), entered).changes_since(stored)}


def extend(context: Context, uid: str) -> Account | None:
    """Extend a pending account's lifetime for a new link; None if it no longer exists."""
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid)
    longer = update(waiting_accounts).where(*where).values(expires_at=context.now + LIFETIME)
    row = context.work.one(longer.returning(W.held))
    if row is None:
        return None
    return _pending(context, row.held)


def activate(context: Context, uid: str) -> Account | None:
    """Turn a pending account whose address was verified into an account; None if it is gone or another one has the address.

    The account that had the address unverified is deleted with its sessions, tokens, links and factors, so that neither
    side inherits anything from the other.
    """
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid, W.expires_at > context.now)
    row = context.work.one(select(W.email).where(*where))
    if row is None:
        return None
    kind = _kind(row.email)
    holder = account_store.by_identifier(context, kind, row.email)
    locked = account_store.lock(context, holder.uid) if holder is not None else None
    if holder is not None and (locked is None or not is_claimable(locked, kind)):
        return None
    # after the lock: verifying the holder's own address takes the locks in the same order
    removed = remove_pending(context, row.email, keep_passkeys_of=uid)
    if uid not in removed:
        return None
    if locked is not None:
        release_identifier = remove_replaceable if is_replaceable(locked) else release_phone
        release_identifier(context, locked, uid)
    is_silent = removed[uid]["private"].pop(_IS_SILENT, False)
    account = _add(context, removed[uid], row.email)
    events.emit(context.without_webhooks() if is_silent else context, "Register", account)
    return account


def remove_pending(context: Context, email: str, *, keep_passkeys_of: str = "") -> dict[str, dict[str, Any]]:
    """Delete all pending accounts of a verified normalized address or phone number, and return their columns.

    Args:
        keep_passkeys_of: the id of the pending account that becomes an account.
    """
    where = (W.tenant_id == context.tenant.tenant_id, W.email == email)
    rows = context.work.run(delete(waiting_accounts).where(*where).returning(W.uid, W.held)).all()
    removal.delete_orphaned_passkeys(context.work, [row.uid for row in rows if row.uid != keep_passkeys_of])
    return {row.uid: dict(row.held) for row in rows}


def remove_replaceable(context: Context, holder: Account, to: str) -> None:
    """Delete a replaceable account for account `to`, which verified its address."""
    removal.delete_account_rows(context.work, holder.uid)
    events.emit(context, "DeleteAccount", holder)
    context.audit.record("account.gave_way", uid=holder.uid, to=to)


def release_phone(context: Context, holder: Account, to: str) -> None:
    """Remove an unverified phone number from a locked account for account `to`, which verified it."""
    account_store.remove_identifiers(context, holder.uid, PHONE)
    account_store.change(context, holder.uid, {"phone": None})
    context.audit.record("phone.gave_way", uid=holder.uid, to=to)


def is_phone_claimable(context: Context, phone: str) -> bool:
    """Return whether an account has the phone number unverified, so that another account may claim it by verification."""
    holder = account_store.by_identifier(context, PHONE, phone)
    return holder is not None and is_claimable(holder, PHONE)


class Holders(NamedTuple):
    """Who has an address or phone number."""

    has_account: bool
    pending: int  # pending accounts with it; two stand for all above

    @property
    def is_contested(self) -> bool:
        """Whether there are several registrations with it."""
        return self.pending > 1 or (self.pending == 1 and self.has_account)


def holders(context: Context, email: str) -> Holders:
    """Return the account and the registrations with the normalized address or phone number."""
    parameters = {"tenant": context.tenant.tenant_id, "held_as": _kind(email), "held": email, "now": context.now}
    row = context.work.run(_HOLDERS, parameters).one()
    return Holders(bool(row.has_account), int(row.pending))


def is_contested(context: Context, email: str) -> bool:
    """Return whether there are several registrations with the normalized address."""
    return holders(context, email).is_contested


def only_pending(context: Context, email: str) -> Account | None:
    """Return the pending account of a normalized address or phone number if there is exactly one."""
    where = (W.tenant_id == context.tenant.tenant_id, W.email == email, W.expires_at > context.now)
    rows = context.work.run(select(W.held).where(*where).limit(2)).all()
    return _pending(context, rows[0].held) if len(rows) == 1 else None


def password_hash(context: Context, uid: str) -> str | None:
    """Return the password hash of a pending account."""
    where = (W.tenant_id == context.tenant.tenant_id, W.uid == uid, W.expires_at > context.now)
    row = context.work.one(select(W.held).where(*where))
    return row.held["password_hash"] if row else None


def _pending(context: Context, columns: Mapping[str, Any]) -> Account:
    """Return the account that a pending account would become."""
    return Account(**{**_DEFAULTS, **dict.fromkeys(_INSTANTS, context.now), **columns, "read_at": context.now})


def _kind(normalized: str) -> str:
    return PHONE if normalized.startswith("+") and "@" not in normalized else EMAIL


def _add(context: Context, columns: dict[str, Any], email: str) -> Account:
    """Create the account without the username, phone or identities that others took in the meantime."""
    names = [(_kind(email), email, False)]
    username = columns.get("username")
    if username and account_store.by_identifier(context, USERNAME, username) is None:
        names.append((USERNAME, username, True))
    else:
        columns["username"] = None
    phone = columns.get("phone")
    if phone and phone != email:
        if account_store.by_identifier(context, PHONE, phone) is None:
            names.append((PHONE, phone, False))
        else:
            columns["phone"] = None
    columns["private"] = {**linked_identities.without_taken_identities(context, columns["private"]), WAS_PENDING: True}
    return account_store.add(context, {**columns, **dict.fromkeys(_INSTANTS, context.now)}, names)
