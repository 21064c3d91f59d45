"""Finds accounts and shows them. Writing them is `app.identity.management`, which stands above passwords and tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.contract import errors as e
from app.identity.accounts import identifiers, store
from app.identity.accounts.account import Account, full_name
from app.identity.accounts.identifiers import EMAIL, PHONE, PROFILE, USERNAME, normal
from app.identity.accounts.profile import profile_of
from app.identity.accounts.projection import project
from app.identity.call import Call


def by_uid(call: Call, uid: str) -> Account | None:
    """Return the account of that id."""
    return store.by_uid(call, uid)


def is_email(value: str) -> bool:
    """Return whether the text can be an address at all."""
    return identifiers.normal_email(value) is not None


def by_email(call: Call, value: str) -> Account | None:
    """Return the account that holds the address, in any spelling of it."""
    form = identifiers.normal_email(value)
    return store.by_identifier(call, EMAIL, form) if form else None


def by_username(call: Call, value: str) -> Account | None:
    form = identifiers.normal_username(value)
    return store.by_identifier(call, USERNAME, form) if form else None


def by_phone(call: Call, value: str) -> Account | None:
    form = identifiers.normal_phone(value)
    return store.by_identifier(call, PHONE, form) if form else None


def own(call: Call) -> Account:
    """Return the signed-in account; raises 1409 where it is closed or gone."""
    account = store.by_uid(call, call.account.uid)
    if account is None or not account.is_active or account.is_deleted:
        raise e.NotAuthenticated
    return account


def known(call: Call, uid: str) -> Account:
    """Return the account that an operation addresses; raises 1200 for what cannot be an id, 984 for one of nobody."""
    if not identifiers.has_uid_form(uid):
        raise e.MalformedUid
    account = store.by_uid(call, uid)
    if account is None:
        raise e.UnknownUid
    return account


def known_profile(call: Call, profile_id: str) -> Account:
    """Return the account that holds the profile of that id (the interface's `ID`); raises 984."""
    account = store.by_identifier(call, PROFILE, profile_id)
    if account is None:
        raise e.UnknownUid
    return account


def addressed(call: Call, *, email: str | None, username: str | None, phone: str | None) -> Account:
    """Return the account that exactly one identifier names.

    Raises:
        IdentifierMissing: none is given.
        BadParameter: more than one is given.
        MalformedEmail: the email cannot be one.
        UnknownAccount, UnknownUsername, UnknownPhone: no account has it.
    """
    given = [name for name, value in (("email", email), ("username", username), ("phone", phone)) if value]
    if not given:
        raise e.IdentifierMissing
    if len(given) > 1:
        raise e.BadParameter(f"The {given[1]} must not stand beside {given[0]}: exactly one identifier is expected.")
    if email:
        return with_email(call, email)
    found = by_username(call, username) if username else by_phone(call, phone or "")
    if found is None:
        raise e.UnknownUsername if username else e.UnknownPhone
    return found


def with_email(call: Call, email: str | None) -> Account:
    """Return the account of an address; raises 1032 missing, 1038 malformed, 938 unknown."""
    if not email:
        raise e.EmailMissing
    if identifiers.normal_email(email) is None:
        raise e.MalformedEmail
    account = by_email(call, email)
    if account is None:
        raise e.UnknownAccount
    return account


def grade_password(call: Call, account: Account, *, is_secure: bool) -> Account:
    """Keep whether the password meets the rules of today, and return the account with it.

    The row must be locked already, by a write of this unit of work: what lies beside it is read again and stays.
    """
    if is_secure == bool(account.private.get("is_secure_password")):
        return account
    fresh = store.by_uid(call, account.uid) or account
    private = {**fresh.private, "is_secure_password": is_secure}
    store.change(call, account.uid, {"private": private})
    return replace(account, private=private)


def signed_in_profile(call: Call, account: Account) -> dict[str, Any]:
    """Return the profile of an account that just signed in; `account` is as it was before."""
    after = replace(
        account,
        logins=account.logins + 1,
        last_login_at=call.now,
        modified_at=call.now,
        is_locked=False,
        lock_type="None",
        locked_until=None,
    )
    return {**profile_of(after), "FirstLogin": account.logins == 0}


__all__ = [
    "Account",
    "addressed",
    "by_email",
    "by_phone",
    "by_uid",
    "by_username",
    "full_name",
    "grade_password",
    "is_email",
    "known",
    "known_profile",
    "normal",
    "own",
    "profile_of",
    "project",
    "signed_in_profile",
    "with_email",
]
