"""The authenticators, in the order in which people are asked for one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.identity.authenticators.backup_codes import BackupCodes
from app.identity.authenticators.duo import Duo
from app.identity.authenticators.email_code import EmailCode
from app.identity.authenticators.passkey import Passkey
from app.identity.authenticators.protocol import Authenticator
from app.identity.authenticators.push import Push
from app.identity.authenticators.questions import SecurityQuestions
from app.identity.authenticators.sms import SmsCode
from app.identity.authenticators.totp import Totp

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
