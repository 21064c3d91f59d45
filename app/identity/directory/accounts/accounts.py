"""Finds accounts and builds their profiles. `app.identity.use_cases` changes accounts, which needs passwords and tokens."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from app.contract import errors
from app.contract.auth import READS_TOKENS
from app.contract.profile import PROVIDER_TOKENS, Profile
from app.identity.directory.accounts import account_store, identifiers, linked_identities, provider_tokens
from app.identity.directory.accounts.account import Account, can_sign_in
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, PROFILE, USERNAME
from app.identity.directory.accounts.profile.profile_document import profile_of
from app.identity.directory.accounts.profile.selected_fields import project
from app.identity.platform import powers
from app.identity.platform.context import Context

_WITH_TOKENS: Final = re.compile(rf"{provider_tokens.MEMBER}|Identities|\*", re.IGNORECASE)
"""Texts of `fields` that can name a member with a provider's tokens."""


def by_uids(context: Context, uids: Collection[str]) -> dict[str, Account]:
    """Return the accounts with these ids by id, in one statement."""
    return {item.uid: item for item in account_store.by_uids(context, uids)} if uids else {}


def current_uid(context: Context, uid: str) -> str:
    """Return the present id of the account that has or had this id."""
    return account_store.current_uid(context, uid) or uid


def is_email(value: str) -> bool:
    """Return whether the text is a well-formed address."""
    return identifiers.normalize_email(value) is not None


def by_email(context: Context, value: str) -> Account | None:
    """Return the account with this address, in any spelling."""
    normalized = identifiers.normalize_email(value)
    return account_store.by_identifier(context, EMAIL, normalized) if normalized else None


def by_emails(context: Context, forms: Collection[str]) -> dict[str, Account]:
    """Return the accounts with these normalized addresses by address, in two statements for any number."""
    return account_store.by_identifiers(context, EMAIL, forms)


def by_username(context: Context, value: str) -> Account | None:
    normalized = identifiers.normalize_username(value)
    return account_store.by_identifier(context, USERNAME, normalized) if normalized else None


def by_phone(context: Context, value: str) -> Account | None:
    normalized = identifiers.normalize_phone(value)
    return account_store.by_identifier(context, PHONE, normalized) if normalized else None


def current(context: Context) -> Account:
    """Return the account of the access token or the visit; raises NotAuthenticated if it is gone or cannot sign in."""
    account = account_store.by_uid(context, context.account_uid)
    if account is None or not can_sign_in(account):
        raise errors.NotAuthenticated
    return account


def current_for_sign_on(context: Context) -> Account:
    """Return the account as `current` does, for a sign-on elsewhere; raises LoginNotAllowed while it is locked."""
    account = current(context)
    if account.is_locked_now:
        raise errors.LoginNotAllowed
    return account


def of_token(context: Context) -> Account | None:
    """Return the account of the access token as the token's statement read it; None if it is gone."""
    account: Account | None = context.token_holder.account
    return account


def lock(context: Context, uid: str) -> Account:
    """Lock and return the account. Raises UnknownUid."""
    account = account_store.lock(context, uid)
    if account is None:
        raise errors.UnknownUid
    return account


def require(context: Context, uid: str) -> Account:
    """Return the account with this id; raises MalformedUid, UnknownUid."""
    if not identifiers.is_well_formed_uid(uid):
        raise errors.MalformedUid
    account = account_store.by_uid(context, uid)
    if account is None:
        raise errors.UnknownUid
    return account


def require_by_profile_id(context: Context, profile_id: str) -> Account:
    """Return the account by profile id (the interface's `ID`); raises UnknownUid."""
    account = account_store.by_identifier(context, PROFILE, profile_id)
    if account is None:
        raise errors.UnknownUid
    return account


