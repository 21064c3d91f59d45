"""The authenticators, in the order of preference of a challenge, and the fallback factors.

Fallback factors serve a risk-based challenge of an account without enrolled factors: its mailbox, number or security answers.
They count for that sign-in alone and enrol nothing (decisions/0106).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.authenticators.backup_codes import BackupCodes
from app.identity.credentials.authenticators.duo import Duo
from app.identity.credentials.authenticators.email_code import EmailCode, verified_addresses
from app.identity.credentials.authenticators.passkey import Passkey
from app.identity.credentials.authenticators.protocol import Authenticator
from app.identity.credentials.authenticators.push import Push
from app.identity.credentials.authenticators.security_questions import SecurityQuestions
from app.identity.credentials.authenticators.sms import SmsCode
from app.identity.credentials.authenticators.totp import Totp
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

AUTHENTICATORS: Final[Mapping[FactorKind, Authenticator]] = MappingProxyType(
    {
        one.kind: one
        for one in (
            Passkey(),
            Totp(),
            Push(),
            SmsCode(),
            EmailCode(),
            SecurityQuestions(),
            Duo(),
            BackupCodes(),
        )
    }
)


def _has_number(context: Context, account: Account) -> bool:
    return bool(account.phone and account.phone_verified and context.services.settings.sms_target)


def _has_mailbox(context: Context, account: Account) -> bool:  # noqa: ARG001 - one signature for all kinds
    return bool(verified_addresses(account))


def _has_answers(context: Context, account: Account) -> bool:
    return bool(context.tenant.settings.security_questions.keys() & account.security_answers.keys())


_FALLBACKS: Final[Mapping[FactorKind, Callable[[Context, Account], bool]]] = {
    FactorKind.SMS: _has_number,
    FactorKind.EMAIL: _has_mailbox,
    FactorKind.QUESTIONS: _has_answers,
}


def fallback_kinds(context: Context, account: Account, channel: FactorKind | None = None) -> tuple[FactorKind, ...]:
    """Return the fallback kinds that the account has and the tenant enables, the preferred first, without the used `channel`."""
    settings = context.tenant.settings
    return tuple(
        kind
        for kind, one in AUTHENTICATORS.items()
        if kind in _FALLBACKS and kind is not channel and one.is_on(settings) and _FALLBACKS[kind](context, account)
    )
