"""The authenticators, in the order of preference of a challenge."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.authenticators.backup_codes import BackupCodes
from app.identity.credentials.authenticators.duo import Duo
from app.identity.credentials.authenticators.email_code import EmailCode
from app.identity.credentials.authenticators.passkey import Passkey
from app.identity.credentials.authenticators.protocol import Authenticator
from app.identity.credentials.authenticators.push import Push
from app.identity.credentials.authenticators.security_questions import SecurityQuestions
from app.identity.credentials.authenticators.sms import SmsCode
from app.identity.credentials.authenticators.totp import Totp

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
