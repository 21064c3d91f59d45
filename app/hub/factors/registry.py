"""The faces of all authenticators."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.hub.factors import backup_code, duo, email, passkey, push, security_questions, sms, totp
from app.hub.factors.presentation import FactorPresentation

PRESENTATIONS: Final[Mapping[FactorKind, FactorPresentation]] = MappingProxyType(
    {
        one.PRESENTATION.kind: one.PRESENTATION
        for one in (passkey, totp, push, sms, email, security_questions, duo, backup_code)
    }
)
