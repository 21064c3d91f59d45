"""Google reCAPTCHA: version 2 shows a challenge, version 3 gives a score from 0 (bot) to 1 (person)."""

from __future__ import annotations

from typing import Any

from app.identity.credentials.captcha.providers.protocol import CaptchaUnavailable, ProviderRequest, call

_KEY_ERRORS = frozenset({"missing-input-secret", "invalid-input-secret", "bad-request", "invalid-keys"})
"""Errors of the tenant's key, which no visitor can correct."""


class RecaptchaV2:
    url = "https://www.google.com/recaptcha/api/siteverify"

    def is_solved(self, request: ProviderRequest) -> bool:
        """Return whether reCAPTCHA accepts the response."""
        return self._verified(request).get("success") is True

    def _verified(self, request: ProviderRequest) -> dict[str, Any]:
        facts = {"secret": request.secret, "response": request.answer, "remoteip": request.address}
        members = call("POST", request.url or self.url, facts)
        problems = members.get("error-codes")
        if isinstance(problems, list) and any(
            isinstance(problem, str) and problem in _KEY_ERRORS for problem in problems
        ):
            raise CaptchaUnavailable("reCAPTCHA does not accept captcha_secret")
        return members


class RecaptchaV3(RecaptchaV2):
    def is_solved(self, request: ProviderRequest) -> bool:
        """Return whether reCAPTCHA accepts the response and its score is at least the threshold."""
        members = self._verified(request)
        score = members.get("score")
        is_known = isinstance(score, int | float) and not isinstance(score, bool)
        return members.get("success") is True and is_known and float(score or 0) >= request.threshold
