"""What a tenant may switch of second factors (interface mfa.md section 5)."""

from typing import Literal

from pydantic import Field

from app.contract.stated import Stated

Action = Literal["none", "notify", "refuse", "block"]


class Risk(Stated):
    """What becomes of a sign-in from where the account never was (interface mfa.md section 9). `notify` mails the owner, who may say
    "this was not me"; `refuse` lets nobody in by password (1168 to 1171, 1287) and mails; `block` closes the account as well
    (1164). Where the tenant has second factors all of them only notify. The first sign-in of an account is never new."""

    device: Action = "none"
    browser: Action = "none"
    city: Action = "none"  # where `GATEHOUSE_LOCATIONS_FILE` tells places
    country: Action = "none"
    ip: Action = "none"
    remembered_days: int = Field(
        default=365, ge=1, le=3_650
    )  # after so long without a sign-in from there it is new again

    @property
    def watched(self) -> tuple[str, ...]:
        """What is looked at, in the interface's order."""
        return tuple(name for name in ("device", "browser", "city", "country", "ip") if getattr(self, name) != "none")


class SecondFactors(Stated):
    """Which authenticators people may use beside the first factor, where `two_factor` is not `disabled`."""

    totp: bool = True  # an authenticator app
    sms: bool = False
    email: bool = True
    security_questions: bool = False
    push: bool = False
    duo: bool = False
    passkey: bool = True
    minimum_questions: int = Field(default=2, ge=1, le=10)  # answers asked of whoever uses security questions
    backup_codes: bool = True  # ten codes on paper, for whoever lost the rest
    trusted_browser_days: int = Field(default=30, ge=0, le=365)  # "do not ask again here"; 0: always asked
    step_up: bool = True  # programs may let people prove again who they are (mfa.md section 7)
