"""The facts of a sign-in that its audit entry keeps, so that a workflow can be tried on past sign-ins.

No identifier and nothing of the profile is among them: those are read from the account when they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.platform.context import Context

IS_COMPLETE: Final = "logins"
"""Entries of older versions lack this fact, and all others: what is absent there is unknown, not false."""
_REGISTERED: Final = "account.registered"
_IDENTIFIERS: Final = frozenset({EMAIL, PHONE, USERNAME})


def of(
    context: Context, account: Account, methods: Sequence[str] = (), kind: str = EMAIL, new_signals: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the facts of a sign-in, those with a value.

    Args:
        account: as it was before the sign-in was counted.
        methods: amr (RFC 8176); none where they are not known.
        kind: of the identifier that named the account, or the connection.
        new_signals: of the origin, by the tenant's `risk` settings.
    """
    client, visit = context.client, context.visit
    is_registered = context.audit.has(_REGISTERED, account.uid)
    verified = ((EMAIL, account.email_verified), (PHONE, account.phone_verified))
    found: dict[str, Any] = {
        "methods": list(methods),
        "provider": kind if kind not in _IDENTIFIERS else None,
        "new": list(new_signals),
        "verified": [name for name, is_verified in verified if is_verified],
        "has_password": account.password_hash is not None,
        "registered": is_registered,
        "application": visit.application if visit is not None else client.name if client is not None else None,
        "language": visit.language if visit is not None else None,
    }
    return {
        "client_id": client.client_id if client is not None else None,
        IS_COMPLETE: 0 if is_registered else account.logins,
        **{name: value for name, value in found.items() if value},
    }