def require_by_identifier(context: Context, *, email: str | None, username: str | None, phone: str | None) -> Account:
    """Return the account by exactly one identifier.

    Raises:
        IdentifierMissing: none is given.
        BadParameter: more than one is given.
        MalformedEmail: the email cannot be one.
        UnknownAccount, UnknownUsername, UnknownPhone: no account has it.
    """
    names = [name for name, value in (("email", email), ("username", username), ("phone", phone)) if value]
    if not names:
        raise errors.IdentifierMissing
    if len(names) > 1:
        raise errors.BadParameter(
            f"The {names[1]} must not stand beside {names[0]}: exactly one identifier is expected."
        )
    if email:
        return require_by_email(context, email)
    account = by_username(context, username) if username else by_phone(context, phone or "")
    if account is None:
        raise errors.UnknownUsername if username else errors.UnknownPhone
    return account


def require_by_email(context: Context, email: str | None) -> Account:
    """Return the account by address; raises EmailMissing without one, MalformedEmail, UnknownAccount."""
    if not email:
        raise errors.EmailMissing
    if identifiers.normalize_email(email) is None:
        raise errors.MalformedEmail
    account = by_email(context, email)
    if account is None:
        raise errors.UnknownAccount
    return account


def record_password_strength(context: Context, account: Account, *, is_secure: bool) -> Account:
    """Store whether the password meets the current policy, and return the changed account.

    This unit of work must have locked the row by a write; the other members of `private` are read again.
    """
    if is_secure == bool(account.private.get("is_secure_password")):
        return account
    fresh = account_store.by_uid(context, account.uid) or account
    private = {**fresh.private, "is_secure_password": is_secure}
    account_store.change(context, account.uid, {"private": private})
    return replace(account, private=private)


def profile_for_server(context: Context, account: Account, fields: str | None) -> Profile:
    """Return the members of the profile that `fields` names. A provider's tokens need a scope of their own: they sign in natively.

    Those that a connection keeps are decrypted only if `fields` can name their member.
    """
    profile = profile_of(account)
    if context.program_scopes.isdisjoint({READS_TOKENS, powers.ALL}):
        _withhold_tokens(profile)
    elif not fields or _WITH_TOKENS.search(fields):
        _show_tokens(context, account, profile)
    return Profile.of(project(profile, fields))


def profile_for_owner(context: Context, account: Account, fields: str | None) -> Profile:
    """Return the members of the profile that `fields` names.

    It has the tokens that a server wrote for the token of a sign-in of ours alone: neither for an application's, nor for a visit.
    """
    profile = profile_of(account)
    is_of_application = context.holder is not None and context.holder.client_id is not None
    if is_of_application or context.visitor is not None:
        _withhold_tokens(profile)
    return Profile.of(project(profile, fields))


def _show_tokens(context: Context, account: Account, profile: dict[str, Any]) -> None:
    """Give each identity the access token that its connection keeps, and the account that of the latest sign-in (decision 0132).

    Costs one decryption for each identity with kept tokens. What somebody wrote earlier is not shown beside them, because it could be
    taken for the provider's.
    """
    if provider_tokens.KEY not in account.private:
        return
    latest = profile[provider_tokens.MEMBER] = None
    for identity, entry in zip(linked_identities.of(account), profile["Identities"] or (), strict=True):
        token = provider_tokens.valid_access_token(context, account, identity.key)
        if token is None:
            continue
        entry[provider_tokens.MEMBER] = {"AccessToken": token, "TokenSecret": None}
        used_at = identity.used_at or identity.linked_at
        if latest is None or used_at > latest:
            latest, profile[provider_tokens.MEMBER] = used_at, entry[provider_tokens.MEMBER]


def _withhold_tokens(profile: dict[str, Any]) -> None:
    for item in (profile, *(profile["Identities"] or ())):
        item.update(dict.fromkeys(PROVIDER_TOKENS & item.keys()))


def signed_in_profile(context: Context, account: Account) -> dict[str, Any]:
    """Return the profile after a sign-in; `account` is the account before it."""
    after = replace(
        account,
        logins=account.logins + 1,
        last_login_at=context.now,
        modified_at=context.now,
        is_locked=False,
        lock_type="None",
        locked_until=None,
    )
    return {**profile_of(after), "FirstLogin": account.logins == 0}
