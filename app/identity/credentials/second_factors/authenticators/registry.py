"""The authenticators, and the fallback factors.

Fallback factors serve a risk-based challenge of an account without enrolled factors: its mailbox, number or security answers.
They count for that sign-in alone and enrol nothing (decision 0106).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.second_factors.authenticators.authenticator import Authenticator
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

AUTHENTICATORS: Final[Mapping[FactorKind, Authenticator]] = MappingProxyType(
    {kind: import_module(f"{__package__}.{kind}").AUTHENTICATOR for kind in FactorKind}
)
"""Each from the module with the name of its kind, the preferred first."""


def fallback_kinds(context: Context, account: Account, channel: FactorKind | None = None) -> tuple[FactorKind, ...]:
    """Return the fallback kinds that the account has and the tenant enables, the preferred first, without the used `channel`."""
    settings = context.tenant.settings
    return tuple(
        kind
        for kind, authenticator in AUTHENTICATORS.items()
        if kind is not channel and authenticator.is_on(settings) and authenticator.is_fallback(context, account)
    )
