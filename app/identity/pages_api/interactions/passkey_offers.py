"""Offers of a passkey after a sign-in by password, or by the passkey of another device.

The profile's PasskeyLogin stores a "not now": the kind of offer, and when to ask again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from app.identity.authentication.sign_in import allowed_methods
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.password_sign_in import PASSWORD
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants.urls import webauthn_origins
from app.identity.platform.context import Context
from app.kit.clock import iso

MEMBER: Final = "PasskeyLogin"
_PROGRESSIVE, _LOCAL, _DATE = "ProgressiveFlag", "LocalEnrollmentFlag", "ProgressiveEnrollmentDate"


def is_due(context: Context, account: Account, authentication: Authentication) -> bool:
    """Return whether a passkey is offered after a sign-in by password. Costs one query if the tenant offers passkeys.

    An account that lacks a passkey which its organization requires gets the offer at each sign-in.
    """
    settings = context.tenant.settings
    if settings.passkeys and account.email and allowed_methods.needs_passkey(context, account, authentication.methods):
        return webauthn_origins.supports_passkeys(context)
    is_on = settings.passkeys and settings.passkey_settings.progressive_enrollment
    if (
        not is_on
        or PASSWORD not in authentication.methods
        or not account.email
        or not webauthn_origins.supports_passkeys(context)
    ):
        return False
    return _is_offered_again(context, account, _PROGRESSIVE) and not passkey_store.by_account(context, account.uid)


def is_due_here(context: Context, account: Account) -> bool:
    """Return whether a passkey of this device is offered after a sign-in by another device's."""
    is_on = context.tenant.settings.passkey_settings.local_enrollment and bool(account.email)
    return is_on and _is_offered_again(context, account, _LOCAL)


def decline(context: Context, account: Account, *, is_local: bool) -> None:
    """Store a "not now" for the number of days that the tenant configured."""
    days = context.tenant.settings.passkey_settings.progressive_enrollment_days
    member = {
        **_stored(account),
        (_LOCAL if is_local else _PROGRESSIVE): True,
        _DATE: iso(context.now + timedelta(days=days)),
    }
    _store(context, account, member)


def accept(context: Context, account: Account) -> None:
    """Store that a passkey was created."""
    _store(context, account, {_PROGRESSIVE: False, _LOCAL: False, _DATE: iso(context.now)})


def _stored(account: Account) -> dict[str, Any]:
    stored = account.profile.get(MEMBER)
    return {_PROGRESSIVE: False, _LOCAL: False, _DATE: None, **(stored if isinstance(stored, dict) else {})}


def _store(context: Context, account: Account, member: dict[str, Any]) -> None:
    locked = account_store.lock(context, account.uid) or account
    profile = {**locked.profile, MEMBER: member}  # no edit of the profile: no application reads it
    account_store.change(context, account.uid, {"profile": profile, "profile_modified_at": locked.profile_modified_at})


def _is_offered_again(context: Context, account: Account, flag: str) -> bool:
    stored = _stored(account)
    if not stored.get(flag):
        return True
    try:
        until = datetime.fromisoformat(str(stored.get(_DATE)))
    except ValueError:
        return True
    return until.tzinfo is None or until <= context.now
