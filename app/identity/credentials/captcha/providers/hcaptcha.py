"""hCaptcha. Its score, where the plan gives one, is a risk: 0 is a person, 1 a machine."""

from __future__ import annotations

from app.identity.credentials.captcha.providers.protocol import CaptchaUnavailable, ProviderRequest, call

_KEY_ERRORS = frozenset(
    {
        "missing-input-secret",
        "invalid-input-secret",
        "bad-request",
        "sitekey-secret-mismatch",
        "not-using-dummy-passcode",
    }
)


class HCaptcha:
    url = "https://api.hcaptcha.com/siteverify"

    def is_solved(self, asked: ProviderRequest) -> bool:
        """Return whether the service believes the answer, and the risk is low enough where it tells one."""
        facts = {
            "secret": asked.secret,
            "response": asked.answer,
            "remoteip": asked.address,
            "sitekey": asked.site_key,
        }
        members = call("POST", asked.url or self.url, facts)
        problems, risk = members.get("error-codes"), members.get("score")
        if isinstance(problems, list) and any(isinstance(one, str) and one in _KEY_ERRORS for one in problems):
            raise CaptchaUnavailable("hCaptcha does not accept captcha_secret")
        is_told = isinstance(risk, int | float) and not isinstance(risk, bool)
        return members.get("success") is True and (not is_told or float(risk or 0) <= asked.threshold)
