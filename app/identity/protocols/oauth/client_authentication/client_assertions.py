"""Client assertions: JWTs by which a client shows that it has a key or a secret (RFC 7523 section 2.2, OpenID Connect Core section 9)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from datetime import timedelta
from typing import Any, Final

from app.contract.oauth.oauth_errors import InvalidClient
from app.identity.authentication.federation.providers import id_tokens
from app.identity.authentication.federation.providers.id_tokens import Keys
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.kit.text.input_filter import has_control_character

TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
SKEW_SECONDS: Final = id_tokens.SKEW_SECONDS
MAX_LIFETIME_SECONDS: Final = 3_600
"""The longest time to `exp`: for so long the `jti` is remembered."""
_KINDS: Final = (None, "jwt", "client-authentication+jwt")
_MAX_LENGTH: Final = 10_000
_MAX_JTI_LENGTH: Final = 500


class ClientAssertionRefused(InvalidClient):
    """The assertion is wrong (RFC 7521 section 4.2.1)."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"The client_assertion {problem}.")


def subject(text: str) -> str:
    """Return the client that an unverified assertion names (RFC 7521 section 4.2). Raises AssertionRefused."""
    try:
        named = _part(text, 1).get("sub")
    except PARSE_ERRORS:
        raise ClientAssertionRefused("cannot be read") from None
    if not isinstance(named, str) or not named or has_control_character(named):
        raise ClientAssertionRefused("names no sub")
    return named


def verify(context: Context, client: Application, text: str, keys: Keys, algorithms: tuple[str, ...]) -> None:
    """Check an assertion and use it up (RFC 7523 section 3).

    Raises:
        AssertionRefused: its signature, its claims or its time are wrong, or it was used before.
    """
    chosen = client.settings.token_endpoint_auth_signing_alg
    try:
        header = _part(text, 0)
        _, claims = id_tokens.signed_claims(text, keys, algorithms if chosen is None else (chosen,))
    except (ProviderUnavailable, *PARSE_ERRORS):
        raise ClientAssertionRefused("is not signed by this client") from None
    kind = header.get("typ")
    if "crit" in header or (kind.lower() if isinstance(kind, str) else kind) not in _KINDS:
        raise ClientAssertionRefused("is another kind of token")
    checks = {
        "iss": claims.get("iss") == client.client_id,
        "sub": claims.get("sub") == client.client_id,
        "aud": _is_for_us(context, client, claims.get("aud")),
        **_times(context, claims),
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        raise ClientAssertionRefused(f"has a wrong {wrong[0]}")
    _use_up(context, client, claims)


def _is_for_us(context: Context, client: Application, audience: Any) -> bool:
    """Return whether the assertion is for this server and no other (RFC 7523 section 3).

    An application of the FAPI profile names the issuer alone, as one text (FAPI 2.0 Security Profile section 5.3.2.1).
    """
    if client.settings.is_fapi:
        return isinstance(audience, str) and issuers.is_issuer_of(context, audience, client)
    audiences = audience if isinstance(audience, list) else [audience]
    endpoints = _endpoints(context, client)
    return bool(audiences) and all(
        isinstance(item, str) and (item in endpoints or issuers.is_issuer_of(context, item, client))
        for item in audiences
    )


def _endpoints(context: Context, client: Application) -> set[str]:
    """Return the addresses that an assertion may name: the token endpoint, and the requested endpoint (RFC 9126 section 2)."""
    token_endpoint = issuers.at(context, client).token_endpoint
    called = f"{context.called_at}{context.raw.path}"
    return {token_endpoint, token_endpoint.partition("?")[0], called}


def _times(context: Context, claims: dict[str, Any]) -> dict[str, bool]:
    """Check that the assertion is valid now, and for an hour at most (RFC 7523 section 3, rules 4 to 7)."""
    now, ends, jti = context.now.timestamp(), claims.get("exp"), claims.get("jti")
    is_bounded = False
    if ends is not None and id_tokens.is_time(ends):
        is_bounded = now < ends + SKEW_SECONDS and ends <= now + MAX_LIFETIME_SECONDS + SKEW_SECONDS
    return {
        "exp": is_bounded,
        **{name: _has_begun(claims.get(name), now) for name in ("nbf", "iat")},
        "jti": isinstance(jti, str) and 0 < len(jti) <= _MAX_JTI_LENGTH,
    }


def _has_begun(start: Any, now: float) -> bool:
    return start is None or (id_tokens.is_time(start) and start - SKEW_SECONDS <= now)


def _use_up(context: Context, client: Application, claims: dict[str, Any]) -> None:
    """Record the `jti` for as long as the assertion is valid (RFC 7523 section 3, rule 7); only one of several concurrent uses succeeds.

    It is used up even if the request is refused later.
    """
    lifetime = timedelta(seconds=claims["exp"] + SKEW_SECONDS + 1 - context.now.timestamp())
    text = json.dumps([client.client_id, claims["jti"]])
    if not continuation_tokens.use_once(context, ContinuationPurpose.CLIENT_ASSERTION, text, lifetime):
        raise ClientAssertionRefused("was used before")


def _part(text: str, number: int) -> dict[str, Any]:
    """Return the header (0) or the payload (1), unverified. Raises PARSE_ERRORS."""
    parts = text.split(".")
    if len(text) > _MAX_LENGTH or len(parts) != 3:
        raise ValueError("no JWT")
    part = parts[number].encode("ascii")
    members = json.loads(urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
    if not isinstance(members, dict):
        raise TypeError("no JSON object")
    return members
