"""Tencent's captcha: a ticket and a random text, both from the widget."""

from __future__ import annotations

from app.identity.credentials.captcha.providers.protocol import CaptchaUnavailable, ProviderRequest, call

_SOLVED, _WRONG_KEY = "1", "100"


class TencentCaptcha:
    url = "https://ssl.captcha.qq.com/ticket/verify"

    def is_solved(self, request: ProviderRequest) -> bool:
        """Return whether Tencent accepts the ticket. Its URL contains the secret and is never logged."""
        facts = {
            "aid": request.site_key,
            "AppSecretKey": request.secret,
            "Ticket": request.answer,
            "Randstr": request.randstr,
            "UserIP": request.address,
        }
        response = str(call("GET", request.url or self.url, facts).get("response"))
        if response == _WRONG_KEY:
            raise CaptchaUnavailable("Tencent's captcha does not accept captcha_secret")
        return response == _SOLVED
