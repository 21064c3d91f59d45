"""Tencent's captcha: a ticket and a random text, both from the widget."""

from __future__ import annotations

from app.identity.credentials.captcha.providers.protocol import CaptchaUnavailable, ProviderRequest, call

_SOLVED, _WRONG_KEY = "1", "100"


class Tencent:
    url = "https://ssl.captcha.qq.com/ticket/verify"

    def is_solved(self, asked: ProviderRequest) -> bool:
        """Return whether the service believes the ticket; the secret travels in the address, which is never logged."""
        facts = {
            "aid": asked.site_key,
            "AppSecretKey": asked.secret,
            "Ticket": asked.answer,
            "Randstr": asked.randstr,
            "UserIP": asked.address,
        }
        response = str(call("GET", asked.url or self.url, facts).get("response"))
        if response == _WRONG_KEY:
            raise CaptchaUnavailable("Tencent's captcha does not accept captcha_secret")
        return response == _SOLVED
