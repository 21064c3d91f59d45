"""The widgets of captcha providers: script addresses, and sources for the Content-Security-Policy.

`static/js/widget.js` renders them, and offers the built-in proof of work beside them (decision 0402).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from app.contract.captcha.models import Provider


@dataclass(frozen=True)
class WidgetProvider:
    """A captcha provider."""

    name: str
    script: str
    sources: tuple[str, ...]
    """Sources of its scripts, styles, frames and connections, from its documentation."""


_RECAPTCHA: Final = WidgetProvider(
    "Google reCAPTCHA",
    "https://www.google.com/recaptcha/api.js",
    (
        "https://www.google.com/recaptcha/",
        "https://www.gstatic.com/recaptcha/",
        "https://recaptcha.google.com/recaptcha/",
    ),
)
SERVICES: Final[dict[Provider, WidgetProvider]] = {
    "recaptcha_v2": _RECAPTCHA,
    "recaptcha_v3": _RECAPTCHA,
    "hcaptcha": WidgetProvider(
        "hCaptcha", "https://js.hcaptcha.com/1/api.js", ("https://hcaptcha.com", "https://*.hcaptcha.com")
    ),
    "tencent": WidgetProvider(
        "Tencent Captcha",
        "https://turing.captcha.qcloud.com/TCaptcha.js",
        ("https://*.captcha.qcloud.com", "https://*.captcha.gtimg.com", "https://*.captcha.qq.com"),
    ),
}


@dataclass(frozen=True, slots=True)
class WidgetView:
    """A tenant's widget."""

    provider: Provider
    site_key: str
    has_fallback: bool = True
    """Whether the built-in proof of work is offered beside it."""

    @property
    def name(self) -> str:
        """The provider's name."""
        return SERVICES[self.provider].name

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that a page with the widget allows (CSP)."""
        return SERVICES[self.provider].sources

    def script(self, language: str) -> str:
        """Return the address of the provider's script; `widget.js` starts the rendering."""
        render = self.site_key if self.provider == "recaptcha_v3" else "explicit"
        return f"{SERVICES[self.provider].script}?{urlencode({'render': render, 'hl': language})}"
