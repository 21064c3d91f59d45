"""Management programs read and write the captcha. The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract.resources import singleton
from app.kit.operations.wire import Wire
from app.kit.resources.resource import COMPUTED, READ, UPDATE, InSettings, VerbOptions

EnabledCaptcha = Literal["QQTencentCaptcha", "GoogleRecaptchaV2", "GoogleRecaptchaV3", "HCaptcha"]


class CaptchaKeys(Wire):
    """The key pair that the provider issued. Responses mask `PrivateKey`; send the masked value to keep it."""

    public_key: Annotated[str, Field(max_length=200)] = ""
    private_key: Annotated[str | None, Field(max_length=500)] = None


class ScoredCaptchaKeys(CaptchaKeys):
    """A key pair with a threshold: for GoogleRecaptchaV3 the lowest score that passes, for HCaptcha the highest risk."""

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5


class CaptchaConfiguration(Wire):
    """The captcha at sign-up, after failed sign-ins and at risky ones. With `IsEnabled` it's that of the provider
    `EnabledCaptcha`; otherwise it's the built-in one, a proof of work. Gatehouse stores only the keys of the enabled
    provider."""

    is_enabled: Annotated[bool, COMPUTED] = False
    enabled_captcha: Annotated[EnabledCaptcha | None, COMPUTED] = None
    qq_tencent_captcha: Annotated[CaptchaKeys | None, COMPUTED, Field(alias="QQTencentCaptcha")] = None
    google_recaptcha_v2: Annotated[CaptchaKeys | None, COMPUTED, Field(alias="GoogleRecaptchaV2")] = None
    google_recaptcha_v3: Annotated[ScoredCaptchaKeys | None, COMPUTED, Field(alias="GoogleRecaptchaV3")] = None
    h_captcha: Annotated[ScoredCaptchaKeys | None, COMPUTED, Field(alias="HCaptcha")] = None


CAPTCHA = singleton(
    "captcha_settings", "/v2/manage/captcha", CaptchaConfiguration, kind="captcha", noun="captcha settings",
    about="They say which captcha protects sign-up, locked accounts and risky sign-ins: a provider’s, or the built-in one.",
    verbs=(VerbOptions(READ, "read"), VerbOptions(UPDATE, "change")), scope="security", backing=InSettings(),
)  # fmt: skip
