"""Google reCAPTCHA: version 2 asks the visitor, version 3 gives a score from 0 (machine) to 1 (person)."""

from __future__ import annotations

from typing import Any

from app.identity.credentials.captcha.providers.protocol import CaptchaUnavailable, ProviderRequest, call

_KEY_ERRORS = frozenset({"missing-input-secret", "invalid-input-secret", "bad-request", "invalid-keys"})
"""What the service says where the tenant's key is wrong: no visitor can mend that."""


class RecaptchaV2:
    url = "https://www.google.com/recaptcha/api/siteverify"

    def is_solved(self, asked: ProviderRequest) -> bool:
        """Return whether the service believes the answer."""
        return self._verified(asked).get("success") is True

    def _verified(self, asked: ProviderRequest) -> dict[str, Any]:
        facts = {"secret": asked.secret, "response": asked.answer, "remoteip": asked.address}
        members = call("POST", asked.url or self.url, facts)
        problems = members.get("error-codes")
        if isinstance(problems, list) and any(isinstance(one, str) and one in _KEY_ERRORS for one in problems):
            raise CaptchaUnavailable("reCAPTCHA does not accept captcha_secret")
        return members


class RecaptchaV3(RecaptchaV2):
    def is_solved(self, asked: ProviderRequest) -> bool:
        """Return whether the service believes the answer, and the score is high enough."""
        members = self._verified(asked)
        score = members.get("score")
        is_known = isinstance(score, int | float) and not isinstance(score, bool)
        return members.get("success") is True and is_known and float(score or 0) >= asked.threshold
