"""Management programs read and write the external services of second factors.

A response shows secrets as `********`; a request with that value leaves them unchanged."""

from typing import Annotated

from pydantic import AfterValidator, Field

from app.contract import errors
from app.contract.resources import singleton
from app.contract.tenants.key_formats import apns_environment, pkcs12, service_account, unless_masked
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
    COMPUTED,
    CREATE,
    READ,
    SECRET,
    UPDATE,
    Flattened,
    InSettings,
    Malformed,
    SettingsKey,
    StoredAs,
    VerbOptions,
)

Text = Annotated[str | None, Field(max_length=500)]
Url = Annotated[Text, AfterValidator(lambda url: url or None)]
Secret = Annotated[str | None, Field(max_length=20_000), SECRET]
Arn = Annotated[Text, Field(alias="PlatformARN")]


class AwsSettings(Wire):
    access_key_id: Secret = None
    secret_access_key: Secret = None
    region: Text = None


class AndroidSettings(Wire):
    enabled: bool = False
    platform_arn: Arn = None
    playstore_url: Annotated[Url, StoredAs("store_url")] = None
    service_json: Annotated[
        Secret, AfterValidator(unless_masked(service_account)), SettingsKey("push.service_json")
    ] = None


class IosSettings(Wire):
    enabled: bool = False
    appstore_url: Annotated[Url, StoredAs("store_url")] = None
    platform_arn: Arn = None
    bundle_id: Text = None
    apns_certificate: Annotated[Secret, AfterValidator(unless_masked(pkcs12)), SettingsKey("push.apns_certificate")] = (
        None
    )
    environment: Annotated[Text, AfterValidator(unless_masked(apns_environment))] = None


class PushNotificationSettings(Wire):
    """The settings of push notifications. Responses show secrets as `********`; send that value to keep them."""

    is_enabled: Annotated[bool, SettingsKey("second_factors.push")] = True
    notification_service: Annotated[Text, StoredAs("service")] = None
    custom_app_name: Annotated[Text, StoredAs("app_name")] = None
    qr_code_width: int | None = Field(default=None, alias="QRCodeWidth")
    message: Text = None
    aws_settings: Annotated[AwsSettings | None, Flattened()] = Field(default=None, alias="AWSsettings")
    android_settings: Annotated[AndroidSettings | None, StoredAs("android")] = None
    ios_settings: Annotated[IosSettings | None, StoredAs("ios")] = Field(default=None, alias="IOSsettings")


class DuoAuthenticatorSettings(Wire):
    """Your Duo application. Responses show the secret as `********`; send that value to keep it."""

    is_enabled: Annotated[bool, SettingsKey("second_factors.duo")] = True
    client_id: Text = None
    client_secret: Secret = None
    api_host: Text = None
    redirect_uris: Annotated[list[str], Malformed(errors.MalformedDuoRedirect)] = Field(
        default_factory=list, alias="RedirectURIs", max_length=50
    )


class TwoFactorConfig(Wire):
    """Which second factors are available."""

    is_second_factor_authenticator_enabled: Annotated[bool, COMPUTED]
    is_required: Annotated[bool, COMPUTED] = False
    is_authenticator_enabled: Annotated[bool, SettingsKey("second_factors.totp")] = False
    is_email_otp_authenticator_enabled: Annotated[bool, SettingsKey("second_factors.email")] = False
    is_sms_otp_authenticator_enabled: Annotated[bool, SettingsKey("second_factors.sms")] = False
    is_security_question_as_mfa_enabled: Annotated[bool, SettingsKey("second_factors.security_questions")] = Field(
        default=False, alias="IsSecurityQuestionAsMFAEnabled"
    )
    minimum_security_questions_to_ask: Annotated[int, SettingsKey("second_factors.minimum_questions")] = Field(
        default=2, ge=1, le=10
    )
    is_push_authenticator_enabled: Annotated[bool, SettingsKey("second_factors.push")] = False
    is_duo_authenticator_enabled: Annotated[bool, SettingsKey("second_factors.duo")] = False
    is_passkey_mfa_enabled: Annotated[bool, SettingsKey("second_factors.passkey")] = Field(
        default=False, alias="IsPasskeyMFAEnabled"
    )


_AREA, _AT = "second_factor_settings", "/v2/manage/2fa"

PUSH = singleton(
    _AREA, f"{_AT}/push-notification-settings", PushNotificationSettings, kind="push", noun="push notification settings",
    about="They say how devices are notified of a sign-in. Secrets are masked in responses; send the mask back to leave "
    "them unchanged.",
    verbs=(VerbOptions(READ, "read_push"), VerbOptions(CREATE, "add_push"), VerbOptions(UPDATE, "change_push")), scope="security",
    backing=InSettings("push"), unset=errors.NoPushSettings,
)  # fmt: skip
DUO = singleton(
    _AREA, f"{_AT}/duo-authenticator-settings", DuoAuthenticatorSettings, kind="duo", noun="Duo settings",
    about="They connect the tenant to Duo. The secret is masked in responses; send the mask back to leave it unchanged.",
    verbs=(VerbOptions(READ, "read_duo"), VerbOptions(UPDATE, "change_duo")), scope="security", backing=InSettings("duo"),
    unset=errors.DuoMisconfigured,
)  # fmt: skip
CONFIG = singleton(
    _AREA, f"{_AT}/config", TwoFactorConfig, kind="two_factor", noun="second factor settings",
    about="They say which second factors are available and whether one is required.",
    scope="security", backing=InSettings(),
    verbs=(
        VerbOptions(READ, "read_config", ""),
        VerbOptions(UPDATE, "change_config", ""),
    ),
)  # fmt: skip
