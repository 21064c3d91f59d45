"""Captchas: challenges and their answers."""

from typing import Any, Literal

from pydantic import Field

from app.kit.operations.wire import Wire

Provider = Literal["recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"]
"""Providers that a tenant may use instead of the built-in challenge."""


class CaptchaWidget(Wire):
    """The widget of the tenant's captcha provider."""

    provider: Provider
    site_key: str
    has_question: bool = True  # the built-in question is offered too, for accessibility


class CaptchaQuestion(Wire):
    """A small task without text; the page words it in the visitor's language."""

    kind: Literal["sum", "difference", "largest", "smallest", "nth"]
    numbers: list[int]  # nth: the position first, then the list


class CaptchaChallenge(Wire):
    """A single-use challenge, valid for a few minutes; solved by the question or by proof of work."""

    token: str
    work_seed: str
    work_bits: int  # SHA-256(seed + ":" + work) must begin with so many zero bits
    question: CaptchaQuestion | None = None  # for pages only; programs use proof of work


class CaptchaAnswer(Wire):
    """The solution of a challenge (an answer in digits of any script, or work), or the provider's response."""

    challenge: str = Field(default="", max_length=600)
    answer: str = Field(default="", max_length=100)
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
