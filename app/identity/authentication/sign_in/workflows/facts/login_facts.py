"""The facts of a sign-in that its audit entry keeps, so that a workflow can be tried on past sign-ins.

No identifier and nothing of the profile is among them: those are read from the account when they are needed.
"""

from __future__ import annotations

from typing import Any, Final

from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE

IS_COMPLETE: Final = "logins"
"""Entries of older versions lack this fact, and all others: what is absent there is unknown, not false."""
ORGANIZATION_NAMED: Final = "organization_named"
"""Whether the tokens can name an organization that is not chosen yet: which one it is, the entry does not have."""
_REGISTERED: Final = "account.registered"
_MAX_SCOPES: Final = 50


def of(moment: SignInMoment, new_signals: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the facts of a sign-in, those with a value.

    Args:
        moment: the sign-in, with the account as it was before the sign-in was counted.
        new_signals: of the origin, by the tenant's `risk` settings.
    """
    context, account, target = moment.context, moment.account, moment.target
    client, visit = target.client, context.visit
    is_registered = context.audit.has(_REGISTERED, account.uid)
    found: dict[str, Any] = {
        "methods": list(moment.authentication.methods),
        "provider": moment.provider,
        "new": list(new_signals),
        "verified": _verified(account),
        "has_password": account.password_hash is not None,
        "registered": is_registered,
        "application": client.name if client is not None else visit.application if visit is not None else None,
        "language": visit.language if visit is not None else None,
        "scopes": list(target.scopes[:_MAX_SCOPES]),
        **_organization(account, target),
    }
    return {
        "client_id": client.client_id if client is not None else None,
        IS_COMPLETE: 0 if is_registered else account.logins,
        **{name: value for name, value in found.items() if value},
    }


def _verified(account: Account) -> list[str]:
    verified = ((EMAIL, account.email_verified), (PHONE, account.phone_verified))
    return [name for name, is_verified in verified if is_verified]


def _organization(account: Account, target: SignInTarget) -> dict[str, Any]:
    """Return the organization that was chosen; without a query, the others are not known."""
    request = target.request
    if request.get("org_id") and request.get("org_uid") == account.uid:
        return {"organization": request["org_id"]}
    return {ORGANIZATION_NAMED: target.organization_request is not None}
