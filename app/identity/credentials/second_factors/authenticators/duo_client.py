"""Client of Duo's Universal Prompt (duo.com/docs/oauthapi), an OpenID Connect code flow. Both sides sign with the client secret
(HS512).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from pydantic_core import from_json

from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS
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
    """Duo denied the user, or the code is invalid."""


@dataclass(frozen=True)
class DuoPrompt:
    """One prompt: the Duo username and the parameters of its authorization request."""

    name: str
    redirect_uri: str
    state: str
    nonce: str


@dataclass(frozen=True)
class DuoClient:
    """One tenant's application at Duo.

    Args:
        url: base URL of the Duo API, such as `https://api-….duosecurity.com`.
    """

    client_id: str
    client_secret: str = field(repr=False)
    url: str

    def authorize_url(self, prompt: DuoPrompt, now: datetime) -> str:
        """Return the URL of the prompt."""
        claims = {
            "scope": "openid", "redirect_uri": prompt.redirect_uri, "client_id": self.client_id, "iss": self.client_id,
            "aud": self.url, "exp": _expiry(now), "state": prompt.state, "nonce": prompt.nonce, "response_type": "code",
            "duo_uname": prompt.name, "use_duo_code_attribute": False,
        }  # fmt: skip
        query = {
            "response_type": "code", "client_id": self.client_id, "scope": "openid",
            "redirect_uri": prompt.redirect_uri, "state": prompt.state, "request": self._sign(claims),
        }  # fmt: skip
        return f"{self.url}/oauth/v1/authorize?{urlencode(query)}"

    def exchange_code(self, prompt: DuoPrompt, code: str, now: datetime) -> None:
        """Exchange the code, and check that Duo allowed this user at this prompt. Raises DuoDenied, DuoUnavailable."""
        url = f"{self.url}/oauth/v1/token"
        assertion = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": url,
            "exp": _expiry(now),
            "jti": randomness.token(27),
        }
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": prompt.redirect_uri,
            "client_id": self.client_id, "client_assertion_type": _ASSERTION, "client_assertion": self._sign(assertion),
        }  # fmt: skip
        claims = self._verify(str(_post(url, form).get("id_token") or ""))
        result = claims.get("auth_result")
        is_allowed = isinstance(result, dict) and str(result.get("result")).lower() == "allow"
        expected = {"iss": url, "nonce": prompt.nonce, "preferred_username": prompt.name}
        is_expected = all(claims.get(name) == value for name, value in expected.items())
        if not (is_allowed and is_expected and self._is_for_us(claims) and _is_fresh(claims, now)):
            raise DuoDenied("the claims do not match the prompt")

    def _is_for_us(self, claims: dict[str, Any]) -> bool:
        return claims.get("aud") in (self.client_id, [self.client_id])

    def _sign(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": _ALGORITHM}, claims, self._key(), algorithms=[_ALGORITHM])

    def _verify(self, text: str) -> dict[str, Any]:
        try:
            return dict(jwt.decode(text, self._key(), algorithms=[_ALGORITHM]).claims)
        except (JoseError, *PARSE_ERRORS):
            raise DuoDenied("the token is not signed by Duo") from None

    def _key(self) -> OctKey:
        return OctKey.import_key(self.client_secret)


def _expiry(now: datetime) -> int:
    return int((now + _LIFETIME).timestamp())


def _is_fresh(claims: dict[str, Any], now: datetime) -> bool:
    issued, expires, current = claims.get("iat"), claims.get("exp"), now.timestamp()
    are_numbers = all(
        isinstance(instant, int | float) and not isinstance(instant, bool) for instant in (issued, expires)
    )
    return are_numbers and issued - _SKEW_SECONDS <= current < expires + _SKEW_SECONDS  # type: ignore[operator]  # both are numbers


def _post(url: str, form: dict[str, str]) -> dict[str, Any]:
    """Post a form to Duo and return its JSON object. It follows no redirect: only the configured host gets the assertion."""
    import httpx

    from app.identity.platform.outbound.bounded_transport import tls_context

    content, verify = b"", tls_context()
    try:
        with httpx.stream(
            "POST", url, data=form, timeout=TIMEOUT_SECONDS, follow_redirects=False, verify=verify
        ) as response:
            for part in response.iter_bytes():
                content += part
                if len(content) > _MAX_BYTES:
                    raise DuoUnavailable("the response is too long")
    except httpx.HTTPError as problem:  # its text may contain the assertion
        raise DuoUnavailable(f"Duo did not answer: {type(problem).__name__}") from None
    try:
        members = from_json(content)
    except ValueError:
        members = None
    error = members.get("error") if isinstance(members, dict) else None
    if error == "invalid_grant":
        raise DuoDenied("the code is invalid")
    if response.status_code != httpx.codes.OK or not isinstance(members, dict) or error:
        raise DuoUnavailable(f"Duo answered {response.status_code} {str(error or '')[:40]}")
    return members
