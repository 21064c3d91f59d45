"""Fallback factors for a risk-based challenge of an account without enrolled factors: its mailbox, number or security answers.

They count for that sign-in alone and enrol nothing (decisions/0106).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.authenticators import email_code
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def _has_number(context: Context, account: Account) -> bool:
    return bool(account.phone and account.phone_verified and context.services.settings.sms_target)


def _has_mailbox(context: Context, account: Account) -> bool:  # noqa: ARG001 - as the others
    return bool(email_code.verified_addresses(account))


def _has_answers(context: Context, account: Account) -> bool:
    return bool(context.tenant.settings.security_questions.keys() & account.security_answers.keys())


_FALLBACKS: Final[Mapping[FactorKind, Callable[[Context, Account], bool]]] = {
    FactorKind.SMS: _has_number,
    FactorKind.EMAIL: _has_mailbox,
    FactorKind.QUESTIONS: _has_answers,
}


def kinds(context: Context, account: Account, channel: FactorKind | None = None) -> tuple[FactorKind, ...]:
    """Return the fallback kinds that the account has and the tenant enables, the preferred first, without the used `channel`."""
    settings = context.tenant.settings
    return tuple(
        kind
        for kind, one in AUTHENTICATORS.items()
        if kind in _FALLBACKS and kind is not channel and one.is_on(settings) and _FALLBACKS[kind](context, account)
    )
