"""Management programs read and write what second factors go through outside (interface tenant-config.md section 8)."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.auth import M
from app.contract.error_profiles import MANAGE
from app.contract.operations import operation
from app.kit.operation import Accept
from app.kit.wire import Nothing, Wire

MASKED = "********"
"""What stands in an answer for a secret; in a request it leaves the secret as it is."""
Text = Annotated[str | None, Field(max_length=500)]
Secret = Annotated[str | None, Field(max_length=20_000)]


class AwsSettings(Wire):
    access_key_id: Secret = None
    secret_access_key: Secret = None
    region: Text = None


class AndroidSettings(Wire):
    enabled: bool = False
    platform_arn: Text = Field(default=None, alias="PlatformARN")
    playstore_url: Text = None
    service_json: Secret = None


class IosSettings(Wire):
    enabled: bool = False
    appstore_url: Text = None
    platform_arn: Text = Field(default=None, alias="PlatformARN")
    bundle_id: Text = None
    apns_certificate: Secret = None
    environment: Text = None


class PushNotificationSettings(Wire):
    """Secrets are answered as `********`; in a request that leaves them as they are."""

    is_enabled: bool = True
    notification_service: Text = None
    custom_app_name: Text = None
    qr_code_width: int | None = Field(default=None, alias="QRCodeWidth")
    message: Text = None
    aws_settings: AwsSettings | None = Field(default=None, alias="AWSsettings")
    android_settings: AndroidSettings | None = None
    ios_settings: IosSettings | None = Field(default=None, alias="IOSsettings")


class DuoAuthenticatorSettings(Wire):
    """The secret is answered as `********`; in a request that leaves it as it is."""

    is_enabled: bool = True
    client_id: Text = None
    client_secret: Secret = None
    api_host: Text = None
    redirect_uris: list[str] = Field(default_factory=list, alias="RedirectURIs", max_length=50)


class TwoFactorConfig(Wire):
    """Which second factors are on."""

    is_second_factor_authenticator_enabled: bool
    is_required: bool = False
    is_authenticator_enabled: bool = False
    is_email_otp_authenticator_enabled: bool = False
    is_sms_otp_authenticator_enabled: bool = False
    is_security_question_as_mfa_enabled: bool = Field(default=False, alias="IsSecurityQuestionAsMFAEnabled")
    minimum_security_questions_to_ask: int = Field(default=2, ge=1, le=10)
    is_push_authenticator_enabled: bool = False
    is_duo_authenticator_enabled: bool = False
    is_passkey_mfa_enabled: bool = Field(default=False, alias="IsPasskeyMFAEnabled")


_PUSH, _DUO, _CONFIG = (
    f"/v2/manage/2fa/{name}" for name in ("push-notification-settings", "duo-authenticator-settings", "config")
)

read_push = operation(
    "second_factor_settings.read_push", f"GET {_PUSH}", Nothing, PushNotificationSettings, auth=M, scope="security:read",
    error_profile=MANAGE, errors=(e.NoPushSettings,), summary="Read the push notification settings.",
)  # fmt: skip
add_push = operation(
    "second_factor_settings.add_push", f"POST {_PUSH}", PushNotificationSettings, PushNotificationSettings, auth=M,
    scope="security:create", error_profile=MANAGE, accepts=Accept.JSON, summary="Set the push notification settings.",
)  # fmt: skip
change_push = operation(
    "second_factor_settings.change_push", f"PUT {_PUSH}", PushNotificationSettings, PushNotificationSettings, auth=M,
    scope="security:update", error_profile=MANAGE, accepts=Accept.JSON, errors=(e.NoPushSettings,),
    summary="Replace the push notification settings.",
)  # fmt: skip
read_duo = operation(
    "second_factor_settings.read_duo", f"GET {_DUO}", Nothing, DuoAuthenticatorSettings, auth=M, scope="security:read",
    error_profile=MANAGE, errors=(e.DuoMisconfigured,), summary="Read the Duo settings.",
)  # fmt: skip
change_duo = operation(
    "second_factor_settings.change_duo", f"PUT {_DUO}", DuoAuthenticatorSettings, DuoAuthenticatorSettings, auth=M,
    scope="security:update", error_profile=MANAGE, accepts=Accept.JSON, errors=(e.MalformedDuoRedirect,),
    summary="Replace the Duo settings.",
)  # fmt: skip
read_config = operation(
    "second_factor_settings.read_config", f"GET {_CONFIG}", Nothing, TwoFactorConfig, auth=M, scope="security:read", error_profile=MANAGE,
    summary="Read which second factors are on.",
)  # fmt: skip
change_config = operation(
    "second_factor_settings.change_config", f"PUT {_CONFIG}", TwoFactorConfig, TwoFactorConfig, auth=M, scope="security:update",
    error_profile=MANAGE, accepts=Accept.JSON, summary="Set which second factors are on.",
)  # fmt: skip
