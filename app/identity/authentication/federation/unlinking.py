"""Unlinks identities of external providers from accounts, which keep a sign-in method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.contract import errors
from app.contract.federation.pages.identity_pages import Lacking
from app.identity.authentication.federation import federated_sign_in, token_handoff
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.directory.organizations import sign_in_methods
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose

_NAMES: Final[Mapping[str, Lacking]] = {"email": "email", "username": "username", "phone": "phone"}


def remove(context: Context, account: Account, provider: str, subject: str) -> Account:
    """Unlink an identity; return the changed account.

    Raises IdentityElsewhere, and LastSignInMethod where no other sign-in method remains, also under concurrent removals.
    """
    fresh = account_store.lock(context, account.uid) or account
    stored = next((identity for identity in linked_identities.of(fresh) if identity.key == (provider, subject)), None)
    if stored is None:
        raise errors.IdentityElsewhere
    if lacking(context, fresh, stored) is not None:
        raise errors.LastSignInMethod
    return take_away(context, fresh, stored)


def take_away(context: Context, fresh: Account, item: Identity) -> Account:
    """Unlink an identity of a locked account, and revoke sign-ins in progress, which may have begun with it."""
    after = federated_sign_in.unlink(context, fresh, item)
    continuation_tokens.revoke_all(context, fresh.uid, ContinuationPurpose.SECOND_FACTOR, *token_handoff.KINDS)
    return after


def lacking(context: Context, account: Account, item: Identity) -> Lacking | None:
    """Return what the account needs to sign in without an identity; None if it has another sign-in method.

    The tenant's current settings count, and the policies of its organizations: a member cannot leave the connection that an
    organization requires by disconnecting it and taking another address.
    """
    allowed = sign_in_methods.of_account(context, account)
    if allowed is not None and allowed.methods == (sign_in_methods.CONNECTION,):
        accepted = [
            other for other in linked_identities.of(account) if allowed.accepts(*allowed.methods, other.provider)
        ]
        if [other.key for other in accepted] == [item.key]:
            return "connection"
    missing = _missing_for_password(context, account)
    has_another = missing is None or _has_passkey(context, account) or _has_other(context, account, item)
    return None if has_another else missing


def _missing_for_password(context: Context, account: Account) -> Lacking | None:
    """Return what a sign-in by password lacks: a name that the tenant's pages take, then a password, or a mailbox or number that
    sets one; None if it lacks nothing.
    """
    settings = context.tenant.settings
    number = account.phone if settings.phone_login and account.phone_verified else None
    names: dict[str, str | None] = {"email": account.email, "username": account.username, "phone": number}
    if not any(names[kind] for kind in settings.login_kinds):
        return _NAMES[settings.login_kinds[0]]
    resets = bool(number or (account.email and account.email_verified))
    return None if resets or account.password_hash else "password"


def _has_passkey(context: Context, account: Account) -> bool:
    """Return whether a passkey of the account can sign in."""
    stored = passkey_store.by_account(context, account.uid) if context.tenant.settings.passkeys else ()
    return any(passkey_store.signs_in_alone(passkey) for passkey in stored)


def _has_other(context: Context, account: Account, item: Identity) -> bool:
    """Return whether another identity of the account is at a connection that signs in now."""
    working = federated_sign_in.active_names(context)
    return any(other.key != item.key and other.provider in working for other in linked_identities.of(account))
