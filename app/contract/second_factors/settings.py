"""A tenant's settings of second factors. The docstrings are published."""

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel
from app.contract.second_factors.challenge import FactorKind


class Totp(ConfigurationModel):
    """How authenticator apps show an account. `second_factors.totp` switches them."""

    qr_code_width: int = Field(default=250, ge=80, le=1_000)  # pixels, in responses to programs
    issuer: str | None = Field(default=None, min_length=1, max_length=64)  # default: the display name


class SecondFactors(ConfigurationModel):
    """The available authenticators, if `two_factor` is not `disabled`."""

    totp: bool = True  # an authenticator app
    sms: bool = False
    email: bool = True
    security_questions: bool = False
    push: bool = False
    duo: bool = False
    passkey: bool = True
    minimum_questions: int = Field(default=2, ge=1, le=10)  # required number of security answers
    backup_codes: bool = True  # ten single-use codes for recovery
    skip_backup_codes: bool = Field(
        default=False,
        description="Whether people who turn on two-step verification can continue without saving their backup codes.",
    )
    trusted_browser_days: int = Field(default=30, ge=0, le=365)  # "do not ask again here"; 0: always asked
    step_up: bool = True  # programs may request a step-up

    @property
    def has_any(self) -> bool:
        """Whether one authenticator is on that counts without another one."""
        return any(self.is_on(kind) for kind in FactorKind if kind is not FactorKind.BACKUP_CODE)

    def is_on(self, kind: FactorKind) -> bool:
        """Return whether an authenticator is on."""
        return bool(self.backup_codes if kind is FactorKind.BACKUP_CODE else getattr(self, kind))
