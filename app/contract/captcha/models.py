"""Captchas: challenges and their answers."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from app.kit.operations.wire import Wire

Provider = Literal["recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"]
"""Providers that a tenant may use instead of the built-in challenge."""


class CaptchaWidget(Wire):
    """The widget of the tenant's captcha provider."""

    provider: Provider
    site_key: str
    has_fallback: bool = True  # the built-in proof of work is offered too, for people who cannot use the widget


class CaptchaUse(StrEnum):
    """What a solved captcha allows. A challenge for one use is invalid for every other."""

    UNLOCK = "unlock"  # an attempt at a locked sign-in or code
    REGISTER = "register"
    FORGOT_PASSWORD = "forgot_password"
    CHANGE_PASSWORD = "change_password"
    UPDATE_PROFILE = "update_profile"


class CaptchaChallenge(Wire):
    """A single-use challenge, valid for half an hour; a proof of work solves it."""

    token: str
    work_seed: str
    work_bits: int  # SHA-256(seed + ":" + work) must begin with so many zero bits; 0: an emailed link solved it


class CaptchaAnswer(Wire):
    """The solution of a challenge, or the provider's response."""

    challenge: str = Field(default="", max_length=600)
    work: str = Field(default="", max_length=20)
    proof: str = Field(default="", max_length=8_000)
    randstr: str = Field(default="", max_length=200)  # the second part of Tencent's response


class LockChallenge(Wire):
    """`Data` of a lock error: the challenge that opens it."""

    captcha: CaptchaChallenge | None = None
    question_id: str | None = None  # the security question to answer

    def to_data(self) -> dict[str, Any]:
        """Return the `Data` member of an error."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
