"""Changes of an account by the tenant's servers or by its owner, who may set
different fields: writes what was checked and hashed before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.contract import errors
from app.contract.accounts.account_operations import PinInfo
from app.identity.directory import pictures
from app.identity.directory.accounts import account_store, pin_hash
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes import former_language
from app.identity.directory.accounts.email_list import MAX_EMAILS, EmailList
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.directory.accounts.input_checks import taken
from app.identity.directory.accounts.profile import profile_edits
from app.identity.platform.context import Context

Columns = dict[str, Any]


@dataclass(frozen=True)
class CheckedUpdate:
    """A checked update that needs no further look-up."""

    edits: profile_edits.Edits
    addresses: EmailList | None = None
    username: str | None = None
    drops_username: bool = False
    phone: str | None = None
    password_hash: str | None = field(default=None, repr=False)
    answers: dict[str, str] = field(default_factory=dict, repr=False)
    pin_info: PinInfo | None = field(default=None, repr=False)
    pin_hash: str | None = field(default=None, repr=False)
    is_own: bool = False  # requested by the account's owner: an address counts once it is verified
    known_hash: str | None = field(default=None, repr=False)  # of the current password, which the owner typed

    @property
    def has_secret(self) -> bool:
        """Return whether the change sets something that signs in or resets the password."""
        return bool(self.password_hash or self.answers or self.pin_hash)


@dataclass(frozen=True)
class ChangedAccount:
    """An account before and after."""

    before: Account
    after: Account

    @property
    def has_new_password(self) -> bool:
        return self.before.password_hash != self.after.password_hash


def write(
    context: Context, uid: str, change: CheckedUpdate, more: Callable[[Account, Columns], Columns] | None = None
) -> ChangedAccount:
    """Write a change; return the account before and after it.

    The row is locked before it is read again, so that concurrent changes do not overwrite each other.

    Args:
        more: returns further columns, given the locked account and the columns so far.

    Raises:
        UnknownUid: the account was deleted meanwhile.
        EmailUpdateRefused: the addresses differ from the account's; they have operations of their own.
        WrongCurrentPin: the owner sends another PIN here, where the current PIN is not checked.
        WrongCurrentPassword: the account got another password after the owner's was verified.
        UsernameTaken, EmailRegistered, PhoneTaken: another account of the tenant holds it.
    """
    fresh = account_store.lock(context, uid)
    if fresh is None:
        raise errors.UnknownUid
    values = {**_profile(context, change, fresh), **_secrets(context, change, fresh)}
    try:
        values.update(_identifiers(context, change, fresh))
    except account_store.IdentifierTaken as conflict:
        raise taken(conflict) from None
    if more is not None:
        values.update(more(fresh, values))
    after = account_store.change(context, uid, values)
    if after is None:
        raise errors.UnknownUid
    if after.profile.get("ImageUrl") != fresh.profile.get("ImageUrl"):
        pictures.delete_of_account(context.work, uid)
    return ChangedAccount(fresh, after)


def _profile(context: Context, change: CheckedUpdate, fresh: Account) -> Columns:
    profile = change.edits.apply(fresh.profile)
    return {"profile": profile, "profile_modified_at": context.now} if profile != fresh.profile else {}


def _secrets(context: Context, change: CheckedUpdate, fresh: Account) -> Columns:
    private = {
        **fresh.private,
        **former_language.remember(fresh, change.edits.apply(fresh.profile), context.now),
    }
    values: Columns = {}
    if change.is_own and change.has_secret and fresh.password_hash != change.known_hash:
        raise errors.WrongCurrentPassword
    if change.is_own and change.pin_hash and fresh.has_pin:
        raise errors.WrongCurrentPin("A PIN that is set is changed with the present one.")
    private |= pin_hash.private_entry(context, fresh.uid, fresh.pin, change.pin_info, change.pin_hash)
    if change.answers:
        private["security_answers"] = {**fresh.security_answers, **change.answers}
    if change.password_hash:
        policy = context.tenant.settings.password_policy
        earlier = [fresh.password_hash, *fresh.password_history] if fresh.password_hash else fresh.password_history
        private["password_history"] = earlier[: max(0, policy.history - 1)]
        private |= {"is_secure_password": policy.common_check, "is_password_breached": False}
        values = {"password_hash": change.password_hash, "password_changed_at": context.now}
    return {**values, "private": private} if private != fresh.private or values else {}


def _identifiers(context: Context, change: CheckedUpdate, fresh: Account) -> Columns:
    """Add and remove identifiers; return their columns. Raises IdentifierTaken, EmailUpdateRefused."""
    values: Columns = {}
    added = []
    if change.addresses is not None:
        present = {item.normalized for item in fresh.email_list.present}
        if present and present != set(change.addresses.forms):
            raise errors.EmailUpdateRefused
        if not present and change.is_own:
            values.update(_own_emails(context, fresh, change.addresses))
        elif not present:
            values.update(change.addresses.changes_since(fresh.email_list))
            added += change.addresses.identifiers()
    if change.phone is not None and fresh.phone is None and not change.is_own:
        values["phone"] = change.phone
        added.append((PHONE, change.phone, False))
    if change.drops_username or (change.username is not None and change.username != fresh.username):
        account_store.remove_identifiers(context, fresh.uid, USERNAME)
        values["username"] = change.username
        added += [(USERNAME, change.username, True)] if change.username else []
    account_store.add_identifiers(context, fresh.uid, added)
    return values


def _own_emails(context: Context, fresh: Account, addresses: EmailList) -> Columns:
    """Return the columns of claimed addresses, pending verification, beside those that are pending already.

    Raises EmailUpdateRefused for too many, and IdentifierTaken unless the tenant hides accounts.
    """
    after = fresh.email_list.with_pending(*addresses)
    if len(after) > MAX_EMAILS:
        raise errors.EmailUpdateRefused
    if not context.tenant.settings.hide_unknown_accounts:
        for normalized in addresses.forms:
            if account_store.by_identifier(context, EMAIL, normalized) is not None:
                raise account_store.IdentifierTaken(EMAIL)
    return after.changes_since(fresh.email_list)
