"""The authenticators, in the order of preference of a challenge, and the fallback factors.

Fallback factors serve a risk-based challenge of an account without enrolled factors: its mailbox, number or security answers.
They count for that sign-in alone and enrol nothing (decision 0106).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.authenticators.backup_codes import BackupCodesAuthenticator
from app.identity.credentials.authenticators.duo import DuoAuthenticator
from app.identity.credentials.authenticators.email_code import EmailCodeAuthenticator, verified_addresses
from app.identity.credentials.authenticators.passkey import PasskeyAuthenticator
from app.identity.credentials.authenticators.protocol import Authenticator
from app.identity.credentials.authenticators.push import PushAuthenticator
from app.identity.credentials.authenticators.security_questions import SecurityQuestionsAuthenticator
from app.identity.credentials.authenticators.sms import SmsCodeAuthenticator
from app.identity.credentials.authenticators.totp import TotpAuthenticator
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

AUTHENTICATORS: Final[Mapping[FactorKind, Authenticator]] = MappingProxyType(
    {
        item.kind: item
        for item in (
            PasskeyAuthenticator(),
            TotpAuthenticator(),
            PushAuthenticator(),
            SmsCodeAuthenticator(),
            EmailCodeAuthenticator(),
            SecurityQuestionsAuthenticator(),
            DuoAuthenticator(),
            BackupCodesAuthenticator(),
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
        for kind, authenticator in AUTHENTICATORS.items()
        if kind in _FALLBACKS
        and kind is not channel
        and authenticator.is_on(settings)
        and _FALLBACKS[kind](context, account)
    )
