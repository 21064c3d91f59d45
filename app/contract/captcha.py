"""What tells people from machines: what our own pages show, and its answer."""

from typing import Any, Literal

from pydantic import Field

from app.kit.wire import Wire

Provider = Literal["recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"]
"""Whose challenge a tenant may use in place of ours."""


class Widget(Wire):
    """The challenge of the tenant's provider, which a script of the provider draws on our pages."""

    provider: Provider
    site_key: str
    has_question: bool = True  # our own stands beside it, for whoever cannot use it


class Question(Wire):
    """A small task without words: whoever shows it says it in the visitor's language."""

    kind: Literal["sum", "difference", "largest", "smallest", "nth"]
    numbers: list[int]  # nth: the position first, then the list


class Challenge(Wire):
    """One use, a few minutes. It is answered by the question or by work: either opens it."""

    token: str
    work_seed: str
    work_bits: int  # SHA-256(seed + ":" + work) must begin with so many zero bits
    question: Question | None = None  # to our own pages only: a program works


class CaptchaAnswer(Wire):
    """What came back with a challenge, an answer in any script's digits; or what the provider's widget gave instead."""

    challenge: str = Field(default="", max_length=600)
    answer: str = Field(default="", max_length=100)
    work: str = Field(default="", max_length=20)
    proof: str = Field(default="", max_length=8_000)
    randstr: str = Field(default="", max_length=200)  # the second half of Tencent's proof


class Lock(Wire):
    """What a refusal's `Data` says of the lock that it met, so that the page can ask at once."""

    captcha: Challenge | None = None
    question_id: str | None = None  # which of the tenant's security questions to answer

    def told(self) -> dict[str, Any]:
        """Return it as the data of an error."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
