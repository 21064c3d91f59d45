"""The security check-up: the protections that the tenant offers, and whether the account has each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.contract.accounts.pages.security_pages import FEW_CODES, CheckupStep, Improvement
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
    factors = second_factors.of_account(context, account, credentials=credentials)
    return not all(is_done for _, is_done in _steps(context, factors))


def view(context: Context, factors: AccountFactors) -> list[CheckupStep]:
    """Return each protection that the tenant offers, the most urgent first."""
    return [CheckupStep(improvement=improvement, is_done=is_done) for improvement, is_done in _steps(context, factors)]


def _steps(context: Context, factors: AccountFactors) -> Iterator[tuple[Improvement, bool]]:
    """Yield each protection and whether the account has it. Only the tenant decides which there are: a total that grew with a
    step that is done would never let the account finish.
    """
    settings = context.tenant.settings
    if settings.two_factor != "disabled":
        enrolled = set(second_factors.enrolled_kinds(settings, factors)) - APART
        if enrolled or set(second_factors.available_kinds(settings)) - APART:
            yield Improvement.TWO_STEP, bool(enrolled)
            if settings.second_factors.backup_codes:
                codes = factors.enrolled(FactorKind.BACKUP_CODE) if enrolled else ()
                yield Improvement.BACKUP_CODES, len(codes) > FEW_CODES
    if settings.passkeys:
        yield Improvement.PASSKEY, bool(passkey_store.passkeys_among(factors.credentials))
