"""A tenant's settings of PINs, passkeys, second factors and risk checks.

Sources: interface user.md section 10, tenant-config.md (PasskeyConfig), mfa.md section 5. The docstrings are published.
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from app.contract.configuration_model import ConfigurationModel, Different, web_origin

MIN_PIN_LENGTH, MAX_PIN_LENGTH = 4, 6  # digits: interface limits.md section 6


class Pins(ConfigurationModel):
    """PINs: a few digits beside the password. A PIN alone is no sign-in: with a session
    token it renews a program's session, and it reauthenticates a signed-in account. Wrong PINs count with wrong passwords."""

    is_on: bool = False
    required: bool = False  # programs receive error 1243, the hosted pages ask for a PIN
    ask_on_registration: bool = False  # with `required`, a registration without a PIN is refused: 1234
    ask_on_login: bool = False  # the hosted pages offer to set a PIN; it can be skipped
    ask_only_on_first_login: bool = False  # only at the first sign-in
    login: bool = False  # sign-ins of programs receive a session_token, which renews the session with a PIN
    session_minutes: int = Field(default=1_440, ge=1, le=525_600)  # lifetime of the session_token
    min_length: int = Field(default=MIN_PIN_LENGTH, ge=MIN_PIN_LENGTH, le=MAX_PIN_LENGTH)
    max_length: int = Field(default=MAX_PIN_LENGTH, ge=MIN_PIN_LENGTH, le=MAX_PIN_LENGTH)
    common_check: bool = True  # refuse repeated and consecutive digits: 1111, 1234, 9876

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(f"max_length: at least min_length, which is {self.min_length}; found {self.max_length}")
        return self


RelatedOrigin = Annotated[str, AfterValidator(web_origin), Field(max_length=300)]


class Passkeys(ConfigurationModel):
    """How passkeys are offered if `passkeys` is on."""

    selection: Literal["autofill", "button", "both"] = "both"  # autofill alone fails in browsers without it
    progressive_enrollment: bool = True  # offer a passkey after a sign-in with a password
    progressive_enrollment_days: int = Field(default=30, ge=1, le=365)  # until a declined offer is repeated
    local_enrollment: bool = True  # offer a passkey of this device after a sign-in with another device
    name: str | None = Field(default=None, min_length=1, max_length=64)  # shown by browsers; default: the display name
    # RP ID: a custom domain, or a domain above it, once that is verified; default: the tenant's own host
    rp_id: str | None = Field(default=None, max_length=253, pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")
    # other addresses of the tenant where its passkeys work (WebAuthn level 3 section 5.11)
    related_origins: Annotated[tuple[RelatedOrigin, ...], Different] = Field(default=(), max_length=20)


class Totp(ConfigurationModel):
    """How authenticator apps show an account. `second_factors.totp` switches them."""

    qr_code_width: int = Field(default=250, ge=80, le=1_000)  # pixels, in responses to programs
    issuer: str | None = Field(default=None, min_length=1, max_length=64)  # default: the display name


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
    step_up: bool = True  # programs may request a step-up (mfa.md section 7)

    @property
    def has_any(self) -> bool:
        """Whether one authenticator is on."""
        return any((self.totp, self.sms, self.email, self.security_questions, self.push, self.duo, self.passkey))
