"""Unlinks identities of external providers from accounts, which keep a sign-in method."""

from __future__ import annotations

from app.contract import errors
from app.identity.authentication.federation import federated_sign_in, token_handoff
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.directory.organizations import sign_in_methods
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose


def remove(context: Context, account: Account, provider: str, subject: str) -> Account:
    """Unlink an identity; return the changed account.

    Raises IdentityElsewhere, and LastSignInMethod where no other sign-in method remains, also under concurrent removals.
    """
    fresh = account_store.lock(context, account.uid) or account
    stored = next((identity for identity in linked_identities.of(fresh) if identity.key == (provider, subject)), None)
    if stored is None:
        raise errors.IdentityElsewhere
    if is_last_sign_in_method(context, fresh, stored):
        raise errors.LastSignInMethod
    return take_away(context, fresh, stored)


def take_away(context: Context, fresh: Account, item: Identity) -> Account:
    """Unlink an identity of a locked account, and revoke sign-ins in progress, which may have begun with it."""
    after = federated_sign_in.unlink(context, fresh, item)
    continuation_tokens.revoke_all(context, fresh.uid, ContinuationPurpose.SECOND_FACTOR, *token_handoff.KINDS)
    return after


def is_last_sign_in_method(context: Context, account: Account, item: Identity) -> bool:
    """Return whether the account has no other sign-in method under the tenant's current settings, and its organizations' policies.

    A member cannot leave the connection that an organization requires by disconnecting it and taking another address.
    """
    allowed = sign_in_methods.of_account(context, account)
    if allowed is not None and allowed.methods == (sign_in_methods.CONNECTION,):
        accepted = [
            other for other in linked_identities.of(account) if allowed.accepts(*allowed.methods, other.provider)
        ]
        if [other.key for other in accepted] == [item.key]:
            return True
    return not (
        _can_reset_or_type_password(context, account)
        or _has_passkey(context, account)
        or _has_other(context, account, item)
    )


def _can_reset_or_type_password(context: Context, account: Account) -> bool:
    """Return whether the account has a name that the tenant's pages take, and a password, or a mailbox or number that sets one."""
    settings = context.tenant.settings
    number = account.phone if settings.phone_login and account.phone_verified else None
    names = {"email": account.email, "username": account.username, "phone": number}
    resets = bool(number or (account.email and account.email_verified))
    return (resets or bool(account.password_hash)) and any(names[kind] for kind in settings.login_kinds)


def _has_passkey(context: Context, account: Account) -> bool:
    """Return whether a passkey of the account can sign in."""
    stored = passkey_store.by_account(context, account.uid) if context.tenant.settings.passkeys else ()
    return any(passkey_store.signs_in_alone(passkey) for passkey in stored)


def _has_other(context: Context, account: Account, item: Identity) -> bool:
    """Return whether another identity of the account is at a connection that signs in now."""
    working = federated_sign_in.active_names(context)
    return any(other.key != item.key and other.provider in working for other in linked_identities.of(account))
