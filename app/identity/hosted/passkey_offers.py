"""A passkey is offered after a sign-in: to whoever typed a password, and to whoever used another device's passkey.

The profile's PasskeyLogin remembers a "not now" (interface mfa.md section 6.1): which offer it was, and when to ask again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.sign_in.service import PASSWORD
from app.identity.credentials.passkeys import store
from app.identity.directory.accounts import store as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants import webauthn_origins
from app.identity.platform.context import Context
from app.kit.clock import iso

MEMBER: Final = "PasskeyLogin"
_PROGRESSIVE, _LOCAL, _DATE = "ProgressiveFlag", "LocalEnrollmentFlag", "ProgressiveEnrollmentDate"


def is_due(context: Context, account: Account, authentication: Authentication) -> bool:
    """Return whether a passkey is offered after a sign-in by password. One statement, where the tenant offers any."""
    settings = context.tenant.settings
    is_on = settings.passkeys and settings.passkey_settings.progressive_enrollment
    if (
        not is_on
        or PASSWORD not in authentication.methods
        or not account.email
        or not webauthn_origins.supports_passkeys(context)
    ):
        return False
    return _asks_again(context, account, _PROGRESSIVE) and not store.by_account(context, account.uid)


def is_due_here(context: Context, account: Account) -> bool:
    """Return whether a passkey of this device is offered after one of another device."""
    is_on = context.tenant.settings.passkey_settings.local_enrollment and bool(account.email)
    return is_on and _asks_again(context, account, _LOCAL)


def decline(context: Context, account: Account, *, is_local: bool) -> None:
    """Remember a "not now": it is asked again after as many days as the tenant says."""
    days = context.tenant.settings.passkey_settings.progressive_enrollment_days
    said = {
        **_held(account),
        (_LOCAL if is_local else _PROGRESSIVE): True,
        _DATE: iso(context.now + timedelta(days=days)),
    }
    _keep(context, account, said)


def accept(context: Context, account: Account) -> None:
    """Remember that a passkey was made."""
    _keep(context, account, {_PROGRESSIVE: False, _LOCAL: False, _DATE: iso(context.now)})


def _held(account: Account) -> dict[str, Any]:
    kept = account.profile.get(MEMBER)
    return {_PROGRESSIVE: False, _LOCAL: False, _DATE: None, **(kept if isinstance(kept, dict) else {})}


def _keep(context: Context, account: Account, said: dict[str, Any]) -> None:
    fresh = accounts.change(context, account.uid, {}) or account
    accounts.change(context, account.uid, {"profile": {**fresh.profile, MEMBER: said}})


def _asks_again(context: Context, account: Account, flag: str) -> bool:
    held = _held(account)
    if not held.get(flag):
        return True
    try:
        until = datetime.fromisoformat(str(held.get(_DATE)))
    except ValueError:
        return True
    return until.tzinfo is None or until <= context.now
