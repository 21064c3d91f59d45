"""A tenant's settings of risk checks at sign-in. The docstrings are published."""

from typing import Literal

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel

Action = Literal["none", "notify", "demand", "refuse", "block"]


class Risk(ConfigurationModel):
    """The action at a sign-in from a new device, browser, city, country or IP address.

    Every action but `none` notifies the account, which may answer "this was not me". `demand` requires a further factor, even
    in a trusted browser: an enrolled second factor, else a code to a verified address or number, or the security answers, as
    far as `second_factors` allows them (1165 to 1167). `refuse` refuses the password (1168 to 1171, 1287); `block` also blocks
    the account (1164); if the tenant has second factors, these two only notify. The first sign-in of an account is never new.
    """

    device: Action = "none"
    browser: Action = "none"
    city: Action = "none"  # needs `GATEHOUSE_LOCATIONS_FILE`
    country: Action = "none"
    ip: Action = "none"
    told_by: Literal["mail", "sms", "both"] = Field(
        default="mail",
        description="How the account is notified. If there's no verified number or no SMS service, an email is sent.",
    )
    # a device or place that was not used for so long is new again
    remembered_days: int = Field(default=365, ge=1, le=3_650)

    @property
    def watched(self) -> tuple[str, ...]:
        """The checks that are on, in the interface's order."""
        if self.device == self.browser == self.city == self.country == self.ip == "none":
            return ()  # of most tenants; each sign-in asks three times
        actions = {
            "device": self.device,
            "browser": self.browser,
            "city": self.city,
            "country": self.country,
            "ip": self.ip,
        }
        return tuple([name for name, action in actions.items() if action != "none"])

    @property
    def demands(self) -> bool:
        """Whether a check requires a further factor."""
        return "demand" in (self.device, self.browser, self.city, self.country, self.ip)
