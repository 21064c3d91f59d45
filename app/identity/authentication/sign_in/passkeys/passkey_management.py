"""Passkeys of an account: add, rename, remove. First-factor and second-factor passkeys are managed together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.passkeys.models import PresentedCredential
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import credential_store, notifications
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.passkeys import ceremonies, passkey_store
from app.identity.credentials.passkeys.ceremonies import CeremonyUse, NewPasskey
from app.identity.credentials.passkeys.options import DEFAULT_PREFERENCES, CreationPreferences
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors, ChallengeOptions
from app.identity.credentials.second_factors.authenticators.passkey import user_entity
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

_MAX_NAME_LENGTH = 60


def begin_adding(
    context: Context, account: Account, preferences: CreationPreferences = DEFAULT_PREFERENCES
) -> dict[str, Any]:
    """Return the creation options of another passkey. Raises PasskeyNeedsEmail, PasskeyMisconfigured, TooManyRequests."""
    if not account.email:
        raise errors.PasskeyNeedsEmail
    existing = passkey_store.by_account(context, account.uid)
    return ceremonies.begin_registration(context, CeremonyUse.ADD, user_entity(account), existing, preferences)


def add(context: Context, account: Account, credential: PresentedCredential, name: str = "") -> Credential:
    """Store another passkey, and notify the account by mail. Raises PasskeyRefused, PasskeyMisconfigured."""
    new_passkey = ceremonies.verify_registration(context, CeremonyUse.ADD, credential, account.uid)
    stored = ceremonies.add_passkey(context, new_passkey, account.uid, **_name_fact(name))
    return _notify_added(context, account, stored)


def begin_adding_factor(context: Context, factors: AccountFactors) -> dict[str, Any]:
    """Return the creation options of a second-factor passkey. Raises PasskeyFactorOff, PasskeyMisconfigured."""
    authenticator = second_factors.enabled_authenticator(context, FactorKind.PASSKEY)
    return dict(authenticator.begin_enrolment(context, factors, ChallengeOptions()).options or {})


def add_factor(context: Context, account: Account, credential: PresentedCredential) -> Credential:
    """Store another passkey as a second factor."""
    new_passkey = ceremonies.verify_registration(context, CeremonyUse.FACTOR, credential, account.uid)
    return _notify_added(
        context, account, ceremonies.add_passkey(context, new_passkey, account.uid, passkey_store.FACTOR)
    )


def replace_all(context: Context, account: Account, new_passkey: NewPasskey) -> Credential:
    """Replace all sign-in passkeys by a passkey that a mailed link created; call it with the account locked.

    Second-factor passkeys stay, because the mailbox is no second factor. Where the account has a second factor, the
    new passkey counts as one factor. Sign-in passkeys that are the account's only second factor remain second factors, and no
    longer sign in alone.
    """
    factors = second_factors.of_account(context, account)
    has_second_factor = bool(second_factors.enrolled_kinds(context.tenant.settings, factors))
    others = tuple(other for other in factors.credentials if other.kind != passkey_store.SIGN_IN)
    if has_second_factor and not second_factors.enrolled_kinds(
        context.tenant.settings, replace(factors, credentials=others)
    ):
        passkey_store.restrict_to_second_factor(context, factors.credentials)
    else:
        credential_store.remove(context, account.uid, (passkey_store.SIGN_IN,))
    credential_store.remove_pending(context, account.uid)
    marks = passkey_store.marks(is_set_by_email=has_second_factor)
    stored = ceremonies.add_passkey(context, new_passkey, account.uid, **marks)
    return _notify_added(context, account, stored)


def rename(context: Context, account: Account, passkey_id: str, name: str) -> None:
    """Set the name of a passkey; raises UnknownPasskey."""
    passkey = _require(context, account.uid, passkey_id)
    credential_store.set_values(context, passkey, facts={**passkey.facts, "name": name.strip()[:_MAX_NAME_LENGTH]})


def remove(context: Context, account: Account, passkey_id: str) -> None:
    """Remove a passkey, and notify the account by mail; with the last second factor the backup codes are removed.

    Raises UnknownPasskey.
    """
    account_store.lock_unread(context, account.uid)
    passkey = _require(context, account.uid, passkey_id)
    is_last = (
        passkey.kind == passkey_store.FACTOR
        and len(credential_store.by_kind(context, account.uid, passkey_store.FACTOR)) == 1
    )
    if is_last:
        second_factors.remove(context, account.uid, FactorKind.PASSKEY)
    elif not credential_store.remove(context, account.uid, (passkey.kind,), passkey.credential_id):
        raise errors.UnknownPasskey
    context.audit.record("passkey.removed", uid=account.uid, passkey=passkey_id)
    notifications.notify(context, MailKind.PASSKEY_REMOVED, account.email, account)


def _require(context: Context, uid: str, passkey_id: str) -> Credential:
    passkey = next(
        (other for other in passkey_store.by_account(context, uid) if other.credential_id == passkey_id), None
    )
    if passkey is None:
        raise errors.UnknownPasskey
    return passkey


def _notify_added(context: Context, account: Account, stored: Credential) -> Credential:
    context.audit.record("passkey.added", uid=account.uid, passkey=stored.credential_id, kind=stored.kind)
    # The mail has an alert link, because a passkey may sign in without another factor.
    notifications.notify_with_alert_link(context, MailKind.PASSKEY_ADDED, account.email, account)
    return stored


def _name_fact(name: str) -> dict[str, str]:
    return {"name": name.strip()[:_MAX_NAME_LENGTH]} if name.strip() else {}
