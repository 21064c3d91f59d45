"""hCaptcha. Its optional score is a risk: 0 is a person, 1 a bot."""

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

    def is_solved(self, request: ProviderRequest) -> bool:
        """Return whether hCaptcha accepts the response and its risk score, if any, is at most the threshold."""
        facts = {
            "secret": request.secret,
            "response": request.answer,
            "remoteip": request.address,
            "sitekey": request.site_key,
        }
        members = call("POST", request.url or self.url, facts)
        problems, risk = members.get("error-codes"), members.get("score")
        if isinstance(problems, list) and any(
            isinstance(problem, str) and problem in _KEY_ERRORS for problem in problems
        ):
            raise CaptchaUnavailable("hCaptcha does not accept captcha_secret")
        has_risk = isinstance(risk, int | float) and not isinstance(risk, bool)
        return members.get("success") is True and (not has_risk or float(risk or 0) <= request.threshold)
