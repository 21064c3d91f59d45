"""Management programs read and write how people sign in to a tenant: passkeys, passwords, sessions, authenticator apps.

The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.resources import singleton
from app.kit.operations.wire import Wire
from app.kit.resources.resource import COMPUTED, READ, UPDATE, InSettings, SettingsKey, StoredAs, VerbOptions

MINUTE, HOUR, DAY = 60, 3_600, 86_400  # in seconds


class PasskeyConfig(Wire):
    """The tenant's passkey settings. `RPID` is the tenant's host, a verified custom domain, or a domain above one; it can change
    only while no account has a passkey. `RPOrigins` starts with the tenant's own addresses; the others are related origins
    (WebAuthn level 3), where the same passkeys work."""

    is_enabled: Annotated[bool, SettingsKey("passkeys")]
    passkey_selection: Annotated[Literal["Autofill", "Button", "Both"], COMPUTED] = "Both"
    progressive_enrollment: Annotated[bool, SettingsKey("passkey_settings.progressive_enrollment")] = True
    progressive_enrollment_delay: Annotated[int, SettingsKey("passkey_settings.progressive_enrollment_days")] = Field(
        default=30, description="Days until a declined offer is repeated."
    )
    local_enrollment: Annotated[bool, SettingsKey("passkey_settings.local_enrollment")] = True
    rp_display_name: Annotated[str | None, SettingsKey("passkey_settings.name")] = Field(
        default=None, alias="RPDisplayName", max_length=64
    )
    rp_id: Annotated[str | None, COMPUTED] = Field(default=None, alias="RPID", max_length=300)
    rp_origins: Annotated[list[str], COMPUTED] = Field(default_factory=list, alias="RPOrigins", max_length=31)


class PasswordPolicySettings(Wire):
    """The requirements for new passwords. `PasswordValidationRules` lists those for length and characters as
    `min_length[10]|max_length[128]|lowercase|uppercase|number|symbol`. One list serves as dictionary and as common passwords."""

    dictionary_password_validation: Annotated[bool, COMPUTED] = True
    profile_data_password_validation: Annotated[bool, SettingsKey("password_policy.profile_check")] = True
    profile_data_password_exact_match: Annotated[bool, SettingsKey("password_policy.profile_exact_match")] = False
    common_password_prevention_validation: Annotated[bool, COMPUTED] = True
    max_password_history: Annotated[int, SettingsKey("password_policy.history")] = 5
    expiration_frequency: Annotated[int, COMPUTED] = Field(default=0, ge=0, le=3_650)
    expiration_frequency_type: Annotated[Literal["day", "week", "month", "year"], COMPUTED] = "day"
    password_validation_rules: Annotated[str, COMPUTED] = Field(default="", max_length=200)


class SessionConfig(Wire):
    """How long sessions and tokens last, in seconds. `SessionLimit` is the maximum number of concurrent sessions of an account;
    0 means no limit."""

    access_token_ttl: Annotated[int, COMPUTED] = Field(default=15 * MINUTE, alias="AccessTokenTTL", ge=1, le=90 * DAY)
    refresh_token_ttl: Annotated[int, COMPUTED] = Field(default=60 * DAY, alias="RefreshTokenTTL", ge=1, le=365 * DAY)
    session_idle_ttl: Annotated[int, COMPUTED] = Field(default=2 * HOUR, alias="SessionIdleTTL", ge=1, le=30 * DAY)
    session_ttl: Annotated[int, COMPUTED] = Field(default=DAY, alias="SessionTTL", ge=1, le=365 * DAY)
    remember_me: Annotated[bool, SettingsKey("remember_me")] = True
    remember_me_ttl: Annotated[int, COMPUTED] = Field(default=30 * DAY, alias="RememberMeTTL", ge=1, le=365 * DAY)
    session_limit: Annotated[int, SettingsKey("session_limit")] = 0


class TotpAuthenticatorSettings(Wire):
    """The settings of authenticator apps. They show `IssuerId`, or the tenant's name if it's null. `AccountSecretKey` is always
    null, because each account has a random secret of its own."""

    is_enabled: Annotated[bool, SettingsKey("second_factors.totp")] = True
    qr_code_width: Annotated[int, StoredAs("qr_code_width")] = Field(default=250, alias="QRCodeWidth")
    issuer_id: Annotated[str | None, StoredAs("issuer")] = Field(default=None, max_length=64)
    account_secret_key: Annotated[str | None, COMPUTED] = Field(default=None, max_length=500)


_AREA = "security_settings"
_PASSKEYS = "/v2/manage/passkey-config"
_PASSWORDS = "/v2/manage/password-policies"
_SESSIONS = "/v2/manage/session-config"
_TOTP = "/v2/manage/2fa/totp-authenticator-settings"  # fmt: skip

PASSKEYS = singleton(
    _AREA, _PASSKEYS, PasskeyConfig, kind="passkeys", noun="passkey settings",
    about="They say where passkeys are offered and for which domain they work. `RPID` can change only while no account has "
    "a passkey.",
    scope="security", backing=InSettings(),
    verbs=(VerbOptions(READ, "read_passkeys", errors=(errors.PasskeysOff,)), VerbOptions(UPDATE, "change_passkeys")),
)  # fmt: skip
PASSWORDS = singleton(
    _AREA, _PASSWORDS, PasswordPolicySettings, kind="password_policy", noun="password policy",
    about="It says what new passwords must satisfy.", scope="security",
    verbs=(VerbOptions(READ, "read_passwords"), VerbOptions(UPDATE, "change_passwords")), backing=InSettings(),
)  # fmt: skip
SESSIONS = singleton(
    _AREA, _SESSIONS, SessionConfig, kind="session_lifetimes", noun="session settings",
    about="They say how long sessions and tokens last, in seconds, and how many sessions an account can have.",
    scope="security",
    verbs=(VerbOptions(READ, "read_sessions"), VerbOptions(UPDATE, "change_sessions")), backing=InSettings(),
)  # fmt: skip
TOTP = singleton(
    _AREA, _TOTP, TotpAuthenticatorSettings, kind="totp", noun="authenticator app settings",
    about="They say what authenticator apps show.", scope="security",
    verbs=(VerbOptions(READ, "read_totp"), VerbOptions(UPDATE, "change_totp")), backing=InSettings("totp"), unset=errors.NoTotpSettings,
)  # fmt: skip
