"""The security check-up: the protections that an account uses and lacks, and the most urgent of the missing ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.contract.accounts.pages.security_pages import FEW_CODES, CheckupView, Improvement
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.passkeys import passkey_store
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

APART: Final = frozenset({FactorKind.BACKUP_CODE, FactorKind.PASSKEY})
"""Kinds that the account pages manage on pages of their own."""


def has_task(context: Context, account: Account, credentials: tuple[Credential, ...] | None = None) -> bool:
    """Return whether the account could be made safer; `credentials` are the account's, where they are read already."""
    return view(context, second_factors.of_account(context, account, credentials=credentials)).next is not None


def view(context: Context, factors: AccountFactors) -> CheckupView:
    steps = list(_steps(context, factors))
    to_do = [improvement for improvement, is_done in steps if not is_done]
    return CheckupView(done=len(steps) - len(to_do), count=len(steps), next=to_do[0] if to_do else None)


def _steps(context: Context, factors: AccountFactors) -> Iterator[tuple[Improvement, bool]]:
    """Yield each protection that the tenant offers, and whether the account has it, the most urgent first."""
    settings = context.tenant.settings
    if settings.two_factor != "disabled":
        enrolled = set(second_factors.enrolled_kinds(settings, factors)) - APART
        offered = set(second_factors.available_kinds(settings)) - APART
        if enrolled and settings.second_factors.backup_codes:
            yield Improvement.BACKUP_CODES, len(factors.enrolled(FactorKind.BACKUP_CODE)) > FEW_CODES
        if enrolled or offered:
            yield Improvement.TWO_STEP, bool(enrolled)
    if settings.passkeys:
        yield Improvement.PASSKEY, bool(passkey_store.passkeys_among(factors.credentials))
