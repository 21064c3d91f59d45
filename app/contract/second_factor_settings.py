"""What a tenant may switch of second factors (interface mfa.md section 5)."""

from typing import Literal

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel

Action = Literal["none", "notify", "demand", "refuse", "block"]


class Risk(ConfigurationModel):
    """What happens at a sign-in from a new place. All actions notify the account holder, who may answer
    "this was not me"; `notify` does no more. `demand` asks for one more proof, whatever the first one was and however much the browser
    is trusted: a second factor where one is enrolled, else a code to the account's own proved mailbox or number, or its security
    answers, as far as `second_factors` has them (1165 to 1167). `refuse` lets nobody in by password (1168 to 1171, 1287); `block`
    closes the account as well (1164): where the tenant has second factors these two only tell. The first sign-in of an account is
    never new."""

    device: Action = "none"
    browser: Action = "none"
    city: Action = "none"  # needs `GATEHOUSE_LOCATIONS_FILE`
    country: Action = "none"
    ip: Action = "none"
    told_by: Literal["mail", "sms", "both"] = Field(
        default="mail",
        description="How the account is notified. An email is sent if there is no verified number or no SMS service.",
    )
    remembered_days: int = Field(
        default=365, ge=1, le=3_650
    )  # after so long without a sign-in from there it is new again

    @property
    def watched(self) -> tuple[str, ...]:
        """What is looked at, in the interface's order."""
        return tuple(name for name in ("device", "browser", "city", "country", "ip") if getattr(self, name) != "none")

    @property
    def demands(self) -> bool:
        """Whether anything of it demands one more proof."""
        return "demand" in (self.device, self.browser, self.city, self.country, self.ip)


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
    trusted_browser_days: int = Field(default=30, ge=0, le=365)  # "do not ask again here"; 0: always asked
    step_up: bool = True  # programs may request a step-up (mfa.md section 7)
