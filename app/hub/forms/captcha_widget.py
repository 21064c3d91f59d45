"""The widgets of captcha providers: where each one's script is, and what of the web it may use on our pages.

The script of our own that draws them is `static/js/widget.js`. Beside them stands our own question (decisions/0041).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from app.contract.captcha import Provider


@dataclass(frozen=True)
class Service:
    """A provider as browsers meet it."""

    name: str
    script: str
    sources: tuple[str, ...]
    """What its scripts, styles, frames and calls come from, as its manual says."""


_RECAPTCHA: Final = Service(
    "Google reCAPTCHA",
    "https://www.google.com/recaptcha/api.js",
    (
        "https://www.google.com/recaptcha/",
        "https://www.gstatic.com/recaptcha/",
        "https://recaptcha.google.com/recaptcha/",
    ),
)
SERVICES: Final[dict[Provider, Service]] = {
    "recaptcha_v2": _RECAPTCHA,
    "recaptcha_v3": _RECAPTCHA,
    "hcaptcha": Service(
        "hCaptcha", "https://js.hcaptcha.com/1/api.js", ("https://hcaptcha.com", "https://*.hcaptcha.com")
    ),
    "tencent": Service(
        "Tencent Captcha",
        "https://turing.captcha.qcloud.com/TCaptcha.js",
        ("https://*.captcha.qcloud.com", "https://*.captcha.gtimg.com", "https://*.captcha.qq.com"),
    ),
}


@dataclass(frozen=True, slots=True)
class Widget:
    """The widget of one tenant."""

    provider: Provider
    site_key: str
    has_question: bool = True
    """Whether a question of our own stands beside it."""

    @property
    def name(self) -> str:
        """What people know the provider by."""
        return SERVICES[self.provider].name

    @property
    def sources(self) -> tuple[str, ...]:
        """What a page that shows it allows, for the content security policy."""
        return SERVICES[self.provider].sources

    def script(self, language: str) -> str:
        """Return the address of the provider's script; nothing is drawn before ours asks for it."""
        render = self.site_key if self.provider == "recaptcha_v3" else "explicit"
        return f"{SERVICES[self.provider].script}?{urlencode({'render': render, 'hl': language})}"
