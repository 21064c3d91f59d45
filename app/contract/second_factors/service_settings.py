"""External services of second factors: a cloud's push service, and Duo. Their secrets are stored encrypted, separately."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel, WebUrl
from app.contract.tenants.key_formats import apns_environment, pkcs12, service_account


def _service(name: str) -> str:
    if not any(word in name.lower() for word in ("aws", "amazon", "sns")):
        raise ValueError("AWS, the only service that this version supports")
    return name


Arn = Annotated[str, Field(pattern=r"^(arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]+:app/[A-Za-z0-9_/-]+)?$", max_length=300)]
Secret = Annotated[str, Field(max_length=20_000)]
DUO_HOST = r"^(api-[a-z0-9]+\.(duosecurity|duofederal)\.com)?$"


class PushAndroid(ConfigurationModel):
    """The application for Android, as SNS knows it."""

    enabled: bool = False
    platform_arn: Arn = ""
    store_url: WebUrl | None = None


class PushIos(ConfigurationModel):
    """The application for iOS, as SNS knows it."""

    enabled: bool = False
    platform_arn: Arn = ""
    store_url: WebUrl | None = None
    bundle_id: str = Field(default="", max_length=200)
    environment: str = Field(default="production", max_length=30)  # `sandbox` or `development`: Apple's other service

    @property
    def is_sandbox(self) -> bool:
        return self.environment.strip().lower() in ("sandbox", "development")


def _known_environment(ios: PushIos) -> PushIos:
    """Check what a file states. A stored one is read as it is, because older versions stored any text."""
    try:
        apns_environment(ios.environment)
    except ValueError as problem:
        raise ValueError(f"environment: {problem}") from None
    return ios


class PushSettings(ConfigurationModel):
    """Approval on another device. `settings.second_factors.push` switches it."""

    service: Annotated[str, AfterValidator(_service), Field(max_length=50)] = "AWS"
    app_name: str = Field(default="", max_length=60)  # the app's name on pages; empty: the tenant's name
    qr_code_width: int = Field(default=250, ge=80, le=1_000)  # pixels
    message: str = Field(default="Do you want to sign in?", min_length=1, max_length=200)  # in the prompt
    number_matching: bool = True  # pages show a number that must be chosen on the device
    region: Annotated[str, Field(pattern=r"^([a-z]{2}(-[a-z]+)+-[0-9])?$", max_length=30)] = ""
    android: PushAndroid = PushAndroid()
    ios: PushIos = PushIos()


class PushSecrets(ConfigurationModel):
    """Credentials that the services issued."""

    access_key_id: Secret = ""
    secret_access_key: Secret = ""
    service_json: Annotated[Secret, AfterValidator(service_account)] = ""  # of Firebase; a change is sent to SNS
    apns_certificate: Annotated[Secret, AfterValidator(pkcs12)] = (
        ""  # base64 of a PKCS 12 file without a password; a change is sent to SNS
    )


class DuoSettings(ConfigurationModel):
    """Duo's Universal Prompt. `settings.second_factors.duo` switches it."""

    client_id: str = Field(default="", max_length=100)
    api_host: Annotated[str, Field(pattern=DUO_HOST)] = ""
    redirect_uris: tuple[WebUrl, ...] = Field(default=(), max_length=50)  # beside `url_whitelist`


class PushFile(PushSettings):
    """Approval on another device, with secrets; absent ones stay unchanged."""

    ios: Annotated[PushIos, AfterValidator(_known_environment)] = PushIos()
    secrets: PushSecrets | None = None


class DuoFile(DuoSettings):
    """Duo's Universal Prompt, with its secret; an absent one stays unchanged."""

    client_secret: Secret | None = None


SECRETS_IN_FILE: Mapping[str, Mapping[str, object]] = {
    "push": {"secrets": True},
    "duo": {"client_secret": True},
    "connections": {"__all__": {"secret": True, "apple_certificate": True, "consumer_secret": True}},
}
"""The secret member of each service's settings, which is encrypted and stored separately."""
