"""Client assertions: JWTs by which a client shows that it has a key or a secret (RFC 7523 section 2.2, OpenID Connect Core section 9)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from app.contract.oauth.oauth_errors import InvalidClient
from app.identity.platform import continuation_tokens, jwts
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.platform.jwts import (
    PLAIN_TYPES,
    SKEW_SECONDS,
    JwtNotAccepted,
    JwtProfile,
    Keys,
    SignatureRefused,
    TypeRefused,
)
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.sender_constraints import client_keys
from app.kit.text.input_filter import has_control_character

TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
MAX_LIFETIME: Final = timedelta(hours=1)
"""The longest time to `exp`: for so long the `jti` is remembered (RFC 7523 section 3, rules 4 to 7)."""
PROFILE: Final = JwtProfile(
    client_keys.ALGORITHMS, 10_000, (*PLAIN_TYPES, "client-authentication+jwt"), max_lifetime=MAX_LIFETIME
)
_MAX_JTI_LENGTH: Final = 500


class ClientAssertionRefused(InvalidClient):
    """The assertion is wrong (RFC 7521 section 4.2.1)."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"The client_assertion {problem}.")


def subject(text: str) -> str:
    """Return the client that an unverified assertion names (RFC 7521 section 4.2). Raises ClientAssertionRefused."""
    try:
        named = jwts.unverified_claims(text, PROFILE).get("sub")
    except JwtNotAccepted:
        raise ClientAssertionRefused("cannot be read") from None
    if not isinstance(named, str) or not named or has_control_character(named):
        raise ClientAssertionRefused("names no sub")
    return named


def verify(context: Context, client: Application, text: str, keys: Keys, algorithms: tuple[str, ...]) -> None:
    """Check an assertion and use it up (RFC 7523 section 3).

    Raises:
        ClientAssertionRefused: its signature, its claims or its time are wrong, or it was used before.
    """
    chosen = client.settings.token_endpoint_auth_signing_alg
    profile = replace(PROFILE, algorithms=algorithms if chosen is None else (chosen,))
    try:
        claims = dict(jwts.read_jwt(text, keys, profile).claims)
    except (SignatureRefused, ProviderUnavailable):
        raise ClientAssertionRefused("is not signed by this client") from None
    except TypeRefused:
        raise ClientAssertionRefused("is another kind of token") from None
    jti = claims.get("jti")
    checks = {
        "iss": claims.get("iss") == client.client_id,
        "sub": claims.get("sub") == client.client_id,
        "aud": _is_for_us(context, client, claims.get("aud")),
        **PROFILE.times(claims, context.now),
        "jti": isinstance(jti, str) and 0 < len(jti) <= _MAX_JTI_LENGTH,
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
    token_endpoint = issuers.requested_issuer(context, client).token_endpoint
    called = f"{context.called_at}{context.raw.path}"
    return {token_endpoint, token_endpoint.partition("?")[0], called}


def _use_up(context: Context, client: Application, claims: dict[str, Any]) -> None:
    """Record the `jti` for as long as the assertion is valid (RFC 7523 section 3, rule 7); only one of several concurrent uses succeeds.

    It is used up even if the request is refused later.
    """
    lifetime = timedelta(seconds=claims["exp"] + SKEW_SECONDS + 1 - context.now.timestamp())
    text = json.dumps([client.client_id, claims["jti"]])
    if not continuation_tokens.use_once(context, ContinuationPurpose.CLIENT_ASSERTION, text, lifetime):
        raise ClientAssertionRefused("was used before")
