"""Duo's Universal Prompt (duo.com/docs/oauthapi): a browser is led there and comes back with a code, as in OpenID Connect. Both sides
sign with the client's secret (HS512).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from pydantic_core import from_json

from app.kit import randomness

TIMEOUT_SECONDS: Final = 6.0
_ALGORITHM: Final = "HS512"
_LIFETIME: Final = timedelta(minutes=5)
_SKEW_SECONDS: Final = 60
_MAX_BYTES: Final = 64_000
_ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class DuoUnavailable(Exception):
    """Duo does not answer, answers nonsense, or does not know our client."""


class DuoDenied(Exception):
    """Duo did not let this person in, or the code is none of ours."""


@dataclass(frozen=True)
class DuoPrompt:
    """One prompt: whose, and where its browser comes back to."""

    name: str
    redirect_uri: str
    state: str
    nonce: str


@dataclass(frozen=True)
class DuoClient:
    """One tenant's application at Duo.

    Args:
        url: where Duo is: `https://api-….duosecurity.com`, or where the operator says.
    """

    client_id: str
    client_secret: str = field(repr=False)
    url: str

    def address(self, asked: DuoPrompt, now: datetime) -> str:
        """Return where the browser is led."""
        claims = {
            "scope": "openid", "redirect_uri": asked.redirect_uri, "client_id": self.client_id, "iss": self.client_id,
            "aud": self.url, "exp": _expiry(now), "state": asked.state, "nonce": asked.nonce, "response_type": "code",
            "duo_uname": asked.name, "use_duo_code_attribute": False,
        }  # fmt: skip
        query = {
            "response_type": "code", "client_id": self.client_id, "scope": "openid",
            "redirect_uri": asked.redirect_uri, "state": asked.state, "request": self._signed(claims),
        }  # fmt: skip
        return f"{self.url}/oauth/v1/authorize?{urlencode(query)}"

    def confirm(self, asked: DuoPrompt, code: str, now: datetime) -> None:
        """Exchange the code, and check that Duo let this very person in at this very prompt. Raises DuoDenied, DuoUnavailable."""
        at = f"{self.url}/oauth/v1/token"
        proof = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": at,
            "exp": _expiry(now),
            "jti": randomness.token(27),
        }
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": asked.redirect_uri,
            "client_id": self.client_id, "client_assertion_type": _ASSERTION, "client_assertion": self._signed(proof),
        }  # fmt: skip
        claims = self._read(str(_post(at, form).get("id_token") or ""))
        result = claims.get("auth_result")
        is_allowed = isinstance(result, dict) and str(result.get("result")).lower() == "allow"
        expected = {"iss": at, "nonce": asked.nonce, "preferred_username": asked.name}
        is_it = all(claims.get(name) == value for name, value in expected.items())
        if not (is_allowed and is_it and self._is_for_us(claims) and _is_fresh(claims, now)):
            raise DuoDenied("the token says otherwise")

    def _is_for_us(self, claims: dict[str, Any]) -> bool:
        return claims.get("aud") in (self.client_id, [self.client_id])

    def _signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": _ALGORITHM}, claims, self._key(), algorithms=[_ALGORITHM])

    def _read(self, text: str) -> dict[str, Any]:
        try:
            return dict(jwt.decode(text, self._key(), algorithms=[_ALGORITHM]).claims)
        except (JoseError, ValueError):
            raise DuoDenied("the token is not signed by Duo") from None

    def _key(self) -> OctKey:
        return OctKey.import_key(self.client_secret)


def _expiry(now: datetime) -> int:
    return int((now + _LIFETIME).timestamp())


def _is_fresh(claims: dict[str, Any], now: datetime) -> bool:
    begins, ends, at = claims.get("iat"), claims.get("exp"), now.timestamp()
    are_times = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (begins, ends))
    return are_times and begins - _SKEW_SECONDS <= at < ends + _SKEW_SECONDS  # type: ignore[operator]  # both are numbers


def _post(at: str, form: dict[str, str]) -> dict[str, Any]:
    """Ask Duo; a redirect is not followed, so that nobody is asked but whom the settings name."""
    content = b""
    try:
        with httpx.stream("POST", at, data=form, timeout=TIMEOUT_SECONDS, follow_redirects=False) as answer:
            for part in answer.iter_bytes():
                content += part
                if len(content) > _MAX_BYTES:
                    raise DuoUnavailable("Duo talks too long")
    except httpx.HTTPError as problem:  # its text may bear the assertion
        raise DuoUnavailable(f"Duo did not answer: {type(problem).__name__}") from None
    try:
        members = from_json(content)
    except ValueError:
        members = None
    error = members.get("error") if isinstance(members, dict) else None
    if error == "invalid_grant":
        raise DuoDenied("the code is not good")
    if answer.status_code != httpx.codes.OK or not isinstance(members, dict) or error:
        raise DuoUnavailable(f"Duo answered {answer.status_code} {str(error or '')[:40]}")
    return members
